"""Walks through flat maps: the constants of cg_walk.h for reductions and searches along axes."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from codegen.graph import Tensor
from codegen.ops.base import Access, OpContext, Param, all_rows
from codegen.ops.movement import joined_axes, strides_of

_RUNS = 4


def walk_params(
    context: OpContext, name: str, axes: Sequence[tuple[int, int]]
) -> list[tuple[str, Param]]:
    """The fields of the `cg_walk` called `name` through axes of (size, stride), outermost first.

    Raises:
        Unsupported: if too many remain once those are joined that continue each other.
    """
    runs = joined_axes(axes)
    if len(runs) > _RUNS:
        raise context.unsupported(
            f"it goes through {len(runs)} separate axes",
            f"use two operators that take at most {_RUNS} each",
        )
    runs = [(1, 0)] * (_RUNS - len(runs)) + runs
    sizes: list[tuple[str, Param]] = [
        (f"{name}.size{i}", size) for i, (size, _) in enumerate(runs) if i > 0
    ]
    return sizes + [(f"{name}.stride{i}", stride) for i, (_, stride) in enumerate(runs)]


def axes_of(x: Tensor, chosen: Collection[int]) -> list[tuple[int, int]]:
    """(size, stride in elements) of the chosen axes of a tensor, outermost first."""
    pairs = zip(x.shape, strides_of(x.shape), strict=True)
    return [pair for axis, pair in enumerate(pairs) if axis in chosen]


def flat_access(tensor: Tensor) -> Access:
    """All of a tensor as one row of elements without gaps, all of which every result needs."""
    return Access(tensor.index, (1, 1, 1, math.prod(tensor.shape)), all_rows(1), dense=True)
