"""SPLIT_V against the reference: sizes, one of them open, every axis, types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tests.ops.equality import assert_equal
from tests.ops.movement import assert_refused, moving_model

SHAPES = [(6,), (2, 6), (6, 3), (2, 6, 3), (2, 3, 6, 2), (2, 6, 1, 6, 2)]
TYPES = ("int8", "uint8", "int16", "int32", "int64", "float32")


def split_model(
    shape: Sequence[int], axis: int, sizes: Sequence[int], dtype: str = "int8"
) -> bytes:
    at, open_size = axis % len(shape), shape[axis] - sum(s for s in sizes if s > 0)
    parts = [(*shape[:at], open_size if s == -1 else s, *shape[at + 1 :]) for s in sizes]
    constants = [np.array(sizes), np.array(axis)]
    return moving_model("SPLIT_V", shape, parts, constants, dtype=dtype, num_splits=len(sizes))


def sweep() -> list[tuple[tuple[int, ...], int, tuple[int, ...]]]:
    return [
        (shape, axis, sizes)
        for shape in SHAPES
        for axis in range(-len(shape), len(shape))
        if shape[axis] == 6
        for sizes in ((1, 5), (2, -1), (-1, 3, 1), (1, 2, 1, 2), (6,))
    ]


def test_sizes(tmp_path: Path, rng: np.random.Generator, sample: Callable[[Any, int], Any]) -> None:
    cases = {str(c): split_model(*c) for c in sample(sweep(), 36)}
    cases |= {dtype: split_model((2, 6, 3), 1, (1, 3, 2), dtype) for dtype in TYPES}
    assert_equal(cases, tmp_path, rng, samples=2)


def test_sanitized(tmp_path: Path, rng: np.random.Generator) -> None:
    cases = {str(c): split_model(*c, "int16") for c in sweep()[::5]}
    assert_equal(cases, tmp_path, rng, samples=1, sanitize=True)


def test_refusals() -> None:
    wrong = moving_model("SPLIT_V", (1, 6), [(1, 2), (1, 3)], [(2, 3), 1], num_splits=2)
    assert_refused(wrong, r"SPLIT_V: parts of \[2, 3\] do not fill axis 1 of int8\[1,6\]")
    three = moving_model("SPLIT_V", (1, 6), [(1, 2), (1, 4)], [(2, 2, 2), 1], num_splits=2)
    assert_refused(three, "3 sizes do not fit 2 outputs")
