"""MAXIMUM with broadcasting.

The reference compares codes as they are and does not look at the scales; neither does this.
"""

from __future__ import annotations

from codegen.graph import DType
from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.broadcast import Kernel, broadcast_calls, operand_summary, operands_of
from codegen.ops.codes import CODES
from codegen.ops.elements import SUFFIX
from codegen.ops.float32 import float_binary
from codegen.ops.integers import INTEGERS

TYPES = (*CODES, *INTEGERS, DType.FLOAT32)


def lower(context: OpContext) -> Lowered:
    """Shapes: a and b of any shapes that broadcast -> y of the common one."""
    operands = operands_of(context, *TYPES)
    if operands[0].dtype is DType.FLOAT32:
        return float_binary(context, "cg_maximum_f32", operands, clamped=False)
    kernel = Kernel(f"cg_maximum_{SUFFIX[operands[0].dtype]}", "cg_maximum.h", "cg_binary_args")
    return Lowered(calls=broadcast_calls(kernel, operands), summary=operand_summary(*operands))


SPEC = OpSpec(
    name="MAXIMUM",
    max_version=4,
    lower=lower,
    types=TYPES,
    notes="broadcasting",
)
