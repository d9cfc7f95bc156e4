"""LOGICAL_NOT."""

from __future__ import annotations

from codegen.graph import DType
from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.elements import unary_call, unary_operands


def lower(context: OpContext) -> Lowered:
    """Shapes: x of any shape -> y of the same."""
    x, y = unary_operands(context, (DType.BOOL,))
    return Lowered(calls=(unary_call("cg_logical_not_b8", "cg_logical.h", x, y),))


SPEC = OpSpec(
    name="LOGICAL_NOT",
    max_version=1,
    lower=lower,
    types=(DType.BOOL,),
    notes="",
)
