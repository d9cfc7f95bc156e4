"""DEQUANTIZE: the very floats of the reference."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen.errors import CodegenError
from tests.ops.equality import assert_equal
from tests.ops.unary import Unary, compiled_outputs, lowered, random_quant, unary_model
from tests.tflite_builder import ModelBuilder


def test_compiled(tmp_path: Path, rng: np.random.Generator) -> None:
    """Every bit of the floats; random scales, all types, zero points at both ends."""
    grid = [
        Unary(
            "DEQUANTIZE",
            (random_quant(rng)[0], z),
            (1, 0),
            types=(dtype, "float32"),
            shape=(3, 5, 17),
        )
        for dtype, zeros in (("int8", (-128, 5, 127)), ("uint8", (0, 128, 255)), ("int16", (0,)))
        for z in zeros
        for _ in range(3)
    ]
    shapes = [
        Unary("DEQUANTIZE", (0.1, 3), (1, 0), types=("int8", "float32"), shape=shape)
        for shape in ((), (7,), (2, 1, 3, 1, 5))
    ]
    cases = {"grid": unary_model(grid), "shapes": unary_model(shapes)}
    assert_equal(cases, tmp_path / "plain", rng)
    sanitized = {"shapes": cases["shapes"]}
    assert_equal(sanitized, tmp_path / "sanitized", rng, samples=1, sanitize=True)


def test_every_half_float(tmp_path: Path) -> None:
    """All 65,536 of them, tiny ones, infinities and NaN included."""
    halves = np.arange(2**16, dtype=np.uint16).view(np.float16)
    data = unary_model([Unary("DEQUANTIZE", types=("float16", "float32"), shape=halves.shape)])
    (raw,) = compiled_outputs(data, [halves], tmp_path)
    np.testing.assert_array_equal(np.frombuffer(raw, np.float32), halves.astype(np.float32))


def per_channel_model(op: str, shape: tuple[int, ...], axis: int, dtype: str, *, rng: Any) -> bytes:
    """Between float32 and codes with a scale and a zero point per slice of the axis."""
    builder = ModelBuilder()
    info, count = np.iinfo(dtype), shape[axis]
    zeros = rng.integers(info.min, info.max + 1, count) if info.bits == 8 else np.zeros(count)
    scales = rng.uniform(0.001, 0.2, count)
    coded = builder.tensor(shape, dtype, scales, zeros, axis=axis)
    real = builder.tensor(shape, "float32")
    x, y = (real, coded) if op == "QUANTIZE" else (coded, real)
    builder.op(op, [x], [y], version=2)
    return builder.build([x], [y])


def test_a_scale_per_channel(tmp_path: Path, rng: np.random.Generator) -> None:
    """Also of QUANTIZE, which knows int16, too."""
    cases = {}
    for op, dtypes in (("QUANTIZE", ("int8", "uint8", "int16")), ("DEQUANTIZE", ("int8", "uint8"))):
        for i, dtype in enumerate(dtypes):
            shapes = ((5,), (3, 2, 3, 4), (3, 4), (2, 1, 3, 2, 3))
            for shape in shapes[i::2]:
                for axis in {len(shape) // 2, len(shape) - 1}:
                    label = f"{op} {dtype} {shape} {axis}"
                    cases[label] = per_channel_model(op, shape, axis, dtype, rng=rng)
    assert_equal(cases, tmp_path, rng, samples=2)


def test_constants_of_four_bits(tmp_path: Path, rng: np.random.Generator) -> None:
    """Folded: x + constant, per tensor and per channel."""
    cases = {}
    for label, scales in (("tensor", [0.3]), ("channels", [0.1, 0.2, 0.3])):
        builder = ModelBuilder()
        x, real, y = (builder.tensor((5, 3), "float32") for _ in range(3))
        zeros = [-2] * len(scales)
        codes = rng.integers(-8, 8, (5, 3))
        w = builder.tensor((5, 3), "int4", scales, zeros, data=codes, axis=1)
        builder.op("DEQUANTIZE", [w], [real], version=6)
        builder.op("ADD", [x, real], [y])
        cases[label] = builder.build([x], [y])
    assert_equal(cases, tmp_path, rng, samples=1)


def test_another_type_is_refused() -> None:
    case = Unary("DEQUANTIZE", (0.1, 0), (1, 0), types=("int32", "float32"))
    with pytest.raises(CodegenError, match=r"operator 0 DEQUANTIZE .*int32"):
        lowered(case)
