"""EXPAND_DIMS: one more axis of size 1, a view wherever lifetimes allow."""

from __future__ import annotations

from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.copy import reshaped_copy
from codegen.ops.movement import MOVED_TYPES, moved_type, one_axis


def lower(context: OpContext) -> Lowered:
    """Inputs: x of any shape, axis (scalar) -> y with a 1 before that axis of x."""
    x, axis_tensor, y = context.input(0), context.input(1), context.output()
    moved_type(context, x, y)
    axis = one_axis(context, axis_tensor, len(x.shape) + 1)
    context.require_shape(y, (*x.shape[:axis], 1, *x.shape[axis:]))
    return Lowered(calls=(reshaped_copy(x, y),), view_of=x.index)


SPEC = OpSpec(
    name="EXPAND_DIMS",
    max_version=1,
    lower=lower,
    types=MOVED_TYPES,
    notes="a view where lifetimes allow",
)
