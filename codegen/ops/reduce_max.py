"""REDUCE_MAX: the largest element along any axes; codes keep their scale."""

from __future__ import annotations

from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.extremes import EXTREME_TYPES, extreme


def lower(context: OpContext) -> Lowered:
    """Shapes: x of any shape, axes[k] -> y, x's shape without these axes (or 1 there)."""
    return extreme(context, "cg_reduce_max", "cg_reduce_any_b8")


SPEC = OpSpec(
    name="REDUCE_MAX",
    max_version=3,
    lower=lower,
    types=EXTREME_TYPES,
    notes="constant axes; codes of one scale",
)
