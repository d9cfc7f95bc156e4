"""What operators that only move data share: checks, and the calls that copy or gather elements.

An element's value never matters here, only its size in bytes, so every fixed-size type works.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from codegen.graph import DType, Tensor
from codegen.ops.base import Access, Box, Call, Map, OpContext, Param, all_rows
from codegen.ops.copy import copy_call

MOVED_TYPES = tuple(dtype for dtype in DType if dtype.in_c)

_MAX_AXES = 6  # of one gather once neighbouring axes are joined: four fold into rows
_MAX_CALLS = 64  # of gathers for one operator


def moved_type(context: OpContext, *tensors: Tensor) -> int:
    """Bytes per element of tensors that must all have one type.

    Raises:
        InvalidModel: if their types differ.
        Unsupported: for elements that fill no whole number of bytes, and for empty tensors.
    """
    first = tensors[0]
    for tensor in tensors:
        if tensor.dtype is not first.dtype:
            raise context.invalid(
                f"{tensor.label} is {tensor.dtype.value} but {first.label} {first.dtype.value}"
            )
        if not tensor.elements:
            raise context.unsupported(
                f"{tensor.label} is empty", "remove this operator from the model"
            )
    if first.dtype.bits < 8:
        raise context.unsupported(
            f"{first.label} is {first.dtype.value}",
            "only types of whole bytes are supported here, so quantise the model to int8",
        )
    return first.dtype.size


def constant_ints(context: OpContext, tensor: Tensor) -> tuple[int, ...]:
    """The values of a constant index tensor, flat.

    Raises:
        Unsupported: if it is computed at run time.
        InvalidModel: if it holds no integers.
    """
    if not tensor.elements:  # whatever computes it, and files hold no data for it
        return ()
    values = context.require_constant(tensor).reshape(-1)
    if values.dtype.kind not in "iu":
        raise context.invalid(f"{tensor.label} is {tensor.dtype.value}, not an integer")
    return tuple(int(v) for v in values)


def resolved_axis(context: OpContext, axis: int, rank: int) -> int:
    """`axis` counted from the front.

    Raises:
        InvalidModel: if a tensor of that rank has no such axis.
    """
    if not -rank <= axis < rank:
        raise context.invalid(f"axis {axis} does not exist in {rank} dimensions")
    return axis % rank


def one_axis(context: OpContext, tensor: Tensor, rank: int) -> int:
    """The axis that a constant of one element names, counted from the front.

    Raises:
        Unsupported: if it is computed at run time.
        InvalidModel: if it is not one axis of such a tensor.
    """
    values = constant_ints(context, tensor)
    if len(values) != 1:
        raise context.invalid(f"{tensor.label} holds {len(values)} axes instead of one")
    return resolved_axis(context, values[0], rank)


def block_size(context: OpContext) -> int:
    """The side of the squares that DEPTH_TO_SPACE and SPACE_TO_DEPTH spread or gather.

    Raises:
        InvalidModel: if it is below 1, or the first input has not four dimensions.
    """
    x, size = context.input(0), context.int_option("block_size")
    if size < 1:
        raise context.invalid(f"option block_size is {size}")
    if len(x.shape) != 4:
        raise context.invalid(f"{x.label} {x.describe()} has not four dimensions")
    return size


def part_of(whole: Tensor, start: Sequence[int], size: Sequence[int]) -> Access | None:
    """The box of `size` at `start` of a tensor, which lists one entry per axis.

    Shapes of rank 4 and below keep their axes; in longer ones every axis that is taken whole is
    joined to the one before it. None if more than four axes remain.
    """
    axes = list(zip(whole.shape, start, size, strict=True))
    if len(axes) > 4:
        joined: list[tuple[int, int, int]] = []
        for full, first, count in axes:
            if joined and count == full:
                joined[-1] = (joined[-1][0] * full, joined[-1][1] * full, joined[-1][2] * full)
            else:
                joined.append((full, first, count))
        axes = joined
    if len(axes) > 4:
        return None
    padded = [(1, 0, 1)] * (4 - len(axes)) + axes
    full_map, corner, extent = (_as_map([axis[k] for axis in padded]) for k in range(3))
    return Access(whole.index, full_map, box=Box(corner, extent))


def _as_map(values: Sequence[int]) -> Map:
    n, h, w, c = values
    return n, h, w, c


def slice_calls(context: OpContext, x: Tensor, y: Tensor, start: Sequence[int]) -> tuple[Call, ...]:
    """Copy the part of `x` at `start` that has the shape of `y`.

    Raises:
        Unsupported: if it cuts too many axes.
    """
    part = part_of(x, start, y.shape)
    if part is not None:
        return (copy_call(part, Access(y.index, part.extent), x.dtype.size),)
    strides = strides_of(x.shape)
    first = sum(i * s for i, s in zip(start, strides, strict=True))
    return gather_calls(context, x, y, first, list(zip(y.shape, strides, strict=True)))


def gather_calls(
    context: OpContext, x: Tensor, y: Tensor, start: int, axes: Sequence[tuple[int, int]]
) -> tuple[Call, ...]:
    """Fill `y` in order from elements of `x`: `start` + sum of index * stride.

    Args:
        context: names the node in the error.
        x: read as one flat row of elements.
        y: written densely.
        start: the element of `x` that comes first.
        axes: (size, stride in elements of x) of every axis of y, outermost first.

    Returns:
        One call, or one per index of the outermost axes that the kernel cannot walk by itself.

    Raises:
        Unsupported: if those are too many.
    """
    joined = joined_axes(axes)
    padded = [(1, 0)] * (_MAX_AXES - len(joined)) + joined
    outer, inner = padded[:-_MAX_AXES], padded[-_MAX_AXES:]
    if math.prod(size for size, _ in outer) > _MAX_CALLS:
        raise context.unsupported(
            f"moving {len(joined)} independent axes at once is not supported",
            f"use two operators that move at most {_MAX_AXES} axes each",
        )
    places = itertools.product(*(range(size) for size, _ in outer))
    starts = [start + sum(i * s for i, (_, s) in zip(at, outer, strict=True)) for at in places]
    return tuple(_gather(x, y, first, inner, (k, len(starts))) for k, first in enumerate(starts))


def _gather(
    x: Tensor, y: Tensor, start: int, axes: Sequence[tuple[int, int]], part: tuple[int, int]
) -> Call:
    """Fill the k-th of n equal parts (k, n) of `y` by one walk along exactly `_MAX_AXES` axes."""
    *outer, (width, pixel_stride), (channels, element_stride) = axes
    rows = math.prod(size for size, _ in outer)
    params: list[tuple[str, Param]] = [("element_bytes", x.dtype.size), ("start", start)]
    for i, (size, stride) in enumerate(outer):
        params += [(f"size{i}", size)] * (i > 0) + [(f"stride{i}", stride)]
    params += [("pixel_stride", pixel_stride), ("element_stride", element_stride)]
    k, parts = part
    box = Box((0, k * rows, 0, 0), (1, rows, width, channels)) if parts > 1 else None
    return Call(
        kernel="cg_gather",
        header="cg_gather.h",
        args="cg_gather_args",
        params=tuple(params),
        inputs=(flat(x),),
        outputs=(Access(y.index, (1, parts * rows, width, channels), box=box),),
    )


def flat(tensor: Tensor) -> Access:
    """A tensor as one row of elements without gaps, all of which every output row may need."""
    return Access(tensor.index, (1, 1, 1, tensor.elements), rows=all_rows(1), dense=True)


def joined_axes(axes: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The same walk with fewer axes: those of size 1 dropped, evenly continued ones joined."""
    joined: list[tuple[int, int]] = []
    for size, stride in axes:
        if size == 1:
            continue
        if joined and joined[-1][1] == size * stride:
            joined[-1] = (joined[-1][0] * size, stride)
        else:
            joined.append((size, stride))
    return joined


def strides_of(shape: Sequence[int]) -> list[int]:
    """Elements between neighbours along each axis of a dense tensor."""
    return [math.prod(shape[i + 1 :]) for i in range(len(shape))]
