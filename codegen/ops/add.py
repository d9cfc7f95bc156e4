"""ADD with broadcasting and a fused activation.

Maths, int8: TFLite's reference `Add`: operands with 20 more bits at twice the larger scale, two
roundings at each of the three changes of scale.
"""

from __future__ import annotations

from codegen.graph import DType
from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.broadcast import Kernel, broadcast_calls, operand_summary, operands_of
from codegen.ops.float32 import float_binary
from codegen.ops.requantize import clamp_params, factor, fused_activation

KERNEL = Kernel("cg_add_s8", "cg_add.h", "cg_add_args")
EXTRA_BITS = 20
TYPES = (DType.INT8, DType.FLOAT32)


def sum_of(context: OpContext, sign: int) -> Lowered:
    """a + sign * b.

    Shapes: a and b of any shapes that broadcast -> y of the common one.
    """
    operands = a, b, y = operands_of(context, *TYPES)
    if a.dtype is DType.FLOAT32:
        return float_binary(context, "cg_add_f32" if sign > 0 else "cg_sub_f32", operands)
    a_quant, b_quant, y_quant = (context.require_quant(t) for t in operands)
    common = 2 * max(a_quant.scale, b_quant.scale)
    a_multiplier, a_shift = factor(context, a_quant.scale / common)
    b_multiplier, b_shift = factor(context, b_quant.scale / common)
    multiplier, shift = factor(context, common / (2**EXTRA_BITS * y_quant.scale), limit=1.0)
    params = (
        ("sign", sign),
        ("a_offset", -a_quant.zero_point),
        ("b_offset", -b_quant.zero_point),
        ("output_offset", y_quant.zero_point),
        ("a_multiplier", a_multiplier),
        ("a_shift", a_shift),
        ("b_multiplier", b_multiplier),
        ("b_shift", b_shift),
        ("multiplier", multiplier),
        ("shift", shift),
        *clamp_params(context, y),
    )
    words = (operand_summary(a, b, y), fused_activation(context))
    return Lowered(
        calls=broadcast_calls(KERNEL, operands, params), summary=" ".join(filter(None, words))
    )


def lower(context: OpContext) -> Lowered:
    """Shapes: a and b of any shapes that broadcast -> y of the common one."""
    return sum_of(context, 1)


SPEC = OpSpec(
    name="ADD",
    max_version=5,
    lower=lower,
    types=TYPES,
    notes="broadcasting, fused activation",
)
