"""BATCH_MATMUL against the reference: ranks, broadcasting, transposed storage, pairs of types."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen.errors import CodegenError
from codegen.importer import parse_model
from codegen.ops import lower
from codegen.ops.base import OpContext
from tests.ops.equality import assert_equal
from tests.tflite_builder import ModelBuilder

Shape = tuple[int, ...]
# Outer dimensions of a and b.
OUTER: tuple[tuple[Shape, Shape], ...] = (
    ((), ()),
    ((3,), (3,)),
    ((3,), ()),
    ((), (3,)),
    ((2, 3), (2, 3)),
    ((2, 1), (3,)),
    ((2, 3), (1, 1)),
    ((2, 1, 3), (2, 3, 1)),
    ((2, 2, 2), (2, 2, 2)),
    ((2, 2, 2), ()),
)
ADJOINTS = ((False, False), (True, False), (False, True), (True, True))
TYPES = {
    "float32": ("float32", "float32"),
    "int8": ("int8", "int8"),
    "int16": ("int16", "int16"),
    "int16 with int8": ("int16", "int8"),
    "hybrid": ("float32", "int8"),
}


def add_product(
    builder: ModelBuilder,
    rng: np.random.Generator,
    kind: str,
    outer: tuple[Shape, Shape] = ((), ()),
    *,
    sizes: tuple[int, int, int] = (4, 7, 5),
    adjoint: tuple[bool, bool] = (False, False),
    constant: bool = False,
    asymmetric: bool = False,
    scales: tuple[float, float, float] = (0.05, 0.04, 0.5),
    zero_points: tuple[int, int, int] = (3, -7, 5),
) -> tuple[list[int], int]:
    """One product of rows x depth and depth x columns; returns its inputs and its output."""
    rows, depth, columns = sizes
    types = (*TYPES[kind], TYPES[kind][0])
    a = (*outer[0], *((depth, rows) if adjoint[0] else (rows, depth)))
    b = (*outer[1], *((columns, depth) if adjoint[1] else (depth, columns)))
    y = (*np.broadcast_shapes(*outer), rows, columns)
    zeros = zero_points if kind == "int8" else (0, 0, 0)
    data = rng.integers(-100, 100, b) if constant else None
    tensors = [
        builder.tensor(
            shape,
            dtype,
            *(() if dtype == "float32" else (scale, zero)),
            data=data if i == 1 else None,
        )
        for i, (shape, dtype, scale, zero) in enumerate(
            zip((a, b, y), types, scales, zeros, strict=True)
        )
    ]
    builder.op(
        "BATCH_MATMUL",
        tensors[:2],
        tensors[2:],
        4,
        adj_x=adjoint[0],
        adj_y=adjoint[1],
        asymmetric_quantize_inputs=asymmetric,
    )
    return tensors[: 1 if constant else 2], tensors[2]


def model(kind: str, rng: np.random.Generator, configs: list[dict[str, Any]]) -> bytes:
    builder = ModelBuilder()
    made = [add_product(builder, rng, kind, **config) for config in configs]
    return builder.build([x for inputs, _ in made for x in inputs], [y for _, y in made])


def configs(kind: str) -> list[dict[str, Any]]:
    """Every outer shape, under one of the adjoints in turn; then what is special to the type."""
    hybrid = kind == "hybrid"
    outers = OUTER[:4] * 3 if hybrid else (*OUTER, *OUTER[1:4])
    listed: list[dict[str, Any]] = [
        {
            "outer": outer,
            "adjoint": ADJOINTS[i % 4],
            "constant": hybrid or i % 3 == 0,
            "asymmetric": hybrid and i % 3 != 1,
        }
        for i, outer in enumerate(outers)
    ]
    listed += [
        {"sizes": sizes, "constant": hybrid} for sizes in ((1, 1, 1), (1, 300, 3), (9, 2, 1))
    ]
    if kind != "float32" and not hybrid:
        listed += [{"scales": (0.05, 0.04, scale)} for scale in (1e-3, 1.0, 1e3)]
    if kind == "int8":
        listed += [{"zero_points": zeros} for zeros in ((-128, 127, 0), (127, -128, -128))]
    return listed


@pytest.mark.parametrize("sanitize", [False, True])
def test_sweep(sanitize: bool, tmp_path: Path, rng: np.random.Generator) -> None:
    step = 3 if sanitize else 1
    models = {kind: model(kind, rng, configs(kind)[::step]) for kind in TYPES}
    assert_equal(models, tmp_path, rng, sanitize=sanitize)


@pytest.mark.parametrize(
    ("kind", "config", "message"),
    [
        ("int8", {"scales": (1e6, 1e6, 1e-3)}, "by a factor of .*; quantise the model again"),
        ("int16", {"scales": (1e3, 1e3, 1e-3)}, "by a factor of .*; quantise the model again"),
        ("hybrid", {}, "is computed at run time; only a constant"),
        ("hybrid", {"outer": OUTER[4], "constant": True}, "reshape the operands to three"),
        ("int8", {"sizes": (1, 34000, 1)}, "may not fit the accumulator; split the operator"),
    ],
)
def test_refusals(
    kind: str, config: dict[str, Any], message: str, rng: np.random.Generator
) -> None:
    graph = parse_model(model(kind, rng, [config])).main
    with pytest.raises(CodegenError, match=rf"operator 0 BATCH_MATMUL.*{message}"):
        lower(OpContext(graph, graph.nodes[0]))


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        (((2, 3), (4, 5), (2, 5)), "have no common inner dimension"),
        (((3, 2, 3), (2, 3, 5), (3, 2, 5)), "do not broadcast"),
        (((3,), (3, 5), (5,)), "must have 2 to 5 dimensions"),
        (((2, 3), (3, 5), (2, 6)), r"has shape \[2, 6\] where the operator makes \[2, 5\]"),
    ],
)
def test_shapes_that_contradict(shapes: tuple[Shape, Shape, Shape], message: str) -> None:
    builder = ModelBuilder()
    a, b, y = (builder.tensor(shape, "float32") for shape in shapes)
    builder.op("BATCH_MATMUL", [a, b], [y])
    graph = parse_model(builder.build([a, b], [y])).main
    with pytest.raises(CodegenError, match=rf"operator 0 BATCH_MATMUL.*{message}"):
        lower(OpContext(graph, graph.nodes[0]))
