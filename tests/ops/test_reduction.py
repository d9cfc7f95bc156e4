"""SUM, REDUCE_PROD, REDUCE_MAX, REDUCE_MIN, REDUCE_ALL, REDUCE_ANY over every set of axes."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from codegen import ops
from codegen.errors import CodegenError
from codegen.fixed_point import quantize_multiplier, requantize_twice
from codegen.importer import parse_model
from codegen.ops.base import Lowered, OpContext
from tests.ops.equality import assert_equal, random_input
from tests.ops.unary import compiled_outputs
from tests.tflite_builder import ModelBuilder

Shape = tuple[int, ...]
Quant = tuple[float, int]

EVERY = ("SUM", "REDUCE_PROD", "REDUCE_MAX", "REDUCE_MIN")
BOOLEAN = ("REDUCE_ALL", "REDUCE_ANY")
PLAIN = ("float32", "int32", "int64", "bool")
CODES = ("int8", "uint8", "int16")
AXES: tuple[tuple[Shape, Shape], ...] = (
    *(
        (shape, axes)
        for shape in ((3, 4), (2, 3, 4), (3, 2, 4, 5))
        for count in range(1, len(shape) + 1)
        for axes in itertools.combinations(range(len(shape)), count)
    ),
    ((), ()),
    ((7,), (-1,)),
    ((3, 4, 5), ()),
    ((3, 4, 5), (-1, 2, 0)),
    ((1, 9, 1, 3), (1,)),
    ((2, 3, 2, 3, 2), (0, 2, 4)),
    ((2, 3, 2, 3, 2), (1, 3)),
    ((2, 2, 2, 2, 2, 2, 2, 2), (0, 2, 4, 6)),
)


@dataclass(frozen=True)
class Case:
    op: str
    dtype: str = "int8"
    shape: Shape = (3, 4, 5)
    axes: Shape = (1,)
    keep: bool = False
    quants: tuple[Quant, Quant] | None = None
    out: Shape | None = None
    constant: bool = True

    @property
    def result(self) -> Shape:
        gone = {a % len(self.shape) for a in self.axes} if self.shape else set()
        sizes = [(1 if a in gone else d, a in gone) for a, d in enumerate(self.shape)]
        kept = tuple(size for size, is_gone in sizes if self.keep or not is_gone)
        return kept if self.out is None else self.out


def reduce_model(cases: Sequence[Case]) -> bytes:
    builder = ModelBuilder()
    inputs, outputs = [], []
    for case in cases:
        x_quant, y_quant = case.quants or ((), ())
        x = builder.tensor(case.shape, case.dtype, *x_quant)
        data = np.array(case.axes, np.int32) if case.constant else None
        axes = builder.tensor((len(case.axes),), "int32", data=data)
        y = builder.tensor(case.result, case.dtype, *y_quant)
        builder.op(case.op, [x, axes], [y], keep_dims=case.keep)
        inputs += [x] if case.constant else [x, axes]
        outputs.append(y)
    return builder.build(inputs, outputs)


def lowered(case: Case) -> Lowered:
    graph = parse_model(reduce_model([case])).main
    return ops.lower(OpContext(graph, graph.nodes[0]))


def sweep(case: Case, start: int = 0, step: int = 1) -> list[Case]:
    chosen = list(enumerate(AXES))[start::step]
    return [replace(case, shape=s, axes=a, keep=bool(i % 2)) for i, (s, a) in chosen]


def near_one(tensor: Any, rng: np.random.Generator) -> NDArray[Any]:
    """Floats whose products stay finite; integers over their whole range."""
    if tensor.dtype.value != "float32":
        return random_input(tensor, rng)
    return rng.normal(0, 1.5, tensor.shape).astype(np.float32)


def quantised(case: Case, rng: np.random.Generator) -> Case:
    """Scales near each other and zero points that the type has; the extremes keep both."""
    zeros = {"int8": (-128, 5, 127), "uint8": (0, 131, 255), "int16": (0,)}[case.dtype]
    x = (float(np.float32(np.exp(rng.uniform(-4, -1)))), int(rng.choice(zeros)))
    y = (float(np.float32(np.exp(rng.uniform(-4, 2)))), int(rng.choice(zeros)))
    return replace(case, quants=(x, x if case.op.endswith(("MAX", "MIN")) else y))


def test_plain(tmp_path: Path, rng: np.random.Generator) -> None:
    models = {op: reduce_model(sweep(Case(op, "bool"), i, 2)) for i, op in enumerate(BOOLEAN)}
    for number, (op, dtype) in enumerate(itertools.product(EVERY, PLAIN)):
        models[f"{op} {dtype}"] = reduce_model(sweep(Case(op, dtype), number % 3, 3))
    for dtype in CODES:
        models[f"plain {dtype}"] = reduce_model(sweep(Case("REDUCE_PROD", dtype), 0, 6))
    assert_equal(models, tmp_path, rng, draw=near_one, specials=2)


def test_codes(tmp_path: Path, rng: np.random.Generator) -> None:
    models = {}
    for op, dtype in itertools.product(EVERY[1:], CODES):
        if (op, dtype) != ("REDUCE_PROD", "uint8"):
            cases = [quantised(case, rng) for case in sweep(Case(op, dtype), len(models) % 3, 3)]
            models[f"{op} {dtype}"] = reduce_model(cases)
    assert_equal(models, tmp_path, rng)


def expected_sum(case: Case, codes: NDArray[Any]) -> NDArray[Any]:
    """As docs/numerics.md states."""
    assert case.quants is not None
    (x_scale, x_zero), (y_scale, y_zero) = case.quants
    sums = (codes.astype(np.int64) - x_zero).sum(axis=case.axes)
    factor = quantize_multiplier(float(np.float32(x_scale)) / float(np.float32(y_scale)))
    low, high = np.iinfo(case.dtype).min, np.iinfo(case.dtype).max
    results = [requantize_twice(int(s), *factor) + y_zero for s in sums.reshape(-1)]
    return np.clip(results, low, high).astype(case.dtype)


def test_sums_of_codes(tmp_path: Path, rng: np.random.Generator) -> None:
    """LiteRT's reference kernel takes codes of every type for uint8, so others have a formula."""
    unsigned = [quantised(case, rng) for case in sweep(Case("SUM", "uint8"))]
    assert_equal({"uint8": reduce_model(unsigned)}, tmp_path / "uint8", rng)
    cases = [
        quantised(Case("SUM", dtype, (3, 4, 5, 6), axes), rng)
        for dtype, axes in itertools.product(CODES, ((1,), (0, 3), (1, 2)))
    ]
    codes = [rng.integers(*_range(c.dtype), c.shape).astype(c.dtype) for c in cases]
    outputs = compiled_outputs(reduce_model(cases), codes, tmp_path / "formula")
    for case, values, output in zip(cases, codes, outputs, strict=True):
        got = np.frombuffer(output, case.dtype)
        np.testing.assert_array_equal(got, expected_sum(case, values), err_msg=str(case))


