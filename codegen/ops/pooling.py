"""What AVERAGE_POOL_2D and MAX_POOL_2D share: all but the kernel."""

from __future__ import annotations

from codegen.graph import DType
from codegen.ops.base import Alias, Call, Lowered, OpContext, whole
from codegen.ops.requantize import clamp_params, fused_activation
from codegen.ops.spatial import window


def lower_pool(context: OpContext, kernel: str) -> Lowered:
    """Shapes: x[n,h,w,c] -> y[n,oh,ow,c].

    Codes are pooled as they are; the reference does not look at the input's scale either.
    """
    x, y = context.input(0), context.output()
    for tensor in (x, y):
        context.require_type(tensor, DType.INT8)
    if len(x.shape) != 4:
        raise context.invalid(f"{x.label} must have four dimensions")
    n, h, w, channels = x.shape
    size = (context.int_option("filter_height"), context.int_option("filter_width"))
    view = window(context, (h, w), size)
    context.require_shape(y, (n, view.h.out, view.w.out, channels))
    call = Call(
        kernel=kernel,
        header="cg_pool_2d.h",
        args="cg_pool_2d_args",
        params=(*view.params(), *clamp_params(context, y)),
        inputs=(whole(x, Alias.ROW, view.h.rows),),
        outputs=(whole(y),),
    )
    return Lowered(calls=(call,), summary=f"{view.summary()} {fused_activation(context)}")
