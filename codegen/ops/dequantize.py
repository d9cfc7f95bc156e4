"""DEQUANTIZE: int8 or uint8 to float32, scale * (x - zero point)."""

from __future__ import annotations

from codegen.graph import DType
from codegen.ops.base import Alias, Call, Lowered, OpContext, OpSpec, whole


def lower(context: OpContext) -> Lowered:
    """Shapes: x of any shape -> y of the same."""
    x, y = context.input(0), context.output()
    context.require_type(x, DType.INT8, DType.UINT8)
    context.require_type(y, DType.FLOAT32)
    context.require_shape(y, x.shape)
    quant = context.require_quant(x)
    flip = 128 if x.dtype is DType.INT8 else 0
    call = Call(
        kernel="cg_dequantize_8",
        header="cg_dequantize.h",
        args="cg_dequantize_args",
        params=(("scale", quant.scale), ("flip", flip), ("offset", quant.zero_point + flip)),
        inputs=(whole(x, Alias.ELEMENT),),
        outputs=(whole(y),),
        pointwise=True,
    )
    return Lowered(calls=(call,), summary=f"{x.dtype.value} to {y.dtype.value}")


SPEC = OpSpec(
    name="DEQUANTIZE",
    max_version=7,
    lower=lower,
    types=(DType.INT8, DType.UINT8),
    notes="to float32, with one scale per tensor",
)
