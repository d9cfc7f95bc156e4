"""FLOOR_DIV: a / b towards minus infinity, with broadcasting; codes are divided as they are."""

from __future__ import annotations

from codegen.graph import DType
from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.broadcast import Kernel, broadcast_calls, operand_summary, operands_of
from codegen.ops.elements import SUFFIX

TYPES = (DType.FLOAT32, DType.INT8, DType.INT16, DType.INT32)


def lower(context: OpContext) -> Lowered:
    """Shapes: a and b of any shapes that broadcast -> y of the common one."""
    tensors = operands_of(context, *TYPES)
    kernel = Kernel(f"cg_floor_div_{SUFFIX[tensors[0].dtype]}", "cg_divide.h", "cg_binary_args")
    return Lowered(calls=broadcast_calls(kernel, tensors), summary=operand_summary(*tensors))


SPEC = OpSpec(
    name="FLOOR_DIV",
    max_version=3,
    lower=lower,
    types=TYPES,
    notes="broadcasting; integers divided by zero give 0",
)
