"""MUL with broadcasting and a fused activation.

Maths, int8: TFLite's reference `Mul`: the product of the distances to the zero points times
a scale * b scale / y scale, a factor computed in float32; two roundings.
"""

from __future__ import annotations

from codegen.graph import DType
from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.broadcast import Kernel, broadcast_calls, operand_summary, operands_of
from codegen.ops.codes import CODES, SUFFIXES
from codegen.ops.float32 import float_binary
from codegen.ops.int16 import require_symmetric
from codegen.ops.integers import INTEGERS, integer_binary
from codegen.ops.requantize import clamp_params, fused_activation, product_factor

TYPES = (*CODES, *INTEGERS, DType.FLOAT32)


def lower(context: OpContext) -> Lowered:
    """Shapes: a and b of any shapes that broadcast -> y of the common one."""
    operands = a, b, y = operands_of(context, *TYPES)
    if a.dtype is DType.FLOAT32:
        return float_binary(context, "cg_mul_f32", operands)
    if a.dtype in INTEGERS:
        return integer_binary(context, "mul", operands)
    if a.dtype is DType.INT16:
        require_symmetric(context, *operands)
    a_quant, b_quant = (context.require_quant(t, zero_scale=True) for t in (a, b))
    y_quant = context.require_quant(y)
    scales = (quant.scale for quant in (a_quant, b_quant, y_quant))
    multiplier, shift = product_factor(context, *scales)
    params = (
        ("a_offset", -a_quant.zero_point),
        ("b_offset", -b_quant.zero_point),
        ("output_offset", y_quant.zero_point),
        ("multiplier", multiplier),
        ("shift", shift),
        *clamp_params(context, y),
    )
    kernel = Kernel(f"cg_mul_{SUFFIXES[a.dtype]}", "cg_mul.h", "cg_mul_args")
    words = (operand_summary(a, b, y), fused_activation(context))
    return Lowered(
        calls=broadcast_calls(kernel, operands, params), summary=" ".join(filter(None, words))
    )


SPEC = OpSpec(
    name="MUL",
    max_version=7,
    lower=lower,
    types=TYPES,
    notes="broadcasting, fused activation",
)
