"""REDUCE_ANY: whether any element along some axes holds."""

from __future__ import annotations

from codegen.graph import DType
from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.reduction import reduced, reduction


def lower(context: OpContext) -> Lowered:
    """Shapes: x of any shape, axes[k] -> y, x's shape without these axes (or 1 there)."""
    return reduced(context, reduction(context, (DType.BOOL,)), "cg_reduce_any_b8")


SPEC = OpSpec(
    name="REDUCE_ANY",
    max_version=1,
    lower=lower,
    types=(DType.BOOL,),
    notes="constant axes",
)
