"""SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND: blocks of pixels dealt out to images, and back.

Both sides are seen as (n, h, w, c); a tensor of rank 3 has one column. The side with more images
holds, for pixel (i, j) of every block, an image of these pixels; its number is
(i * block_w + j) * images + image.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from codegen.graph import Tensor
from codegen.ops.base import Access, Call, Map, OpContext, all_rows, table
from codegen.ops.movement import constant_ints

Pair = tuple[int, int]


@dataclass(frozen=True)
class Blocks:
    """The block's (height, width) and what is added or cut (before, after) rows and columns."""

    size: Pair
    rows: Pair
    columns: Pair

    def summary(self, word: str) -> str:
        shown = ",".join(f"{before}+{after}" for before, after in (self.rows, self.columns))
        return f"block {self.size[0]}x{self.size[1]} {word} [{shown}]"


def blocks(context: OpContext) -> Blocks:
    """The constant operands 1 (block) and 2 (paddings or crops), for one or two axes.

    Raises:
        Unsupported: for operands that are computed at run time.
        InvalidModel: if they do not fit the first input.
    """
    x = context.input(0)
    size, cut = (constant_ints(context, context.input(i)) for i in (1, 2))
    if len(x.shape) not in (3, 4):
        raise context.invalid(f"{x.label} {x.describe()} has not three or four dimensions")
    axes = len(x.shape) - 2
    if len(size) != axes or len(cut) != 2 * axes or min(size) < 1 or min(cut) < 0:
        raise context.invalid(f"block {list(size)} and borders {list(cut)} do not fit {axes} axes")
    if axes == 1:
        return Blocks((size[0], 1), (cut[0], cut[1]), (0, 0))
    return Blocks((size[0], size[1]), (cut[0], cut[1]), (cut[2], cut[3]))


def as_map(tensor: Tensor) -> Map:
    """(n, h, w, c) of a tensor of three or four dimensions."""
    n, h, *w, c = tensor.shape
    return n, h, w[0] if w else 1, c


def as_shape(shape: Map, rank: int) -> tuple[int, ...]:
    """The tensor's shape that `as_map` made `shape` of."""
    return (*shape[:2], shape[3]) if rank == 3 else shape


def block_call(
    kernel: str, tensors: tuple[Tensor, Tensor], cut: Blocks, value: NDArray[np.generic] | None
) -> Call:
    """The call from x to y, `tensors`. All images' rows are one column of rows; `value` pads."""
    x, y = tensors
    (in_n, in_h, in_w, c), (out_n, out_h, out_w, _) = as_map(x), as_map(y)
    return Call(
        kernel=kernel,
        header="cg_space_batch.h",
        args="cg_space_batch_args",
        params=(
            ("element_bytes", x.dtype.size),
            ("images", min(in_n, out_n)),
            ("in_h", in_h),
            ("in_w", in_w),
            ("out_h", out_h),
            ("block_h", cut.size[0]),
            ("block_w", cut.size[1]),
            ("top", cut.rows[0]),
            ("left", cut.columns[0]),
            ("value", None if value is None else table(value)),
        ),
        inputs=(Access(x.index, (1, in_n * in_h, in_w, c), rows=all_rows(in_n * in_h)),),
        outputs=(Access(y.index, (1, out_n * out_h, out_w, c)),),
    )