def _range(dtype: str) -> tuple[int, int]:
    return int(np.iinfo(dtype).min), int(np.iinfo(dtype).max) + 1


def test_sanitized(tmp_path: Path, rng: np.random.Generator) -> None:
    plain = [Case(op, dtype, (2, 3, 2, 3, 2), (0, 2, 4)) for op in EVERY for dtype in PLAIN]
    codes = [
        quantised(Case(op, dtype, (3, 40, 5), (1,)), rng)
        for op, dtype in (("SUM", "uint8"), ("REDUCE_PROD", "int8"), ("REDUCE_PROD", "int16"))
    ]
    assert_equal({"all": reduce_model(plain + codes)}, tmp_path, rng, samples=1, sanitize=True)


@pytest.mark.parametrize(
    ("case", "message"),
    [
        (Case("SUM", "float32", constant=False), "is computed at run time; only a constant"),
        (Case("SUM", "float32", axes=(3,), out=(3, 5)), "axis 3 does not exist in 3 dimensions"),
        (
            Case("SUM", "float32", out=(3, 4)),
            "where the operator makes",
        ),
        (Case("REDUCE_ALL", "int8"), "is int8; only bool is supported"),
        (Case("REDUCE_MAX", quants=((0.1, 0), (0.2, 0))), "differ in scale or zero point"),
        (Case("REDUCE_PROD", "uint8", quants=((0.1, 0), (0.2, 0))), "is uint8 with a scale"),
        (Case("REDUCE_PROD", quants=((1e6, 0), (1e-6, 0))), "its scales multiply each product by"),
        (Case("SUM"), "is int8 but has no scale"),
    ],
)
def test_refusals(case: Case, message: str) -> None:
    with pytest.raises(CodegenError, match=rf"operator 0 {case.op}.*{message}"):
        lowered(case)
