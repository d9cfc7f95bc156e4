"""ATAN2: the angle of the point (b, a), with the sign of a; both of one shape."""

from __future__ import annotations

from codegen.graph import DType
from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.broadcast import Kernel, broadcast_calls, operand_summary, operands_of

TYPES = (DType.FLOAT32,)


def lower(context: OpContext) -> Lowered:
    """Shapes: a, b -> y, all of one shape, as the reference does not broadcast."""
    tensors = operands_of(context, *TYPES)
    if tensors[0].shape != tensors[1].shape:
        raise context.invalid(f"{tensors[0].describe()} and {tensors[1].describe()} differ")
    kernel = Kernel("cg_atan2_f32", "cg_power.h", "cg_binary_args")
    return Lowered(calls=broadcast_calls(kernel, tensors), summary=operand_summary(*tensors))


SPEC = OpSpec(
    name="ATAN2",
    max_version=1,
    lower=lower,
    types=TYPES,
    notes="operands of one shape",
)
