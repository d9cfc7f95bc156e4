"""Cases that both resizing operators are held against."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.movement import moving_model

RULES: list[dict[str, Any]] = [{}, {"align_corners": True}, {"half_pixel_centers": True}]
SIZES = [
    ((1, 4, 5, 3), (8, 10)),
    ((1, 8, 10, 2), (4, 5)),
    ((1, 3, 3, 1), (7, 5)),
    ((1, 7, 5, 4), (3, 3)),
    ((3, 2, 3, 2), (5, 4)),
    ((1, 1, 6, 2), (1, 13)),
    ((1, 6, 1, 2), (13, 1)),
    ((1, 1, 1, 8), (3, 4)),
    ((1, 5, 6, 2), (1, 1)),
    ((2, 5, 6, 3), (5, 6)),
    ((1, 17, 3, 1), (2, 40)),
]


def resize_model(
    op: str, shape: tuple[int, ...], size: tuple[int, int], dtype: str = "int8", **rule: Any
) -> bytes:
    out = (shape[0], *size, shape[3])
    return moving_model(op, shape, [out], [size], dtype=dtype, **rule)


def random_sizes(rng: np.random.Generator) -> tuple[tuple[int, ...], tuple[int, int]]:
    h, w, oh, ow = (int(v) for v in rng.integers(1, 20, 4))
    return (int(rng.integers(1, 3)), h, w, int(rng.integers(1, 4))), (oh, ow)


def sweep(op: str, rng: np.random.Generator, more: int, dtype: str = "int8") -> dict[str, bytes]:
    """Every rule on the named sizes and on `more` random ones."""
    sizes = [*SIZES, *(random_sizes(rng) for _ in range(more))]
    return {
        f"{i} {shape} {size} {rule}": resize_model(op, shape, size, dtype, **rule)
        for i, (shape, size) in enumerate(sizes)
        for rule in RULES
    }
