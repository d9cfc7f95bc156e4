"""ARG_MAX: where along an axis the largest element stands, the first of equals."""

from __future__ import annotations

from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.extremes import ARG_TYPES, position


def lower(context: OpContext) -> Lowered:
    """Shapes: x of any shape, axis[1] -> y, x's shape without this axis; int32 or int64."""
    return position(context, "cg_arg_max")


SPEC = OpSpec(
    name="ARG_MAX",
    max_version=2,
    lower=lower,
    types=ARG_TYPES,
    notes="constant axis, indices int32 or int64",
)
