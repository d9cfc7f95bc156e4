"""Multiply-accumulates, counted by hand from the shapes."""

from __future__ import annotations

from typing import Any

import pytest

from codegen.graph import DType, Graph, Node, Tensor
from codegen.macs import macs

Shape = tuple[int, ...] | None

CASES: list[tuple[str, list[Shape], Shape, dict[str, Any], int]] = [
    ("CONV_2D", [(1, 8, 8, 3), (16, 3, 3, 3), (16,)], (1, 4, 4, 16), {}, 4 * 4 * 16 * 27),
    ("CONV_2D", [(1, 8, 8, 8), (16, 3, 3, 2), None], (1, 8, 8, 16), {}, 8 * 8 * 16 * 18),
    ("DEPTHWISE_CONV_2D", [(2, 6, 6, 4), (1, 5, 3, 8)], (2, 6, 6, 8), {}, 2 * 6 * 6 * 8 * 15),
    ("TRANSPOSE_CONV", [(4,), (6, 3, 3, 5), (1, 4, 4, 5)], (1, 8, 8, 6), {}, 16 * 5 * 9 * 6),
    ("CONV_3D", [(1, 4, 4, 4, 2), (2, 3, 3, 2, 7)], (1, 3, 2, 2, 7), {}, 12 * 7 * 36),
    ("FULLY_CONNECTED", [(3, 10), (4, 10)], (3, 4), {}, 120),
    ("BATCH_MATMUL", [(2, 3, 5), (2, 5, 4)], (2, 3, 4), {"adj_x": False}, 120),
    ("BATCH_MATMUL", [(2, 5, 3), (2, 5, 4)], (2, 3, 4), {"adj_x": True}, 120),
    ("SVDF", [(1, 9), (4, 9), (4, 7)], (1, 2), {}, 4 * 9 + 4 * 7),
    ("ADD", [(1, 8), (1, 8)], (1, 8), {}, 0),
    ("CONV_2D", [(1, 8, 8, 3), (16,)], (1, 4, 4, 16), {}, 0),
    ("CONV_2D", [], (1, 4, 4, 16), {}, 0),
    ("FULLY_CONNECTED", [(3, 10), (10,)], (3, 4), {}, 0),
    ("BATCH_MATMUL", [(5,), (5,)], (), {}, 0),
    ("SVDF", [(1, 9), (4, 9)], (1, 2), {}, 0),
    ("CONV_2D", [(1, 8, 8, 3), (16, 3, 3, 3)], None, {}, 0),
]


@pytest.mark.parametrize(("op", "inputs", "output", "options", "expected"), CASES)
def test_counts(
    op: str, inputs: list[Shape], output: Shape, options: dict[str, Any], expected: int
) -> None:
    shapes = [*(shape for shape in inputs if shape is not None)]
    given = [i for i, shape in enumerate(inputs) if shape is not None]
    operands = tuple(given.index(i) if i in given else -1 for i in range(len(inputs)))
    results = () if output is None else (len(shapes),)
    shapes += [] if output is None else [output]
    tensors = tuple(Tensor(i, f"t{i}", s, DType.INT8) for i, s in enumerate(shapes))
    node = Node(0, op, 1, operands, results, options)
    assert macs(Graph("g", tensors, (node,), (), ()), node) == expected


def test_lstm_multiplies_its_matrices_at_every_step() -> None:
    """Input [batch 1, 5 steps, 3 features], 4 cells, one gate's matrices coupled away."""
    shapes: list[tuple[int, ...]] = [(1, 5, 3)]
    shapes += [(4, 3)] * 3 + [(4, 4)] * 3
    tensors = tuple(Tensor(i, f"t{i}", s, DType.INT8) for i, s in enumerate([*shapes, (1, 5, 4)]))
    operands = (0, -1, 1, 2, 3, -1, 4, 5, 6)
    node = Node(0, "UNIDIRECTIONAL_SEQUENCE_LSTM", 1, operands, (7,))
    assert macs(Graph("g", tensors, (node,), (), ()), node) == 5 * (3 * 12 + 3 * 16)
