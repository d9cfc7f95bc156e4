"""PAD and PADV2: what they have in common.

Rows, columns and channels around every image are one kernel call; whole images before and behind
are filled boxes of their own.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from codegen.graph import DType, Tensor
from codegen.ops.base import Access, Box, Call, Lowered, OpContext, RowMap, table
from codegen.ops.movement import constant_ints, moved_type

PADDED_TYPES = (
    DType.INT8,
    DType.UINT8,
    DType.INT16,
    DType.INT32,
    DType.INT64,
    DType.FLOAT32,
    DType.FLOAT16,
    DType.BOOL,
)

_CODES = (DType.INT8, DType.UINT8, DType.INT16)

_MAX_RANK = 5  # of the reference


@dataclass(frozen=True)
class _Axis:
    """One axis of the input with the elements added before and behind it."""

    size: int
    before: int
    after: int

    @property
    def out(self) -> int:
        return self.before + self.size + self.after


def paddings(context: OpContext) -> tuple[tuple[int, int], ...]:
    """(before, after) of every axis of the first input.

    Raises:
        Unsupported: if they are computed at run time.
        InvalidModel: for a wrong number of them, or negative ones.
    """
    x, tensor = context.input(0), context.input(1)
    values = constant_ints(context, tensor)
    if len(values) != 2 * len(x.shape):
        raise context.invalid(f"{tensor.label} holds {len(values)} sizes for {x.describe()}")
    if any(v < 0 for v in values):
        raise context.invalid(f"{tensor.label} holds a negative padding")
    return tuple(zip(values[0::2], values[1::2], strict=True))


def is_quantised(tensor: Tensor) -> bool:
    """Whether the elements are codes; the reference knows them by their type alone."""
    return tensor.dtype in _CODES and tensor.quant is not None and bool(tensor.quant.scales)


def zero_value(y: Tensor) -> NDArray[np.generic]:
    """One element that stands for the real number 0 in `y`."""
    zero = y.quant.zero_point if y.quant and is_quantised(y) else 0
    return np.array([zero], y.dtype.numpy)


def lower_padding(context: OpContext, value: NDArray[np.generic]) -> Lowered:
    """Shapes: x of rank 1 to 5, paddings[rank, 2] -> y larger by the paddings."""
    x, y = context.input(0), context.output()
    moved_type(context, x, y)
    context.require_type(y, *PADDED_TYPES)
    pads = paddings(context)
    axes = [_Axis(size, *pad) for size, pad in zip(x.shape, pads, strict=True)]
    context.require_shape(y, tuple(a.out for a in axes))
    if len(axes) > _MAX_RANK:
        raise context.unsupported(
            f"padding of {len(axes)} axes is not supported", f"pad at most {_MAX_RANK} axes"
        )
    shown = ",".join(f"{before}+{after}" for before, after in pads)
    return Lowered(calls=tuple(_calls(x, y, axes, value)), summary=f"[{shown}]")


def _calls(x: Tensor, y: Tensor, axes: list[_Axis], value: NDArray[np.generic]) -> Iterator[Call]:
    """Fill the images between the padded ones, and pad those image run by image run."""
    *outer, n, h, w, c = [_Axis(1, 0, 0)] * (4 - len(axes)) + axes
    in_map = (math.prod(a.size for a in (*outer, n)), h.size, w.size, c.size)
    out_map = (math.prod(a.out for a in (*outer, n)), h.out, w.out, c.out)

    def box(whole: tuple[int, int, int, int], first: int, count: int) -> Box:
        return Box((first, 0, 0, 0), (count, *whole[1:]))

    written = 0
    for block, indices in enumerate(itertools.product(*(range(a.size) for a in outer))):
        first = 0
        for index, axis in zip(indices, outer, strict=True):
            first = first * axis.out + axis.before + index
        first = first * n.out + n.before
        if first > written:
            yield _fill(y, out_map, box(out_map, written, first - written), value)
        yield _pad(
            Access(x.index, in_map, RowMap(1, -h.before, 1), box(in_map, block * n.size, n.size)),
            Access(y.index, out_map, box=box(out_map, first, n.size)),
            (h, w, c),
            value,
        )
        written = first + n.size
    if written < out_map[0]:
        yield _fill(y, out_map, box(out_map, written, out_map[0] - written), value)


def _fill(
    y: Tensor, out_map: tuple[int, int, int, int], box: Box, value: NDArray[np.generic]
) -> Call:
    return Call(
        kernel="cg_fill",
        header="cg_pad.h",
        args="cg_fill_args",
        params=(("element_bytes", y.dtype.size), ("value", table(value))),
        inputs=(),
        outputs=(Access(y.index, out_map, box=box),),
    )


def _pad(
    x: Access, y: Access, axes: tuple[_Axis, _Axis, _Axis], value: NDArray[np.generic]
) -> Call:
    h, w, c = axes
    return Call(
        kernel="cg_pad",
        header="cg_pad.h",
        args="cg_pad_args",
        params=(
            ("element_bytes", value.itemsize),
            ("in_h", h.size),
            ("in_w", w.size),
            ("in_c", c.size),
            ("pad_top", h.before),
            ("pad_left", w.before),
            ("pad_front", c.before),
            ("value", table(value)),
        ),
        inputs=(x,),
        outputs=(y,),
    )
