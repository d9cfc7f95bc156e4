"""Operators that move whole pixels, against the reference.

DEPTH_TO_SPACE, SPACE_TO_DEPTH, SPACE_TO_BATCH_ND, BATCH_TO_SPACE_ND, REVERSE_V2, MIRROR_PAD.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tests.ops.equality import assert_equal
from tests.ops.movement import TYPES, assert_refused, moving_model

Sample = Callable[[Any, int], Any]


def depth_models() -> dict[str, bytes]:
    """Both operators for the same pairs of maps."""
    models = {}
    for n, h, w, c, b in [
        (1, 1, 1, 1, 2),
        (1, 2, 3, 2, 2),
        (2, 3, 1, 3, 3),
        (3, 1, 2, 1, 4),
        (1, 4, 4, 5, 1),
        (2, 5, 5, 4, 2),
    ]:
        wide, deep = (n, h * b, w * b, c), (n, h, w, b * b * c)
        for dtype in ("int8", "uint8", "int32", "int64", "float32"):
            models[f"spread {deep} {b} {dtype}"] = moving_model(
                "DEPTH_TO_SPACE", deep, [wide], dtype=dtype, block_size=b
            )
            models[f"collect {wide} {b} {dtype}"] = moving_model(
                "SPACE_TO_DEPTH", wide, [deep], dtype=dtype, block_size=b
            )
    return models


def batch_case(rng: np.random.Generator, rank: int) -> tuple[Any, ...]:
    """Shape of the side with fewer images, block, borders, shape of the other side."""
    axes = rank - 2
    block, borders = rng.integers(1, 4, axes), rng.integers(0, 3, (axes, 2))
    small = rng.integers(1, 4, axes)
    inner = block * small - borders.sum(axis=1)
    if (inner < 1).any():
        return batch_case(rng, rank)
    n, c = (int(v) for v in rng.integers(1, 4, 2))
    few = (n, *(int(v) for v in inner), c)
    return few, block.tolist(), borders.tolist(), (n * math.prod(block.tolist()), *small, c)


def to_batch(case: tuple[Any, ...], dtype: str = "int8") -> bytes:
    few, block, borders, many = case
    return moving_model("SPACE_TO_BATCH_ND", few, [many], [block, borders], dtype=dtype)


def to_space(case: tuple[Any, ...], dtype: str = "int8") -> bytes:
    few, block, borders, many = case
    return moving_model("BATCH_TO_SPACE_ND", many, [few], [block, borders], dtype=dtype)


def reverse_model(shape: Sequence[int], axes: Sequence[int], dtype: str = "int8") -> bytes:
    return moving_model("REVERSE_V2", shape, [shape], [axes], dtype=dtype)


def mirror_model(
    shape: Sequence[int], pads: Sequence[Sequence[int]], mode: str, dtype: str = "int8"
) -> bytes:
    y = [before + n + after for n, (before, after) in zip(shape, pads, strict=True)]
    return moving_model("MIRROR_PAD", shape, [y], [pads], dtype=dtype, mode=mode)


def mirror_case(rng: np.random.Generator, rank: int) -> tuple[Any, ...]:
    mode = str(rng.choice(["REFLECT", "SYMMETRIC"]))
    shape = rng.integers(1, 5, rank)
    most = shape + (0 if mode == "SYMMETRIC" else -1)
    pads = rng.integers(0, most + 1, (2, rank)).T
    pads[: max(0, rank - 3 - (rank == 4))] = 0
    return tuple(shape.tolist()), pads.tolist(), mode


def test_depth(tmp_path: Path, rng: np.random.Generator, sample: Sample) -> None:
    models = depth_models()
    assert_equal({k: models[k] for k in sample(list(models), 30)}, tmp_path, rng, samples=2)


def test_batch(tmp_path: Path, rng: np.random.Generator) -> None:
    drawn = [batch_case(rng, rank) for rank in (3, 4) for _ in range(10)]
    cases = {f"to batch {c}": to_batch(c) for c in drawn}
    cases |= {f"to space {c}": to_space(c) for c in drawn}
    fixed = batch_case(rng, 4)
    cases |= {f"to batch {t}": to_batch(fixed, t) for t in (*TYPES, "float64", "uint16", "uint32")}
    cases |= {f"to space {t}": to_space(fixed, t) for t in TYPES}
    assert_equal(cases, tmp_path, rng, samples=2)


def test_reverse(tmp_path: Path, rng: np.random.Generator, sample: Sample) -> None:
    shapes = [(5,), (2, 3), (2, 3, 4), (2, 3, 2, 3)]
    sweep = [(shape, (axis,)) for shape in shapes for axis in range(len(shape))]
    cases = {str(c): reverse_model(*c) for c in sweep}
    cases |= {t: reverse_model((2, 3, 4), (1,), t) for t in TYPES}
    cases["neighbours"] = reverse_model((2, 3, 4), (1, 2))
    assert_equal(cases, tmp_path, rng, samples=2)


def test_mirror(tmp_path: Path, rng: np.random.Generator) -> None:
    cases = {}
    for rank in (1, 2, 3, 4, 4, 5):
        for _ in range(5):
            case = mirror_case(rng, rank)
            cases[str(case)] = mirror_model(*case)
    cases |= {t: mirror_model((2, 3, 4), [(1, 0), (2, 1), (0, 3)], "REFLECT", t) for t in TYPES}
    assert_equal(cases, tmp_path, rng, samples=2)


def test_sanitized(tmp_path: Path, rng: np.random.Generator) -> None:
    cases = {str(c): to_batch(c, "int32") for c in (batch_case(rng, 4) for _ in range(4))}
    cases |= {f"space {c}": to_space(c, "int16") for c in (batch_case(rng, 3) for _ in range(4))}
    cases |= {str(c): mirror_model(*c) for c in (mirror_case(rng, 4) for _ in range(4))}
    cases |= {k: v for k, v in depth_models().items() if "int32" in k}
    cases["reverse"] = reverse_model((2, 3, 4), (2,), "int64")
    assert_equal(cases, tmp_path, rng, samples=1, sanitize=True)


def test_refusals() -> None:
    odd = moving_model("SPACE_TO_DEPTH", (1, 3, 2, 1), [(1, 1, 1, 4)], block_size=2)
    assert_refused(odd, "3x2 pixels make no squares of 2x2")
    few = moving_model("DEPTH_TO_SPACE", (1, 2, 2, 3), [(1, 4, 4, 1)], block_size=2)
    assert_refused(few, "3 channels make no squares of 2x2")
    flat = moving_model("DEPTH_TO_SPACE", (2, 4), [(2, 4)], block_size=2)
    assert_refused(flat, "has not four dimensions")
    assert_refused(to_batch(((1, 3, 3, 1), [2, 2], [[0, 0], [0, 0]], (4, 1, 1, 1))), "no blocks of")
    assert_refused(to_space(((1, 2, 2, 1), [2, 2], [[0, 0], [0, 0]], (3, 1, 1, 1))), "3 images")
    assert_refused(mirror_model((1, 3), [(1, 0), (0, 0)], "REFLECT"), "an axis of 1 has no mirror")
    five = mirror_model((2, 2, 2, 2, 2), [(1, 0), (0, 0), (0, 0), (0, 0), (0, 0)], "SYMMETRIC")
    assert_refused(five, "of more than four is not supported; reshape to four dimensions")
