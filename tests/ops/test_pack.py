"""PACK and UNPACK against the reference: every axis, any rank, types, constant parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tests.ops.equality import assert_equal
from tests.ops.movement import assert_refused, layer_notes, moving_model, quant
from tests.tflite_builder import ModelBuilder

SHAPES = [(4,), (2, 3), (1, 5), (2, 3, 4), (2, 3, 2, 5), (2, 1, 3, 2, 2)]
PACKED = ("int8", "uint8", "int16", "int32", "int64", "float32")
UNPACKED = ("int8", "uint8", "int16", "int32", "float32", "bool")

Case = tuple[tuple[int, ...], int, int]


def pack_model(
    shape: Sequence[int], axis: int, count: int, dtype: str = "int8", constant: int | None = None
) -> bytes:
    """`count` inputs of `shape`; input number `constant` is one."""
    builder = ModelBuilder()
    data = np.arange(np.prod(shape)).reshape(shape) % 100
    inputs = [
        builder.tensor(shape, dtype, **quant(dtype), data=data if i == constant else None)
        for i in range(count)
    ]
    at = axis % (len(shape) + 1)
    y = builder.tensor((*shape[:at], count, *shape[at:]), dtype, **quant(dtype))
    builder.op("PACK", inputs, [y], axis=axis, values_count=count)
    return builder.build([t for i, t in enumerate(inputs) if i != constant], [y])


def unpack_model(shape: Sequence[int], axis: int, dtype: str = "int8") -> bytes:
    at = axis % len(shape)
    parts = [(*shape[:at], *shape[at + 1 :])] * shape[at]
    return moving_model("UNPACK", shape, parts, dtype=dtype, axis=axis, num=shape[at])


def sweep() -> list[Case]:
    return [
        (shape, axis, count)
        for shape in SHAPES
        for axis in range(-len(shape) - 1, len(shape) + 1)
        for count in (1, 2, 4)
        if len(shape) < 5 or count < 4
    ]


def test_pack(tmp_path: Path, rng: np.random.Generator, sample: Callable[[Any, int], Any]) -> None:
    cases = {str(c): pack_model(*c) for c in sample(sweep(), 40)}
    cases |= {dtype: pack_model((2, 3), 1, 3, dtype) for dtype in PACKED}
    cases |= {f"constant {i}": pack_model((4, 2), 1, 3, constant=i) for i in range(3)}
    cases["scalars"] = pack_model((), 0, 3)
    assert_equal(cases, tmp_path, rng, samples=2)


def test_unpack(
    tmp_path: Path, rng: np.random.Generator, sample: Callable[[Any, int], Any]
) -> None:
    sweep = [(s, axis) for s in SHAPES for axis in range(-len(s), len(s))]
    cases = {str(c): unpack_model(*c) for c in sample(sweep, 24)}
    cases |= {dtype: unpack_model((2, 3, 2), 1, dtype) for dtype in UNPACKED}
    cases["scalars"] = unpack_model((3,), 0)
    assert_equal(cases, tmp_path, rng, samples=2)


def test_sanitized(tmp_path: Path, rng: np.random.Generator) -> None:
    cases = {str(c): pack_model(*c, "int32") for c in sweep()[::6]}
    cases |= {str(s): unpack_model(s, -1, "int16") for s in SHAPES}
    assert_equal(cases, tmp_path, rng, samples=1, sanitize=True)


def test_parts_lie_in_place() -> None:
    """What an operator makes for a PACK is written where the PACK wants it."""
    builder = ModelBuilder()
    x = builder.tensor((1, 4, 4, 2), scale=0.1)
    parts = [builder.tensor((4, 4, 2), scale=0.1) for _ in range(2)]
    made = [builder.tensor((4, 4, 2), scale=0.2) for _ in range(2)]
    y = builder.tensor((2, 4, 4, 2), scale=0.2)
    shape = builder.tensor((3,), "int32", data=(4, 4, 2))
    for part, result in zip(parts, made, strict=True):
        builder.op("RESHAPE", [x, shape], [part])
        builder.op("RELU", [part], [result])
    builder.op("PACK", made, [y], values_count=2)
    assert layer_notes(builder.build([x], [y]))[-1].startswith("no code")


def test_refusals() -> None:
    builder = ModelBuilder()
    x, z = builder.tensor((1, 3), scale=0.1), builder.tensor((1, 4), scale=0.1)
    y = builder.tensor((2, 1, 3), scale=0.1)
    builder.op("PACK", [x, z], [y], values_count=2)
    assert_refused(builder.build([x, z], [y]), r"PACK: .* int8\[1,4\] differs from int8\[1,3\]")
    few = moving_model("UNPACK", (3, 2), [(2,), (2,)], axis=0, num=2)
    assert_refused(few, r"axis 0 of int8\[3,2\] makes no 2 parts for 2 outputs")
