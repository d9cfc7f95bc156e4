"""CONCATENATION against the reference: every axis, any rank and number of inputs, types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tests.ops.equality import assert_equal
from tests.ops.movement import TYPES, assert_refused, quant
from tests.tflite_builder import ModelBuilder


def concat_model(
    shape: Sequence[int],
    axis: int,
    sizes: Sequence[int],
    dtype: str = "int8",
    *,
    constant: int | None = None,
    activation: str = "NONE",
    zero_points: Sequence[int] | None = None,
) -> bytes:
    """Inputs shaped like `shape` but for `sizes` along `axis`; input number `constant` is one."""
    builder = ModelBuilder()
    inputs = []
    for i, size in enumerate(sizes):
        part = list(shape)
        part[axis] = size
        data = np.arange(np.prod(part)).reshape(part) % 100 if i == constant else None
        of_input = quant(dtype) | ({"zero_point": zero_points[i]} if zero_points else {})
        inputs.append(builder.tensor(part, dtype, **of_input, data=data))
    whole = list(shape)
    whole[axis] = sum(sizes)
    y = builder.tensor(whole, dtype, **quant(dtype))
    builder.op("CONCATENATION", inputs, [y], axis=axis, fused_activation_function=activation)
    return builder.build([t for i, t in enumerate(inputs) if i != constant], [y])


def sweep() -> list[tuple[tuple[int, ...], int, tuple[int, ...]]]:
    shapes = [(6,), (2, 3), (2, 3, 4), (2, 3, 4, 5), (2, 3, 2, 3, 2), (2, 1, 2, 3, 1, 2)]
    return [
        (shape, axis, sizes)
        for shape in shapes
        for axis in range(-len(shape), len(shape))
        for sizes in ((1, 3), (2, 2, 1, 4), (3,))
    ]


def test_every_axis(
    tmp_path: Path, rng: np.random.Generator, sample: Callable[[Any, int], Any]
) -> None:
    cases = {str(c): concat_model(*c) for c in sample(sweep(), 40)}
    assert_equal(cases, tmp_path, rng, samples=2)


def test_types_and_constants(tmp_path: Path, rng: np.random.Generator) -> None:
    cases = {dtype: concat_model((2, 3, 2, 3), 3, (1, 4), dtype) for dtype in TYPES}
    cases |= {f"constant {i}": concat_model((1, 4, 4, 2), 3, (2, 3), constant=i) for i in (0, 1)}
    cases["constant rows"] = concat_model((3, 4, 4, 2), 1, (2, 3, 1), constant=1)
    assert_equal(cases, tmp_path, rng, samples=2)


def test_one_tensor_twice(tmp_path: Path, rng: np.random.Generator) -> None:
    builder = ModelBuilder()
    x = builder.tensor((2, 3, 4), scale=0.1)
    y = builder.tensor((2, 6, 4), scale=0.1)
    builder.op("CONCATENATION", [x, x], [y], axis=1)
    assert_equal({"twice": builder.build([x], [y])}, tmp_path, rng)


def test_sanitized(tmp_path: Path, rng: np.random.Generator) -> None:
    cases = {str(c): concat_model(*c, "int16") for c in sweep()[::5]}
    assert_equal(cases, tmp_path, rng, samples=1, sanitize=True)


def test_uint8_of_several_scales(tmp_path: Path, rng: np.random.Generator) -> None:
    """Codes are brought to the output's scale where it differs, those of operators too."""
    models = {}
    for axis in (0, 1, 3):
        builder = ModelBuilder()
        inputs, parts = [], []
        for scale, zero in ((0.1, 120), (0.07, 3), (1e-3, 255), (9.0, 0), (0.1, 120)):
            inputs.append(builder.tensor((2, 3, 4, 5), "uint8", 0.1, 120))
            parts.append(builder.tensor((2, 3, 4, 5), "uint8", scale, zero))
            builder.op("RELU", [inputs[-1]], [parts[-1]])
        shape = tuple(5 * d if a == axis else d for a, d in enumerate((2, 3, 4, 5)))
        y = builder.tensor(shape, "uint8", 0.1, 120)
        builder.op("CONCATENATION", parts, [y], axis=axis)
        direct = builder.tensor(shape, "uint8", 0.06, 9)
        builder.op("CONCATENATION", inputs, [direct], axis=axis)
        models[f"axis {axis}"] = builder.build(inputs, [y, direct])
    assert_equal(models, tmp_path, rng, sanitize=True)


def test_refusals() -> None:
    different = concat_model((1, 4), 1, (2, 2), zero_points=(-5, -4))
    assert_refused(different, "CONCATENATION .*another scale or zero point than the output; put a")
    fused = concat_model((1, 4), 1, (2, 2), activation="RELU")
    assert_refused(fused, "the fused activation RELU is not supported; export it")
    builder = ModelBuilder()
    x, z = builder.tensor((1, 3), scale=0.1), builder.tensor((2, 3), scale=0.1)
    y = builder.tensor((1, 6), scale=0.1)
    builder.op("CONCATENATION", [x, z], [y], axis=1)
    assert_refused(builder.build([x, z], [y]), "does not fit .* along axis 1")
