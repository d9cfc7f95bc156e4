"""RIGHT_SHIFT: a moved by b bits, which repeat the sign."""

from __future__ import annotations

from codegen.graph import DType
from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.broadcast import Kernel, broadcast_calls, operand_summary, operands_of
from codegen.ops.elements import SUFFIX

TYPES = (DType.INT8, DType.UINT8, DType.INT16, DType.UINT16, DType.INT32, DType.UINT32)


def lower(context: OpContext) -> Lowered:
    """Shapes: a and b of any shapes that broadcast -> y of the common one."""
    tensors = operands_of(context, *TYPES)
    kernel = Kernel(f"cg_right_shift_{SUFFIX[tensors[0].dtype]}", "cg_bits.h", "cg_binary_args")
    return Lowered(calls=broadcast_calls(kernel, tensors), summary=operand_summary(*tensors))


SPEC = OpSpec(
    name="RIGHT_SHIFT",
    max_version=1,
    lower=lower,
    types=TYPES,
    notes="broadcasting",
)
