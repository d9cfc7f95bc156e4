"""DEQUANTIZE to float32: scale * (x - zero point); half floats as they are."""

from __future__ import annotations

from codegen.graph import DType
from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.elements import SUFFIX, unary_call
from codegen.ops.per_channel import channel_call

TYPES = (DType.INT8, DType.UINT8, DType.INT16, DType.FLOAT16)


def lower(context: OpContext) -> Lowered:
    """Shapes: x of any shape -> y of the same."""
    x, y = context.input(0), context.output()
    context.require_type(x, *TYPES)
    context.require_type(y, DType.FLOAT32)
    context.require_shape(y, x.shape)
    summary = f"{x.dtype.value} to float32"
    if x.dtype is DType.FLOAT16:
        call = unary_call("cg_dequantize_f16", "cg_dequantize.h", x, y)
        return Lowered(calls=(call,), summary=summary)
    if x.quant is not None and x.quant.per_channel and x.dtype is not DType.INT16:
        kernel = f"cg_dequantize_channels_{SUFFIX[x.dtype]}"
        call = channel_call(context, kernel, "cg_dequantize.h", x, y, x)
        return Lowered(calls=(call,), summary=f"{summary} per channel")
    quant = context.require_quant(x)
    params = (("scale", quant.scale), ("zero_point", quant.zero_point))
    kernel = f"cg_dequantize_{SUFFIX[x.dtype]}"
    call = unary_call(kernel, "cg_dequantize.h", x, y, "cg_dequantize_args", params)
    return Lowered(calls=(call,), summary=summary)


SPEC = OpSpec(
    name="DEQUANTIZE",
    max_version=7,
    lower=lower,
    types=TYPES,
    notes="to float32, with one scale per tensor, int8 and uint8 also per channel",
)
