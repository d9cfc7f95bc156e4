"""SLICE against the reference: boxes of any rank, open sizes, types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tests.ops.equality import assert_equal
from tests.ops.movement import TYPES, assert_refused, moving_model

Case = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]


def slice_model(
    shape: Sequence[int],
    begin: Sequence[int],
    size: Sequence[int],
    dtype: str = "int8",
    index: str = "int32",
) -> bytes:
    out = [n - b if s == -1 else s for n, b, s in zip(shape, begin, size, strict=True)]
    constants = [begin, size]
    return moving_model("SLICE", shape, [out], constants, dtype=dtype, constant_type=index)


def random_case(rng: np.random.Generator) -> Case:
    rank = int(rng.integers(1, 7))
    shape = rng.integers(1, 6, rank)
    begin = rng.integers(0, shape)
    size = rng.integers(1, shape - begin + 1)
    size[rng.random(rank) < 0.3] = -1
    ones: Case = tuple(tuple(int(v) for v in values) for values in (shape, begin, size))  # type: ignore[assignment]
    return ones


def test_boxes(tmp_path: Path, rng: np.random.Generator, sample: Callable[[Any, int], Any]) -> None:
    cases = sample([random_case(rng) for _ in range(120)], 40)
    assert_equal({str(c): slice_model(*c) for c in cases}, tmp_path, rng, samples=2)


def test_types(tmp_path: Path, rng: np.random.Generator) -> None:
    box = ((2, 4, 3, 4), (0, 1, 0, 1), (2, 2, -1, 2))
    cases = {dtype: slice_model(*box, dtype) for dtype in TYPES}
    cases["int64 indices"] = slice_model(*box, index="int64")
    six = ((3, 3, 3, 3, 3, 3), (1, 0, 1, 0, 1, 1), (2, 2, 2, 2, 2, 2))
    cases["six axes"] = slice_model(*six, "int16")
    assert_equal(cases, tmp_path, rng, samples=2)


def test_sanitized(tmp_path: Path, rng: np.random.Generator) -> None:
    cases = [random_case(rng) for _ in range(16)]
    models = {str(c): slice_model(*c, "int32") for c in cases}
    assert_equal(models, tmp_path, rng, samples=1, sanitize=True)


def test_refusals() -> None:
    assert_refused(
        moving_model("SLICE", (1, 4), [(1, 3)], [(0, 2), (1, 3)]),
        "SLICE: 3 elements from 2 leave an axis of 4",
    )
    assert_refused(
        moving_model("SLICE", (1, 4), [(1, 3)], [(0,), (1,)]), "does not have 2 elements"
    )
    many = slice_model((3,) * 14, (1,) * 14, (2,) * 14)
    assert_refused(many, "moving 14 independent axes at once is not supported; use two")
