"""ADD, SUB and MUL of plain int32 and int64 numbers, which wrap around like the reference's."""

from __future__ import annotations

from codegen.fixed_point import ACTIVATION_CLAMPS, integer_range
from codegen.graph import DType, Tensor
from codegen.ops.base import Lowered, OpContext
from codegen.ops.broadcast import Kernel, broadcast_calls, operand_summary
from codegen.ops.elements import SUFFIX
from codegen.ops.requantize import fused_activation

INTEGERS = (DType.INT32, DType.INT64)


def integer_binary(
    context: OpContext, name: str, operands: tuple[Tensor, Tensor, Tensor]
) -> Lowered:
    """The operator called `name` in C of `operands` = (a, b, y)."""
    activation = fused_activation(context)
    bounds = zip(ACTIVATION_CLAMPS[activation], integer_range(operands[0].dtype), strict=True)
    low, high = (end if bound is None else int(bound) for bound, end in bounds)
    kernel = Kernel(
        f"cg_{name}_{SUFFIX[operands[0].dtype]}", "cg_arithmetic.h", "cg_arithmetic_args"
    )
    words = (operand_summary(*operands), activation)
    return Lowered(
        calls=broadcast_calls(kernel, operands, (("act_min", low), ("act_max", high))),
        summary=" ".join(filter(None, words)),
    )
