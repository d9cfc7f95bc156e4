"""DIV, FLOOR_DIV, FLOOR_MOD, POW, SQUARED_DIFFERENCE, PRELU, RIGHT_SHIFT, BITWISE_XOR, ADD_N."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from codegen import ops
from codegen.errors import CodegenError
from codegen.importer import parse_model
from codegen.ops.base import Lowered, OpContext
from tests.ops.binary import (
    NO_QUANTS,
    Binary,
    binary_model,
    lowered,
    quant_cases,
    shape_cases,
)
from tests.ops.equality import assert_equal
from tests.tflite_builder import ModelBuilder

Array = NDArray[Any]

FOUR_ULP = 4 * 2.0**-23
INTEGERS = {
    "DIV": ("int32",),
    "FLOOR_DIV": ("int8", "int16", "int32"),
    "FLOOR_MOD": ("int8", "int16", "int32", "int64"),
}
BITS = ("int8", "uint8", "int16", "uint16", "int32", "uint32")


def same(op: str, dtype: str) -> Binary:
    """Plain numbers, without scales."""
    return Binary(op, types=(dtype, dtype), quants=NO_QUANTS)


def without_zeros(data: bytes, rng: np.random.Generator, sets: int = 4) -> list[list[Array]]:
    """Random inputs, large and small, none of whose codes mean 0."""
    graph = parse_model(data).main
    return [[_nonzero(graph.tensors[t], rng) for t in graph.inputs] for _ in range(sets)]


def _nonzero(tensor: Any, rng: np.random.Generator) -> Array:
    if tensor.dtype.value == "float32":
        return rng.normal(0, 4, tensor.shape).astype(np.float32)
    info = np.iinfo(tensor.dtype.value)
    wide = rng.integers(info.min, info.max, tensor.shape, endpoint=True, dtype=info.dtype)
    near = rng.integers(max(info.min, -9), 9, tensor.shape)
    values = np.where(rng.random(tensor.shape) < 0.5, wide, near)
    zero = tensor.quant.zero_point if tensor.quant else 0
    return np.where(values == zero, zero + 1 if zero < info.max else zero - 1, values).astype(
        info.dtype
    )


def check(
    models: Mapping[str, bytes], path: Path, rng: np.random.Generator, **options: Any
) -> None:
    """Compare on inputs by which all may be divided."""
    inputs = {label: without_zeros(data, rng) for label, data in models.items()}
    assert_equal(models, path, rng, inputs=inputs, **options)


def some(cases: Sequence[Binary], number: int) -> list[Binary]:
    return list(cases[number % 4 :: 4])


def computed(cases: Sequence[Binary], number: int) -> list[Binary]:
    """Fewer still, without constants, which may be 0 where they are of 8 bits."""
    return [replace(case, constant="") for case in some(cases, number)[::2]]


def test_integers(tmp_path: Path, rng: np.random.Generator) -> None:
    models = {
        f"{op} {dtype}": binary_model(computed(shape_cases(same(op, dtype)), i), rng)
        for i, (op, dtype) in enumerate((op, t) for op, types in INTEGERS.items() for t in types)
    }
    fused = [replace(same("DIV", "int32"), activation=a) for a in ("RELU", "RELU6", "RELU_N1_TO_1")]
    models["DIV fused"] = binary_model(fused, rng)
    models["SQUARED_DIFFERENCE"] = binary_model(
        some(shape_cases(same("SQUARED_DIFFERENCE", "int32")), 1), rng
    )
    check(models, tmp_path, rng, sanitize=True)


def test_bits(tmp_path: Path, rng: np.random.Generator) -> None:
    models = {
        f"{op} {dtype}": binary_model(computed(shape_cases(same(op, dtype)), i), rng)
        for op in ("RIGHT_SHIFT", "BITWISE_XOR")
        for i, dtype in enumerate(BITS)
    }
    inputs = {label: without_zeros(data, rng) for label, data in models.items()}
    assert_equal(models, tmp_path, rng, inputs=inputs, sanitize=True)


def test_floats(tmp_path: Path, rng: np.random.Generator) -> None:
    kinds = ("DIV", "FLOOR_DIV", "FLOOR_MOD", "SQUARED_DIFFERENCE")
    models = {
        op: binary_model(some(shape_cases(same(op, "float32")), i), rng)
        for i, op in enumerate(kinds)
    }
    fused = [replace(same("DIV", "float32"), activation=a) for a in ("RELU", "RELU6")]
    models["DIV fused"] = binary_model(fused, rng)
    check(models, tmp_path, rng)
    prelus = {"PRELU": binary_model(prelu_shapes(same("PRELU", "float32")), rng)}
    assert_equal(prelus, tmp_path / "prelu", rng, specials=2)


def test_angles(tmp_path: Path, rng: np.random.Generator) -> None:
    """Operands of one shape, in all quarters, at zeros of both signs and beyond numbers."""
    builder = ModelBuilder()
    tensors = [builder.tensor((2, 3, 40), "float32") for _ in range(3)]
    builder.op("ATAN2", tensors[:2], tensors[2:])
    cases = {"angles": builder.build(tensors[:2], tensors[2:])}
    assert_equal(cases, tmp_path, rng, samples=3, specials=4, tolerance=FOUR_ULP)


def test_powers(tmp_path: Path, rng: np.random.Generator) -> None:
    floats = {"floats": binary_model(some(shape_cases(same("POW", "float32")), 0), rng)}
    graph = parse_model(floats["floats"]).main
    shapes = [graph.tensors[t].shape for t in graph.inputs]
    positive = [[rng.uniform(0.1, 9, s).astype(np.float32) for s in shapes] for _ in range(4)]
    assert_equal(floats, tmp_path / "f", rng, inputs={"floats": positive}, tolerance=FOUR_ULP)
    integers = {"integers": binary_model([same("POW", "int32")], rng)}
    shape = same("POW", "int32").a
    sets = [
        [rng.integers(-7, 8, shape).astype(np.int32), rng.integers(0, 11, shape).astype(np.int32)]
        for _ in range(4)
    ]
    assert_equal(integers, tmp_path / "i", rng, inputs={"integers": sets}, sanitize=True)


def divided(rng: np.random.Generator, dtype: str) -> list[Binary]:
    """Scales for which the reference shifts by 31 bits at most, zero points at both ends."""
    zeros, bits = ((0,), 14) if dtype == "int16" else ((-128, 127, 0, 5), rng.uniform(6, 12))
    cases = []
    for _ in range(12):
        a, b = np.exp(rng.uniform(-4, 0, 2))
        scales = (float(np.float32(s)) for s in (a, b, a / b / 2.0**bits * 0.9))
        x, y, z = ((scale, int(rng.choice(zeros))) for scale in scales)
        cases.append(Binary("DIV", (400,), (400,), (dtype, dtype), (x, y, z)))
    return cases


def test_quotients_of_codes(tmp_path: Path, rng: np.random.Generator) -> None:
    models = {t: binary_model(divided(rng, t), rng) for t in ("int8", "uint8", "int16")}
    case = Binary("DIV", quants=((0.05, 3), (0.08, -7), (0.005, 5)), activation="RELU")
    models["shapes"] = binary_model(computed(shape_cases(case), 2), rng)
    check(models, tmp_path, rng, sanitize=True)


def prelu_shapes(case: Binary) -> list[Binary]:
    """Of alpha that stretches to the shape of x."""
    return [c for c in shape_cases(case) if np.broadcast_shapes(c.a, c.b) == c.a]


def test_codes(tmp_path: Path, rng: np.random.Generator) -> None:
    squares = [c for c in quant_cases(Binary("SQUARED_DIFFERENCE"), rng) if _is_fine(c)]
    models = {"squares": binary_model(squares, rng)}
    models["square shapes"] = binary_model(some(shape_cases(Binary("SQUARED_DIFFERENCE")), 3), rng)
    for dtype in ("int8", "uint8"):
        prelu = Binary("PRELU", types=(dtype, dtype))
        models[f"PRELU {dtype}"] = binary_model(quant_cases(prelu, rng), rng)
    models["PRELU int16"] = wide_prelu_model(rng)
    models["PRELU shapes"] = binary_model(prelu_shapes(Binary("PRELU")), rng)
    assert_equal(models, tmp_path, rng)


def wide_prelu_model(rng: np.random.Generator) -> bytes:
    """int16 data with int8 alphas."""
    builder = ModelBuilder()
    inputs, outputs = [], []
    for zero in (-128, 0, 127):
        x_scale, y_scale = (float(np.float32(s)) for s in np.exp(rng.uniform(-10, -5, 2)))
        x = builder.tensor((3, 5, 7), "int16", x_scale, 0)
        alpha = builder.tensor((7,), "int8", 0.01, zero)
        y = builder.tensor((3, 5, 7), "int16", y_scale, 0)
        builder.op("PRELU", [x, alpha], [y])
        inputs += [x, alpha]
        outputs.append(y)
    return builder.build(inputs, outputs)


def _is_fine(case: Binary) -> bool:
    """Whether the square's scale is below that of the output's extra bits."""
    (a, _), (b, _), (y, _) = (q for q in case.quants if q is not None)
    return (2 * max(a, b)) ** 2 < 2**14 * y


def add_n_model(dtype: str, counts: Sequence[int]) -> bytes:
    builder = ModelBuilder()
    inputs: list[int] = []
    outputs = []
    for count in counts:
        own = [builder.tensor((3, 2, 4, 5), dtype) for _ in range(count)]
        outputs.append(builder.tensor((3, 2, 4, 5), dtype))
        builder.op("ADD_N", own, outputs[-1:])
        inputs += own
    return builder.build(inputs, outputs)


def test_sums_of_many(tmp_path: Path, rng: np.random.Generator) -> None:
    models = {dtype: add_n_model(dtype, (2, 3, 5, 8)) for dtype in ("float32", "int32")}
    assert_equal(models, tmp_path, rng, sanitize=True)


def lowered_sum(count: int) -> Lowered:
    graph = parse_model(add_n_model("float32", (count,))).main
    return ops.lower(OpContext(graph, graph.nodes[0]))


def test_refusals(rng: np.random.Generator) -> None:
    with pytest.raises(CodegenError, match=r"operator 0 ADD_N .*9 inputs are more than 8"):
        lowered_sum(9)
    with pytest.raises(CodegenError, match=r"operator 0 POW .*is int8; only float32 or int32"):
        lowered(Binary("POW"), rng)
    with pytest.raises(CodegenError, match=r"operator 0 DIV .*differ by a factor of"):
        lowered(replace(Binary("DIV"), quants=((1e5, 0), (1e-3, 0), (1e-3, 0))), rng)
    with pytest.raises(CodegenError, match=r"operator 0 SQUARED_DIFFERENCE .*by a factor of"):
        lowered(replace(Binary("SQUARED_DIFFERENCE"), quants=((10, 0), (9, 0), (1e-3, 0))), rng)
    with pytest.raises(CodegenError, match=r"operator 0 PRELU.*where the operator makes \[1, 3\]"):
        lowered(Binary("PRELU", a=(1, 3), b=(2, 3)), rng)
