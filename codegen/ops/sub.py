"""SUB with broadcasting and a fused activation; the arithmetic is ADD's."""

from __future__ import annotations

from codegen.ops.add import TYPES, sum_of
from codegen.ops.base import Lowered, OpContext, OpSpec


def lower(context: OpContext) -> Lowered:
    """Shapes: a and b of any shapes that broadcast -> y of the common one."""
    return sum_of(context, -1)


SPEC = OpSpec(
    name="SUB",
    max_version=5,
    lower=lower,
    types=TYPES,
    notes="broadcasting, fused activation",
)
