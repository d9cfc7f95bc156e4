"""ARG_MAX and ARG_MIN along every axis; CUMSUM."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from codegen import ops
from codegen.errors import CodegenError
from codegen.importer import parse_model
from codegen.ops.base import Lowered, OpContext
from tests.ops.equality import assert_equal, random_input
from tests.tflite_builder import ModelBuilder

Shape = tuple[int, ...]

SHAPES: tuple[Shape, ...] = ((9,), (3, 4), (2, 3, 4), (3, 2, 4, 5), (2, 3, 1, 3, 2))


@dataclass(frozen=True)
class Case:
    op: str
    dtype: str
    shape: Shape
    axis: int
    out: str = ""
    exclusive: bool = False
    reverse: bool = False


def axis_model(cases: Sequence[Case]) -> bytes:
    builder = ModelBuilder()
    inputs, outputs = [], []
    for case in cases:
        x = builder.tensor(case.shape, case.dtype)
        axis = builder.tensor((), "int32", data=np.int32(case.axis))
        if case.op == "CUMSUM":
            y = builder.tensor(case.shape, case.dtype)
            builder.op(case.op, [x, axis], [y], exclusive=case.exclusive, reverse=case.reverse)
        else:
            y = builder.tensor(np.delete(case.shape, case.axis), case.out)
            builder.op(case.op, [x, axis], [y], output_type=case.out.upper())
        inputs.append(x)
        outputs.append(y)
    return builder.build(inputs, outputs)


def lowered(case: Case) -> Lowered:
    graph = parse_model(axis_model([case])).main
    return ops.lower(OpContext(graph, graph.nodes[0]))


def every_axis() -> list[tuple[Shape, int]]:
    return [(s, axis) for s in SHAPES for axis in range(-1, len(s))]


def few_values(tensor: Any, rng: np.random.Generator) -> NDArray[Any]:
    """Many equal elements."""
    if tensor.dtype.value == "bool":
        return random_input(tensor, rng)
    return rng.integers(0, 5, tensor.shape).astype(tensor.dtype.value)


@pytest.mark.parametrize("sanitize", [False, True])
def test_positions(sanitize: bool, tmp_path: Path, rng: np.random.Generator) -> None:
    types = ("float32", "int8", "uint8", "int32", "bool")
    cases = [
        Case(op, dtype, *place, out)
        for number, (op, out, dtype) in enumerate(
            itertools.product(("ARG_MAX", "ARG_MIN"), ("int32", "int64"), types)
        )
        for place in every_axis()[number % 4 :: 4]
    ]
    models = {"all": axis_model(cases)}
    assert_equal(models, tmp_path, rng, draw=few_values, sanitize=sanitize)


@pytest.mark.parametrize("sanitize", [False, True])
def test_cumsum(sanitize: bool, tmp_path: Path, rng: np.random.Generator) -> None:
    cases = [
        Case("CUMSUM", dtype, *place, exclusive=exclusive, reverse=reverse)
        for number, (dtype, exclusive, reverse) in enumerate(
            itertools.product(("float32", "int32", "int64"), (False, True), (False, True))
        )
        for place in every_axis()[number % 3 :: 3]
    ]
    assert_equal({"all": axis_model(cases)}, tmp_path, rng, sanitize=sanitize)


@pytest.mark.parametrize(
    ("case", "message"),
    [
        (Case("CUMSUM", "float32", (3, 4), 2), "axis 2 does not exist in 2 dimensions"),
        (Case("CUMSUM", "int8", (3, 4), 1), "is int8; only float32 or int32 or int64"),
        (Case("ARG_MAX", "int16", (3, 4), 1, "int32"), "is int16; only float32"),
        (Case("ARG_MAX", "int8", (3, 4), 1, "int16"), "is int16; only int32 or int64"),
    ],
)
def test_refusals(case: Case, message: str) -> None:
    with pytest.raises(CodegenError, match=rf"operator 0 {case.op}.*{message}"):
        lowered(case)
