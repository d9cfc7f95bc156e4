"""SLICE: a box of the input."""

from __future__ import annotations

from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.movement import MOVED_TYPES, constant_ints, moved_type, slice_calls


def lower(context: OpContext) -> Lowered:
    """Inputs: x of any shape, begin[rank], size[rank] (-1: all that follows) -> y[size]."""
    x, y = context.input(0), context.output()
    moved_type(context, x, y)
    begin, size = (constant_ints(context, context.input(i)) for i in (1, 2))
    if len(begin) != len(x.shape) or len(size) != len(x.shape):
        raise context.invalid(f"begin or size does not have {len(x.shape)} elements")
    taken = tuple(
        full - first if count == -1 else count
        for full, first, count in zip(x.shape, begin, size, strict=True)
    )
    for full, first, count in zip(x.shape, begin, taken, strict=True):
        if first < 0 or count < 0 or first + count > full:
            raise context.invalid(f"{count} elements from {first} leave an axis of {full}")
    context.require_shape(y, taken)
    calls = slice_calls(context, x, y, begin)
    return Lowered(calls=calls, summary=f"from [{','.join(map(str, begin))}]")


SPEC = OpSpec(
    name="SLICE",
    max_version=8,
    lower=lower,
    types=MOVED_TYPES,
    notes="constant begin and size",
)
