"""MAXIMUM, int8, with broadcasting.

The reference compares the codes as they are and does not look at the scales; neither does this.
"""

from __future__ import annotations

from codegen.graph import DType
from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.broadcast import Kernel, broadcast_calls, int8_operands, operand_summary

KERNEL = Kernel("cg_maximum_s8", "cg_maximum.h", "cg_maximum_args")


def lower(context: OpContext) -> Lowered:
    """Shapes: a and b of any shapes that broadcast -> y of the common one."""
    operands = int8_operands(context)
    return Lowered(calls=broadcast_calls(KERNEL, operands, ()), summary=operand_summary(*operands))


SPEC = OpSpec(
    name="MAXIMUM",
    max_version=4,
    lower=lower,
    types=(DType.INT8,),
    notes="broadcasting",
)
