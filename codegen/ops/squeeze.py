"""SQUEEZE: axes of size 1 taken away, a view wherever lifetimes allow."""

from __future__ import annotations

from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.copy import reshaped_copy
from codegen.ops.movement import MOVED_TYPES, moved_type, resolved_axis


def lower(context: OpContext) -> Lowered:
    """Shapes: x -> y without the axes of `squeeze_dims`, or without every axis of size 1."""
    x, y = context.input(0), context.output()
    moved_type(context, x, y)
    dims = context.option("squeeze_dims") or ()
    if not isinstance(dims, tuple):
        raise context.invalid(f"option squeeze_dims is {dims!r}, not a list of axes")
    axes = {resolved_axis(context, int(d), len(x.shape)) for d in dims}
    for axis in axes:
        if x.shape[axis] != 1:
            raise context.invalid(f"axis {axis} of {x.describe()} is not of size 1")
    if not dims:
        axes = {i for i, size in enumerate(x.shape) if size == 1}
    context.require_shape(y, tuple(s for i, s in enumerate(x.shape) if i not in axes))
    return Lowered(calls=(reshaped_copy(x, y),), view_of=x.index)


SPEC = OpSpec(
    name="SQUEEZE",
    max_version=1,
    lower=lower,
    types=MOVED_TYPES,
    notes="a view where lifetimes allow",
)
