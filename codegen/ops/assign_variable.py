"""ASSIGN_VARIABLE: what the next run begins with, once `passes.link_state` has resolved handles."""

from __future__ import annotations

from codegen.ops.base import Lowered, OpContext, OpSpec, whole
from codegen.ops.copy import copy_call
from codegen.ops.movement import MOVED_TYPES, moved_type


def lower(context: OpContext) -> Lowered:
    """Inputs: the value, the old value (not read) -> the new value, in the place of the old one."""
    x, y = context.input(0), context.output()
    moved_type(context, x, y)
    context.require_shape(y, x.shape)
    return Lowered(calls=(copy_call(whole(x), whole(y), x.dtype.size),))


SPEC = OpSpec(
    name="ASSIGN_VARIABLE",
    max_version=1,
    lower=lower,
    types=MOVED_TYPES,
    notes="no code where the value can be made in its place",
)
