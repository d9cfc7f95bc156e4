"""SPLIT against the reference: every axis, any rank, types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tests.ops.equality import assert_equal
from tests.ops.movement import TYPES, assert_refused, moving_model


def split_model(
    shape: Sequence[int], axis: int, parts: int, dtype: str = "int8", **changes: Any
) -> bytes:
    part = list(shape)
    part[axis] //= parts
    arguments: dict[str, Any] = {"num_splits": parts, "constants_first": True, **changes}
    return moving_model("SPLIT", shape, [part] * parts, [axis], dtype=dtype, **arguments)


def sweep() -> list[tuple[tuple[int, ...], int, int]]:
    shapes = [(6,), (2, 6), (6, 3, 4), (2, 6, 4, 6), (6, 3, 2, 3, 2), (2, 1, 2, 6, 1, 2)]
    return [
        (shape, axis, parts)
        for shape in shapes
        for axis in range(-len(shape), len(shape))
        for parts in (1, 2, 3, 6)
        if shape[axis] % parts == 0
    ]


def test_every_axis(
    tmp_path: Path, rng: np.random.Generator, sample: Callable[[Any, int], Any]
) -> None:
    cases = {str(c): split_model(*c) for c in sample(sweep(), 40)}
    assert_equal(cases, tmp_path, rng, samples=2)


def test_types(tmp_path: Path, rng: np.random.Generator) -> None:
    types = [dtype for dtype in TYPES if dtype != "bool"]  # which LiteRT does not split
    cases = {dtype: split_model((2, 3, 2, 6), 3, 3, dtype) for dtype in types}
    assert_equal(cases, tmp_path, rng, samples=2)


def test_sanitized(tmp_path: Path, rng: np.random.Generator) -> None:
    cases = {str(c): split_model(*c, "int32") for c in sweep()[::4]}
    assert_equal(cases, tmp_path, rng, samples=1, sanitize=True)


def test_refusals() -> None:
    assert_refused(split_model((1, 4), 1, 2, num_splits=3), "4 elements along axis 1 make no 3")
    assert_refused(
        moving_model("SPLIT", (1, 4), [(1, 2)] * 2, [2], constants_first=True, num_splits=2),
        "SPLIT: axis 2 does not exist in 2 dimensions",
    )
