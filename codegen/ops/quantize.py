"""QUANTIZE: float32 to codes, and codes to others of any scale.

Maths: TFLite's reference `AffineQuantize` (a float32 division, halves away from zero) and
`Requantize` (one factor, in double, two roundings).
"""

from __future__ import annotations

from codegen.fixed_point import requantize_twice
from codegen.graph import DType, Tensor
from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.elements import SUFFIX, unary_call
from codegen.ops.lookup import lookup
from codegen.ops.per_channel import channel_call
from codegen.ops.requantize import factor

_RESULTS = {
    DType.FLOAT32: (DType.INT8, DType.UINT8, DType.INT16),
    DType.INT8: (DType.INT8, DType.UINT8, DType.INT16),
    DType.UINT8: (DType.INT8, DType.UINT8, DType.INT16),
    DType.INT16: (DType.INT8, DType.INT16, DType.INT32),
    DType.INT32: (DType.INT8, DType.INT16),
}
"""What each type may become."""


def lower(context: OpContext) -> Lowered:
    """Shapes: x of any shape -> y of the same."""
    x, y = context.input(0), context.output()
    context.require_type(x, *_RESULTS)
    context.require_type(y, *_RESULTS[x.dtype])
    context.require_shape(y, x.shape)
    summary = f"{x.dtype.value} to {y.dtype.value}"
    if x.dtype is DType.FLOAT32:
        return _from_float(context, x, y, summary)
    return _from_codes(context, x, y, summary)


def _from_float(context: OpContext, x: Tensor, y: Tensor, summary: str) -> Lowered:
    if y.quant is not None and y.quant.per_channel:
        kernel = f"cg_quantize_channels_{SUFFIX[y.dtype]}"
        call = channel_call(context, kernel, "cg_quantize.h", x, y, y)
        return Lowered(calls=(call,), summary=f"{summary} per channel")
    quant = context.require_quant(y)
    params = (("scale", quant.scale), ("zero_point", quant.zero_point))
    kernel = f"cg_quantize_f32_{SUFFIX[y.dtype]}"
    call = unary_call(kernel, "cg_quantize.h", x, y, "cg_quantize_args", params)
    return Lowered(calls=(call,), summary=summary)


def _from_codes(context: OpContext, x: Tensor, y: Tensor, summary: str) -> Lowered:
    """Between types of 8 bits by a table of results, else by arithmetic."""
    x_quant, y_quant = context.require_quant(x), context.require_quant(y)
    multiplier, shift = factor(context, x_quant.scale / y_quant.scale)

    def result(code: int) -> int:
        scaled = requantize_twice(code - x_quant.zero_point, multiplier, shift)
        return scaled + y_quant.zero_point

    if x.dtype.bits == y.dtype.bits == 8:
        return lookup(x, y, result, summary)
    params = (
        ("input_offset", -x_quant.zero_point),
        ("output_offset", y_quant.zero_point),
        ("multiplier", multiplier),
        ("shift", shift),
    )
    kernel = f"cg_requantize_{SUFFIX[x.dtype]}_{SUFFIX[y.dtype]}"
    call = unary_call(kernel, "cg_requantize.h", x, y, "cg_requantize_args", params)
    return Lowered(calls=(call,), summary=summary)


SPEC = OpSpec(
    name="QUANTIZE",
    max_version=6,
    lower=lower,
    types=tuple(_RESULTS),
    notes=(
        "float32, int8 and uint8 to int8, uint8 or int16; int16 to int8, int16 or int32; int32 to "
        "int8 or int16; with one scale per tensor, from float32 also per channel"
    ),
)
