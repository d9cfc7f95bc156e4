"""READ_VARIABLE: a copy of a variable, where `passes.link_state` could not do without."""

from __future__ import annotations

from codegen.ops.base import Lowered, OpContext, OpSpec, whole
from codegen.ops.copy import copy_call
from codegen.ops.movement import MOVED_TYPES, moved_type


def lower(context: OpContext) -> Lowered:
    """Inputs: the variable's value -> the same."""
    x, y = context.input(0), context.output()
    moved_type(context, x, y)
    context.require_shape(y, x.shape)
    return Lowered(calls=(copy_call(whole(x), whole(y), x.dtype.size),))


SPEC = OpSpec(
    name="READ_VARIABLE",
    max_version=1,
    lower=lower,
    types=MOVED_TYPES,
    notes="no code unless the value has to outlive the next assignment",
)
