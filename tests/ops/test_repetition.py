"""TILE, BROADCAST_TO, FILL, ZEROS_LIKE: outputs that repeat few elements, against the reference."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tests.ops.equality import assert_equal
from tests.ops.movement import TYPES, assert_refused, moving_model, quant
from tests.tflite_builder import ModelBuilder

SHAPES = [(4,), (2, 3), (1, 1), (2, 1, 3), (2, 3, 2, 2), (1, 2, 1, 3, 2)]
MORE_TYPES = (*TYPES, "uint16", "uint32", "uint64", "float16", "float64")


def tile_model(shape: Sequence[int], times: Sequence[int], dtype: str = "int8") -> bytes:
    y = [n * t for n, t in zip(shape, times, strict=True)]
    return moving_model("TILE", shape, [y], [times], dtype=dtype)


def broadcast_model(x: Sequence[int], y: Sequence[int], dtype: str = "int8") -> bytes:
    return moving_model("BROADCAST_TO", x, [y], [y], dtype=dtype, version=3)


def fill_model(shape: Sequence[int], dtype: str = "int8", value: int | None = None) -> bytes:
    builder = ModelBuilder()
    x = builder.tensor((), dtype, **quant(dtype), data=value)
    dims = builder.tensor((len(shape),), "int32", data=shape)
    y = builder.tensor(shape, dtype, **quant(dtype))
    builder.op("FILL", [dims, x], [y])
    return builder.build([x] if value is None else [], [y])


def tiles(rng: np.random.Generator) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    return [(shape, tuple(rng.integers(1, 4, len(shape)))) for shape in SHAPES for _ in range(8)]


def stretches(rng: np.random.Generator) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    found = []
    for _ in range(60):
        y = rng.integers(1, 4, int(rng.integers(1, 6)))
        x = np.where(rng.random(len(y)) < 0.5, 1, y)[int(rng.integers(0, len(y))) :]
        found.append((tuple(map(int, x)), tuple(map(int, y))))
    return found


def test_tile(tmp_path: Path, rng: np.random.Generator, sample: Callable[[Any, int], Any]) -> None:
    cases = {f"{c}": tile_model(*c) for c in sample(tiles(rng), 24)}
    cases |= {dtype: tile_model((2, 3), (2, 1), dtype) for dtype in MORE_TYPES}
    cases["seven walks"] = tile_model((2, 2, 2, 2, 3), (2, 2, 2, 2, 1), "int16")
    assert_equal(cases, tmp_path, rng, samples=2)


def test_broadcast_to(
    tmp_path: Path, rng: np.random.Generator, sample: Callable[[Any, int], Any]
) -> None:
    cases = {str(c): broadcast_model(*c) for c in sample(stretches(rng), 24)}
    cases |= {dtype: broadcast_model((1, 3), (4, 3), dtype) for dtype in MORE_TYPES}
    cases["scalar"] = broadcast_model((), (2, 3))
    assert_equal(cases, tmp_path, rng, samples=2)


def test_fill(tmp_path: Path, rng: np.random.Generator) -> None:
    cases = {dtype: fill_model((2, 3, 4), dtype) for dtype in MORE_TYPES}
    cases |= {str(shape): fill_model(shape, "int16") for shape in SHAPES}
    cases |= {f"constant {t}": fill_model((300, 300), t, 1) for t in ("int8", "float32", "bool")}
    cases["folded"] = fill_model((3,), "int32", -7)
    assert_equal(cases, tmp_path, rng, samples=2)


def test_zeros_like(tmp_path: Path, rng: np.random.Generator) -> None:
    cases = {
        dtype: moving_model("ZEROS_LIKE", (2, 3, 5), [(2, 3, 5)], dtype=dtype)
        for dtype in ("int32", "int64", "float32")
    }
    assert_equal(cases, tmp_path, rng, samples=2)


def test_sanitized(tmp_path: Path, rng: np.random.Generator) -> None:
    cases = {f"tile {c}": tile_model(*c, "int32") for c in tiles(rng)[::5]}
    cases |= {f"stretch {c}": broadcast_model(*c, "int16") for c in stretches(rng)[::8]}
    cases["fill"] = fill_model((7, 3), "int64")
    assert_equal(cases, tmp_path, rng, samples=1, sanitize=True)


def test_refusals() -> None:
    assert_refused(broadcast_model((2, 3), (2, 4)), r"int8\[2,3\] does not stretch to int8\[2,4\]")
    assert_refused(moving_model("TILE", (2,), [(4,)], [(2, 1)]), r"holds \[2, 1\] for int8\[2\]")
