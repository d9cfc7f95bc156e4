"""STRIDED_SLICE: every stride-th element between begin and end of each axis.

Masks are bit sets over the entries of begin, end and strides, with numpy's meaning of
x[b:e:s, ..., newaxis, i]. Source of their interplay: the schema and
tensorflow.org/api_docs/python/tf/strided_slice.
"""

from __future__ import annotations

from dataclasses import dataclass

from codegen.graph import Tensor
from codegen.ops.base import Call, Lowered, OpContext, OpSpec
from codegen.ops.movement import (
    MOVED_TYPES,
    constant_ints,
    gather_calls,
    moved_type,
    slice_calls,
    strides_of,
)


@dataclass(frozen=True)
class Cut:
    """What is taken along one axis of the input; a `dropped` axis is missing in the output."""

    start: int
    count: int
    stride: int = 1
    dropped: bool = False


@dataclass(frozen=True)
class Slicing:
    """One cut per input axis, and the output's shape with its new axes."""

    cuts: tuple[Cut, ...]
    shape: tuple[int, ...]


@dataclass(frozen=True)
class _Entry:
    """One element of begin, end and strides with the mask bits that apply to it."""

    begin: int
    end: int
    stride: int
    open_begin: bool
    open_end: bool
    shrink: bool


def slicing(context: OpContext) -> Slicing:
    """What the node takes of its input.

    Raises:
        Unsupported: for begin, end or strides that are computed at run time.
        InvalidModel: for entries that do not fit the input.
    """
    shape = context.input(0).shape
    begin, end, strides = (constant_ints(context, context.input(i)) for i in (1, 2, 3))
    if not len(begin) == len(end) == len(strides):
        raise context.invalid("begin, end and strides have different lengths")
    mask = {
        name: _bits(context.int_option(f"{name}_mask"), len(begin))
        for name in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")
    }
    if sum(mask["ellipsis"]) > 1:
        raise context.invalid("more than one entry is an ellipsis")
    new = [n and not e for n, e in zip(mask["new_axis"], mask["ellipsis"], strict=True)]
    used = len(begin) - sum(new) - sum(mask["ellipsis"])
    if used > len(shape):
        raise context.invalid(f"{used} entries slice {len(shape)} axes")

    cuts: list[Cut] = []
    out: list[int] = []
    for i in range(len(begin)):
        if mask["ellipsis"][i]:
            whole = shape[len(cuts) : len(cuts) + len(shape) - used]
            cuts += [Cut(0, size) for size in whole]
            out += whole
        elif new[i]:
            out.append(1)
        else:
            stop = begin[i] + end[i] if context.option("offset") else end[i]
            entry = _Entry(
                begin[i],
                stop,
                strides[i],
                mask["begin"][i],
                mask["end"][i],
                mask["shrink_axis"][i],
            )
            cuts.append(_cut(context, entry, shape[len(cuts)]))
            out += [] if cuts[-1].dropped else [cuts[-1].count]
    rest = shape[len(cuts) :]
    return Slicing((*cuts, *(Cut(0, size) for size in rest)), (*out, *rest))


def _bits(mask: int, count: int) -> list[bool]:
    return [bool(mask >> i & 1) for i in range(count)]


def _cut(context: OpContext, entry: _Entry, size: int) -> Cut:
    """Clamped as the reference does: forwards into [0, size], backwards into [-1, size - 1]."""
    low, high = (0, size) if entry.stride > 0 else (-1, size - 1)

    def clamped(position: int) -> int:
        return min(max(position + size * (position < 0), low), high)

    if entry.stride == 0:
        raise context.invalid("a stride is 0")
    forward = entry.stride > 0
    start = (low if forward else high) if entry.open_begin else clamped(entry.begin)
    if entry.shrink:
        if not forward or not 0 <= start < size:
            raise context.invalid(f"index {entry.begin} does not exist in an axis of {size}")
        return Cut(start, 1, 1, dropped=True)
    stop = (high if forward else low) if entry.open_end else clamped(entry.end)
    return Cut(start, max(0, -(-(stop - start) // entry.stride)), entry.stride)


def lower(context: OpContext) -> Lowered:
    """Inputs: x of any shape, begin, end, strides (at most one entry per axis) -> y."""
    x, y = context.input(0), context.output()
    moved_type(context, x, y)
    cut = slicing(context)
    context.require_shape(y, cut.shape)
    steps = ",".join(f"{c.start}:{c.stride}" for c in cut.cuts)
    calls = _calls(context, x, y, cut)
    return Lowered(calls=calls, summary=f"[{steps}]")


def _calls(context: OpContext, x: Tensor, y: Tensor, cut: Slicing) -> tuple[Call, ...]:
    """A box copy where no axis comes or goes and every stride is 1, else a gather."""
    starts = [c.start for c in cut.cuts]
    if all(c.stride == 1 and not c.dropped for c in cut.cuts) and len(x.shape) == len(y.shape):
        return slice_calls(context, x, y, starts)
    strides = strides_of(x.shape)
    first = sum(i * s for i, s in zip(starts, strides, strict=True))
    axes = [(c.count, c.stride * s) for c, s in zip(cut.cuts, strides, strict=True)]
    return gather_calls(context, x, y, first, axes)


SPEC = OpSpec(
    name="STRIDED_SLICE",
    max_version=4,
    lower=lower,
    types=MOVED_TYPES,
    notes="constant begin, end and strides; all masks",
)
