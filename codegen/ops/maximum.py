"""MAXIMUM with broadcasting.

The reference compares codes as they are and does not look at the scales; neither does this.
"""

from __future__ import annotations

from codegen.graph import DType
from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.broadcast import Kernel, broadcast_calls, operand_summary, operands_of
from codegen.ops.float32 import float_binary

KERNEL = Kernel("cg_maximum_s8", "cg_maximum.h", "cg_maximum_args")
TYPES = (DType.INT8, DType.FLOAT32)


def lower(context: OpContext) -> Lowered:
    """Shapes: a and b of any shapes that broadcast -> y of the common one."""
    operands = operands_of(context, *TYPES)
    if operands[0].dtype is DType.FLOAT32:
        return float_binary(context, "cg_maximum_f32", operands, clamped=False)
    return Lowered(calls=broadcast_calls(KERNEL, operands, ()), summary=operand_summary(*operands))


SPEC = OpSpec(
    name="MAXIMUM",
    max_version=4,
    lower=lower,
    types=TYPES,
    notes="broadcasting",
)
