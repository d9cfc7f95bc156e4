"""TRANSPOSE against the reference: permutations of every rank, types; views where nothing moves."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tests.ops.equality import assert_equal
from tests.ops.movement import TYPES, assert_refused, layer_notes, moving_model

SHAPES = [(7,), (3, 4), (3, 4, 5), (2, 3, 4, 5), (2, 3, 2, 4, 3), (2, 3, 2, 2, 3, 2)]


def transpose_model(shape: Sequence[int], perm: Sequence[int], dtype: str = "int8") -> bytes:
    out = [shape[p] for p in perm]
    return moving_model("TRANSPOSE", shape, [out], [perm], dtype=dtype)


def sweep() -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    return [(shape, perm) for shape in SHAPES for perm in itertools.permutations(range(len(shape)))]


def test_permutations(
    tmp_path: Path, rng: np.random.Generator, sample: Callable[[Any, int], Any]
) -> None:
    cases = sweep()
    chosen = [*cases[:33], *sample(cases[33:], 20)]
    special = [((1, 3, 1, 4), (0, 2, 1, 3)), ((3, 4), (-1, 0)), ((1, 1, 5), (2, 0, 1))]
    models = {str(c): transpose_model(*c) for c in [*chosen, *special]}
    assert_equal(models, tmp_path, rng, samples=1)


def test_types(tmp_path: Path, rng: np.random.Generator) -> None:
    cases = {dtype: transpose_model((2, 3, 4, 5), (0, 3, 1, 2), dtype) for dtype in TYPES}
    assert_equal(cases, tmp_path, rng, samples=2)


def test_sanitized(tmp_path: Path, rng: np.random.Generator) -> None:
    cases = {str(c): transpose_model(*c, "int64") for c in sweep()[::45]}
    assert_equal(cases, tmp_path, rng, samples=1, sanitize=True)


def test_moving_axes_of_size_one_is_a_view() -> None:
    assert "no code" in layer_notes(transpose_model((1, 3, 1, 4), (0, 2, 1, 3)))[0]
    assert layer_notes(transpose_model((1, 3, 2, 4), (0, 2, 1, 3))) == [""]


def test_refusals() -> None:
    twice = moving_model("TRANSPOSE", (2, 3), [(3, 3)], [(1, 1)])
    assert_refused(twice, r"TRANSPOSE: \[1, 1\] is no permutation of 2 axes")
    many = transpose_model((2,) * 14, range(13, -1, -1))
    assert_refused(many, "moving 14 independent axes at once is not supported")
