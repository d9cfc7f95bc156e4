"""REVERSE_V2: axes walked from their end."""

from __future__ import annotations

from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.movement import (
    MOVED_TYPES,
    constant_ints,
    gather_calls,
    moved_type,
    resolved_axis,
    strides_of,
)


def reversed_axes(context: OpContext) -> frozenset[int]:
    """The axes to turn round.

    Raises:
        Unsupported: if they are computed at run time.
        InvalidModel: if the input lacks one.
    """
    rank = len(context.input(0).shape)
    return frozenset(
        resolved_axis(context, axis, rank) for axis in constant_ints(context, context.input(1))
    )


def lower(context: OpContext) -> Lowered:
    """Inputs: x of any shape, axes[k] -> y of the same shape."""
    x, y = context.input(0), context.output()
    moved_type(context, x, y)
    context.require_shape(y, x.shape)
    turned = reversed_axes(context)
    strides = strides_of(x.shape)
    start = sum((x.shape[a] - 1) * strides[a] for a in turned)
    axes = [
        (size, -stride if a in turned else stride)
        for a, (size, stride) in enumerate(zip(x.shape, strides, strict=True))
    ]
    calls = gather_calls(context, x, y, start, axes)
    return Lowered(calls=calls, summary=f"axes [{','.join(map(str, sorted(turned)))}]")


SPEC = OpSpec(
    name="REVERSE_V2",
    max_version=3,
    lower=lower,
    types=MOVED_TYPES,
    notes="constant axes",
)
