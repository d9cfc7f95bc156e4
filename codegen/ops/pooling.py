"""What the pools share: the window, and of AVERAGE_POOL_2D and MAX_POOL_2D all but the kernel."""

from __future__ import annotations

from collections.abc import Sequence

from codegen.fixed_point import integer_range
from codegen.graph import DType, Tensor
from codegen.ops.base import Alias, Call, Lowered, OpContext, whole
from codegen.ops.codes import CODES, SUFFIXES
from codegen.ops.float32 import float_clamp_params
from codegen.ops.requantize import clamp_params, fused_activation
from codegen.ops.spatial import Window, window

TYPES = (*CODES, DType.FLOAT32)


def lower_pool(context: OpContext, kernel: str) -> Lowered:
    """Shapes: x[n,h,w,c] -> y[n,oh,ow,c]; `kernel` is the C function without its type's suffix.

    Codes are pooled as they are; the reference does not look at the input's scale either.
    """
    x, y, view = pool_window(context, TYPES)
    float_type = x.dtype is DType.FLOAT32
    clamp = float_clamp_params(context) if float_type else clamp_params(context, y)
    if not float_type:
        taps = min(view.h.kernel, view.h.size) * min(view.w.kernel, view.w.size)
        _require_small_sums(context, x, taps)
    call = Call(
        kernel=f"{kernel}_{'f32' if float_type else SUFFIXES[x.dtype]}",
        header="cg_pool_2d_f32.h" if float_type else "cg_pool_2d.h",
        args="cg_pool_2d_f32_args" if float_type else "cg_pool_2d_args",
        params=(*view.params(), *clamp),
        inputs=(whole(x, Alias.ROW, view.h.rows),),
        outputs=(whole(y),),
    )
    return Lowered(calls=(call,), summary=f"{view.summary()} {fused_activation(context)}")


def pool_window(context: OpContext, types: Sequence[DType]) -> tuple[Tensor, Tensor, Window]:
    """Input, output, both of one of `types`, and the window that slides over the input.

    Raises:
        Unsupported: for another type.
        InvalidModel: for shapes or options that make no window.
    """
    x, y = context.input(0), context.output()
    context.require_type(x, *types)
    context.require_type(y, x.dtype)
    if len(x.shape) != 4:
        raise context.invalid(f"{x.label} must have four dimensions")
    n, h, w, channels = x.shape
    size = (context.int_option("filter_height"), context.int_option("filter_width"))
    view = window(context, (h, w), size)
    context.require_shape(y, (n, view.h.out, view.w.out, channels))
    return x, y, view


def _require_small_sums(context: OpContext, x: Tensor, taps: int) -> None:
    if taps * max(map(abs, integer_range(x.dtype))) >= 2**31:
        raise context.unsupported(
            f"sums of {taps} codes may not fit into 32 bits", "pool in two steps"
        )
