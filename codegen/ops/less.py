"""LESS: a < b."""

from __future__ import annotations

from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.comparison import ORDERED_TYPES, ordering


def lower(context: OpContext) -> Lowered:
    """Shapes: a and b of any shapes that broadcast -> y, bool, of the common one."""
    return ordering(context, "less")


SPEC = OpSpec(
    name="LESS",
    max_version=3,
    lower=lower,
    types=ORDERED_TYPES,
    notes="broadcasting; 8-bit scales below 1; the result is bool",
)
