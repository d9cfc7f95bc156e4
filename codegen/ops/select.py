"""SELECT: a where the condition holds, else b; one condition may serve a whole part of a and b."""

from __future__ import annotations

from dataclasses import replace

from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.movement import MOVED_TYPES
from codegen.ops.select_v2 import choice, select


def lower(context: OpContext) -> Lowered:
    """Shapes: condition [] or [d0] or [d0, ...], a and b [d0, ...] -> y [d0, ...]."""
    condition, a, b, y = choice(context)
    for tensor in (a, b):
        context.require_shape(y, tensor.shape)
    if condition.shape not in ((), y.shape[:1], y.shape):
        raise context.invalid(
            f"{condition.label} {condition.describe()} is no condition for {y.describe()}"
        )
    if len(condition.shape) == 1:
        condition = replace(condition, shape=condition.shape + (1,) * (len(y.shape) - 1))
    return select(condition, a, b, y)


SPEC = OpSpec(
    name="SELECT",
    max_version=4,
    lower=lower,
    types=MOVED_TYPES,
    notes="a condition for all, for each element, or for each part along the first axis",
)
