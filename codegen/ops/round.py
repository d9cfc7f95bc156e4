"""ROUND: to the nearest integer, halves to the even one."""

from __future__ import annotations

from codegen.graph import DType
from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.curves import float_only


def lower(context: OpContext) -> Lowered:
    """Shapes: x of any shape -> y of the same."""
    return float_only(context, "cg_round_half_even_f32")


SPEC = OpSpec(
    name="ROUND",
    max_version=1,
    lower=lower,
    types=(DType.FLOAT32,),
    notes="",
)
