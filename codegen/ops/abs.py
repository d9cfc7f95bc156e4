"""ABS: |x|.

Maths of codes: TFLite's reference `AbsEvalQuantized`: the distance to the zero point times
x scale / y scale, a factor computed in float32; two roundings.
"""

from __future__ import annotations

from codegen.fixed_point import requantize_twice
from codegen.graph import DType, Tensor
from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.elements import SUFFIX, is_quantized, unary_call, unary_operands
from codegen.ops.lookup import lookup
from codegen.ops.requantize import factor, float32_factor

TYPES = (DType.FLOAT32, DType.INT8, DType.INT16, DType.INT32)


def lower(context: OpContext) -> Lowered:
    """Shapes: x of any shape -> y of the same."""
    x, y = unary_operands(context, TYPES)
    if x.dtype is DType.INT8:
        return _tabulated(context, x, y)
    if x.dtype is DType.INT16 and is_quantized(x):
        return _rescaled(context, x, y)
    return Lowered(calls=(unary_call(f"cg_abs_{SUFFIX[x.dtype]}", "cg_sign.h", x, y),))


def _scale(context: OpContext, x: Tensor, y: Tensor) -> tuple[int, int]:
    x_quant, y_quant = context.require_quant(x), context.require_quant(y)
    return factor(context, float32_factor(x_quant.scale, 1.0, y_quant.scale))


def _tabulated(context: OpContext, x: Tensor, y: Tensor) -> Lowered:
    x_zero, y_zero = (context.require_quant(t).zero_point for t in (x, y))
    scale = _scale(context, x, y)
    return lookup(x, y, lambda code: requantize_twice(abs(code - x_zero), *scale) + y_zero)


def _rescaled(context: OpContext, x: Tensor, y: Tensor) -> Lowered:
    if context.require_quant(x).zero_point or context.require_quant(y).zero_point:
        raise context.unsupported(
            f"{x.label} or {y.label} is int16 with a zero point",
            "only 0 is defined, so convert the model again with the TFLite converter",
        )
    multiplier, shift = _scale(context, x, y)
    params = (("multiplier", multiplier), ("shift", shift))
    return Lowered(calls=(unary_call("cg_abs_qs16", "cg_sign.h", x, y, "cg_abs_args", params),))


SPEC = OpSpec(
    name="ABS",
    max_version=3,
    lower=lower,
    types=TYPES,
    notes="any scales",
)
