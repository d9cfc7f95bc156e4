"""L2_POOL_2D, float32: the square root of the mean square inside the map."""

from __future__ import annotations

from codegen.graph import DType
from codegen.ops.base import Alias, Call, Lowered, OpContext, OpSpec, whole
from codegen.ops.float32 import float_clamp_params
from codegen.ops.pooling import pool_window
from codegen.ops.requantize import fused_activation

TYPES = (DType.FLOAT32,)


def lower(context: OpContext) -> Lowered:
    """Shapes: x[n,h,w,c] -> y[n,oh,ow,c]."""
    x, y, view = pool_window(context, TYPES)
    call = Call(
        kernel="cg_l2_pool_2d_f32",
        header="cg_l2_pool_2d_f32.h",
        args="cg_pool_2d_f32_args",
        params=(*view.params(), *float_clamp_params(context)),
        inputs=(whole(x, Alias.ROW, view.h.rows),),
        outputs=(whole(y),),
    )
    return Lowered(calls=(call,), summary=f"{view.summary()} {fused_activation(context)}")


SPEC = OpSpec(
    name="L2_POOL_2D",
    max_version=1,
    lower=lower,
    types=TYPES,
    notes="any window, stride, padding and fused activation",
)
