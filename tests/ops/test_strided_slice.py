"""STRIDED_SLICE against the reference: strides of both signs, every mask, types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tests.ops.equality import assert_equal
from tests.ops.movement import TYPES, assert_refused, moving_model

Index = Sequence[Any]  # of slices, integers, None and Ellipsis, as numpy takes it


def strided_model(shape: Sequence[int], index: Index, dtype: str = "int8") -> bytes:
    """numpy's x[index] as an operator."""
    begin, end, strides = [], [], []
    masks = dict.fromkeys(("begin", "end", "ellipsis", "new_axis", "shrink_axis"), 0)
    for i, entry in enumerate(index):
        values = (0, 0, 1)
        if entry is None:
            masks["new_axis"] |= 1 << i
        elif entry is Ellipsis:
            masks["ellipsis"] |= 1 << i
        elif isinstance(entry, slice):
            masks["begin"] |= (entry.start is None) << i
            masks["end"] |= (entry.stop is None) << i
            values = (entry.start or 0, entry.stop or 0, entry.step or 1)
        else:
            masks["shrink_axis"] |= 1 << i
            values = (entry, entry + 1, 1)
        for column, value in zip((begin, end, strides), values, strict=True):
            column.append(value)
    out = np.empty(shape, np.int8)[tuple(index)].shape
    options = {f"{name}_mask": mask for name, mask in masks.items()}
    return moving_model(
        "STRIDED_SLICE", shape, [out], [begin, end, strides], dtype=dtype, **options
    )


_ALL = slice(None)
CORNERS: list[tuple[tuple[int, ...], Index]] = [
    ((9,), [slice(1, 8, 3)]),
    ((9,), [slice(None, None, -1)]),
    ((9,), [slice(7, 1, -2)]),
    ((9,), [slice(-3, None)]),
    ((9,), [slice(-100, 100, 4)]),
    ((9,), [slice(100, -100, -4)]),
    ((4, 5), [1]),
    ((4, 5), [-1, slice(None, None, 2)]),
    ((4, 5), [_ALL, -2]),
    ((4, 5), [None, slice(1, 3), None]),
    ((4, 5), [Ellipsis, None]),
    ((4, 5), [None, Ellipsis, 3]),
    ((1, 7, 8, 3), [_ALL, slice(None, None, 2), slice(None, None, 2)]),
    ((1, 7, 8, 3), [_ALL, slice(1, 6), slice(2, -1), _ALL]),
    ((3, 7, 8, 3), [_ALL, slice(1, 6), slice(2, -1), slice(1, 3)]),
    ((3, 7, 8, 3), [slice(None, None, -1), _ALL, slice(None, None, -3), slice(None, None, -1)]),
    ((3, 7, 8, 3), [Ellipsis, slice(0, 2)]),
    ((3, 7, 8, 3), [1, Ellipsis, 2]),
    ((3, 7, 8, 3), [slice(1, 2), Ellipsis, None, slice(0, 1), slice(None, None, 2)]),
    ((2, 3, 4, 3, 2), [_ALL, slice(2, 0, -1), slice(1, 4, 2), 1, slice(None, None, -1)]),
    ((2, 3, 4, 3, 2), [_ALL, slice(0, 2), slice(1, 3), slice(0, 2), slice(1, 2)]),
]


def random_entry(size: int, rng: np.random.Generator) -> Any:
    if rng.random() < 0.2:
        return int(rng.integers(-size, size))
    step = int(rng.choice([-3, -2, -1, 1, 1, 2, 3]))
    bounds = [None if rng.random() < 0.3 else int(b) for b in rng.integers(-size - 1, size + 2, 2)]
    if len(range(size)[slice(*bounds, step)]) == 0:
        bounds = [None, None]
    return slice(*bounds, step)


def random_case(rng: np.random.Generator) -> tuple[tuple[int, ...], Index]:
    shape = tuple(int(d) for d in rng.integers(1, 7, int(rng.integers(1, 5))))
    index = [random_entry(size, rng) for size in shape]
    kind = rng.random()
    if kind < 0.25:
        index[int(rng.integers(len(index)))] = Ellipsis
    elif kind < 0.5:
        index.insert(int(rng.integers(len(index))), None)
    elif kind < 0.6:
        index.pop()
    return shape, index


def test_masks_and_strides(
    tmp_path: Path, rng: np.random.Generator, sample: Callable[[Any, int], Any]
) -> None:
    more = sample([random_case(rng) for _ in range(100)], 30)
    cases = {f"{i} {c}": strided_model(*c) for i, c in enumerate([*CORNERS, *more])}
    assert_equal(cases, tmp_path, rng, samples=1)


def test_types(tmp_path: Path, rng: np.random.Generator) -> None:
    cases = {dtype: strided_model(*CORNERS[15], dtype) for dtype in TYPES}
    cases |= {f"box {dtype}": strided_model(*CORNERS[14], dtype) for dtype in TYPES}
    assert_equal(cases, tmp_path, rng, samples=1)


def test_begin_mask_counts_more_than_an_index(tmp_path: Path, rng: np.random.Generator) -> None:
    constants = [(2, 0), (3, 2), (1, 1)]
    model = moving_model(
        "STRIDED_SLICE", (4, 5), [(2,)], constants, begin_mask=1, shrink_axis_mask=1
    )
    assert_equal({"both": model}, tmp_path, rng)


def test_sanitized(tmp_path: Path, rng: np.random.Generator) -> None:
    cases = {f"{i} {c}": strided_model(*c, "int16") for i, c in enumerate(CORNERS)}
    assert_equal(cases, tmp_path, rng, samples=1, sanitize=True)


def test_refusals() -> None:
    zero = moving_model("STRIDED_SLICE", (4,), [(4,)], [(0,), (4,), (0,)])
    assert_refused(zero, "STRIDED_SLICE: a stride is 0")
    beyond = moving_model("STRIDED_SLICE", (4,), [()], [(4,), (5,), (1,)], shrink_axis_mask=1)
    assert_refused(beyond, "index 4 does not exist in an axis of 4")
    many = moving_model("STRIDED_SLICE", (4,), [(4,)], [(0, 0), (4, 1), (1, 1)])
    assert_refused(many, "2 entries slice 1 axes")
    wrong = moving_model("STRIDED_SLICE", (4,), [(4,)], [(0,), (3,), (1,)])
    assert_refused(wrong, r"has shape \[4\] where the operator makes \[3\]")
