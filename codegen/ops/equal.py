"""EQUAL: a == b."""

from __future__ import annotations

from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.comparison import EQUAL_TYPES, equality


def lower(context: OpContext) -> Lowered:
    """Shapes: a and b of any shapes that broadcast -> y, bool, of the common one."""
    return equality(context, "equal")


SPEC = OpSpec(
    name="EQUAL",
    max_version=5,
    lower=lower,
    types=EQUAL_TYPES,
    notes="broadcasting; 8-bit scales below 1; the result is bool",
)
