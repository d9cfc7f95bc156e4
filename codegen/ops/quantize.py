"""QUANTIZE: float32 to int8 or uint8, and between these two with any scales.

Maths: TFLite's reference `AffineQuantize` (a float32 division, halves away from zero) and
`Requantize` (one factor, in double, two roundings).
"""

from __future__ import annotations

from codegen.fixed_point import integer_range, requantize_twice
from codegen.graph import DType, Tensor
from codegen.ops.base import Alias, Call, Lowered, OpContext, OpSpec, whole
from codegen.ops.lookup import lookup
from codegen.ops.requantize import factor


def lower(context: OpContext) -> Lowered:
    """Shapes: x of any shape -> y of the same."""
    x, y = context.input(0), context.output()
    context.require_type(x, DType.FLOAT32, DType.INT8, DType.UINT8)
    context.require_type(y, DType.INT8, DType.UINT8)
    context.require_shape(y, x.shape)
    summary = f"{x.dtype.value} to {y.dtype.value}"
    if x.dtype is DType.FLOAT32:
        return Lowered(calls=(_from_float(context, x, y),), summary=summary)
    x_quant, y_quant = context.require_quant(x), context.require_quant(y)
    scale = factor(context, x_quant.scale / y_quant.scale)

    def result(code: int) -> int:
        return requantize_twice(code - x_quant.zero_point, *scale) + y_quant.zero_point

    return lookup(x, y, result, summary)


def _from_float(context: OpContext, x: Tensor, y: Tensor) -> Call:
    quant = context.require_quant(y)
    low, high = integer_range(y.dtype)
    return Call(
        kernel="cg_quantize_f32",
        header="cg_quantize.h",
        args="cg_quantize_args",
        params=(
            ("scale", quant.scale),
            ("zero_point", quant.zero_point),
            ("low", low),
            ("high", high),
        ),
        inputs=(whole(x, Alias.ELEMENT),),
        outputs=(whole(y),),
        pointwise=True,
    )


SPEC = OpSpec(
    name="QUANTIZE",
    max_version=6,
    lower=lower,
    types=(DType.FLOAT32, DType.INT8, DType.UINT8),
    notes="to int8 or uint8, with one scale per tensor",
)
