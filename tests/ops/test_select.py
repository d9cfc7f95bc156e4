"""SELECT and SELECT_V2: conditions of every shape, elements of every size."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from codegen import ops
from codegen.errors import CodegenError
from codegen.importer import parse_model
from codegen.ops.base import Lowered, OpContext
from tests.ops.binary import codes
from tests.ops.equality import assert_equal
from tests.tflite_builder import ModelBuilder

Shape = tuple[int, ...]
Case = tuple[Shape, Shape, Shape]

SIZES = ("int8", "uint8", "int16", "float32", "int32", "int64", "bool")
VERSION_1: tuple[Case, ...] = (
    ((), (), ()),
    ((), (3, 4), (3, 4)),
    ((3,), (3, 4), (3, 4)),
    ((3,), (3, 2, 4, 5), (3, 2, 4, 5)),
    ((2,), (2, 3, 2, 1, 4), (2, 3, 2, 1, 4)),
    ((3, 2, 4, 5), (3, 2, 4, 5), (3, 2, 4, 5)),
)
VERSION_2: tuple[Case, ...] = (
    ((1, 1), (), (1,)),
    ((4,), (3, 4), (3, 4)),
    ((3, 4, 5, 6), (), ()),
    ((1, 4, 1, 6), (3, 1, 5, 1), (6,)),
    ((3, 1, 1, 1), (1, 4, 5, 6), (3, 4, 5, 6)),
    ((2, 3, 1, 3, 2), (2, 3, 2, 3, 2), (1,)),
    ((1, 3, 1, 3, 1), (2, 1, 2, 1, 2), (2, 3, 2, 3, 2)),
    ((), (2, 7), (1, 7)),
)


def select_model(
    op: str, cases: tuple[Case, ...], dtype: str = "int8", out: Shape | None = None
) -> bytes:
    builder = ModelBuilder()
    inputs, outputs = [], []
    quants = ((0.1, 3), (0.2, -5), (0.3, 1))
    for condition, a, b in cases:
        c = builder.tensor(condition, "bool")
        values = [
            builder.tensor(shape, dtype, *codes(dtype, q))
            for shape, q in zip((a, b), quants, strict=False)
        ]
        shape = np.broadcast_shapes(*((a, b) if op == "SELECT" else (a, b, condition)))
        y = builder.tensor(shape if out is None else out, dtype, *codes(dtype, quants[2]))
        builder.op(op, [c, *values], [y])
        inputs += [c, *values]
        outputs.append(y)
    return builder.build(inputs, outputs)


def lowered(op: str, case: Case, out: Shape | None = None) -> Lowered:
    graph = parse_model(select_model(op, (case,), out=out)).main
    return ops.lower(OpContext(graph, graph.nodes[0]))


@pytest.mark.parametrize("sanitize", [False, True])
def test_compiled(sanitize: bool, tmp_path: Path, rng: np.random.Generator) -> None:
    models = {f"V2 {t}": select_model("SELECT_V2", VERSION_1[-1:] + VERSION_2, t) for t in SIZES}
    models |= {f"V1 {t}": select_model("SELECT", VERSION_1, t) for t in SIZES[1::2]}
    assert_equal(models, tmp_path, rng, sanitize=sanitize)


@pytest.mark.parametrize(
    ("op", "case", "message"),
    [
        ("SELECT", ((4,), (3, 4), (3, 4)), r"bool\[4\] is no condition for int8\[3,4\]"),
        ("SELECT", ((3,), (3, 1), (3, 4)), r"has shape \[3, 4\] where the operator makes \[3, 1\]"),
    ],
)
def test_shapes_that_do_not_go_together(op: str, case: Case, message: str) -> None:
    with pytest.raises(CodegenError, match=rf"operator 0 {op}.*{message}"):
        lowered(op, case)


def test_an_output_of_another_shape_is_refused() -> None:
    with pytest.raises(CodegenError, match=r"operator 0 SELECT_V2.*where the operator makes"):
        lowered("SELECT_V2", ((4,), (3, 4), (3, 4)), out=(4, 3))
