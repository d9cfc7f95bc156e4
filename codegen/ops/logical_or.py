"""LOGICAL_OR: either or both, with broadcasting."""

from __future__ import annotations

from codegen.graph import DType
from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.broadcast import Kernel, broadcast_calls, operand_summary, operands_of

KERNEL = Kernel("cg_logical_or_b8", "cg_logical.h", "cg_binary_args")


def lower(context: OpContext) -> Lowered:
    """Shapes: a and b of any shapes that broadcast -> y of the common one."""
    tensors = operands_of(context, DType.BOOL)
    return Lowered(calls=broadcast_calls(KERNEL, tensors), summary=operand_summary(*tensors))


SPEC = OpSpec(
    name="LOGICAL_OR",
    max_version=1,
    lower=lower,
    types=(DType.BOOL,),
    notes="broadcasting",
)
