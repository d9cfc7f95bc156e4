"""DEPTHWISE_CONV_2D: any depth multiplier, stride, dilation and padding.

Maths: as CONV_2D with one input channel per output channel. One filter scale or one per channel:
the sums are rounded twice either way (docs/numerics.md).
"""

from __future__ import annotations

from codegen.graph import DType
from codegen.ops import depthwise_conv_2d_blocked, depthwise_conv_2d_dsp, depthwise_conv_2d_mve
from codegen.ops.base import Call, Lowered, OpContext, OpSpec, whole
from codegen.ops.fast_forms import convolution_forms, with_fast_forms
from codegen.ops.float32 import float_convolution_params
from codegen.ops.forms import Form, data_types, select_form, window_input, with_int4_weights
from codegen.ops.hybrid import hybrid_depthwise_params
from codegen.ops.int16 import wide_convolution_params
from codegen.ops.requantize import convolution_params, fused_activation
from codegen.ops.spatial import window
from codegen.ops.uint8 import byte_form
from codegen.target import Kernels

_FORMS = (
    Form(
        types=(DType.INT8, DType.INT8, DType.INT8),
        kernel="cg_depthwise_conv_2d_s8",
        header="cg_depthwise_conv_2d.h",
        args="cg_depthwise_conv_2d_args",
        params=convolution_params,
    ),
    Form(
        types=(DType.FLOAT32, DType.FLOAT32, DType.FLOAT32),
        kernel="cg_depthwise_conv_2d_f32",
        header="cg_depthwise_conv_2d_f32.h",
        args="cg_depthwise_conv_2d_f32_args",
        params=float_convolution_params,
    ),
    Form(
        types=(DType.FLOAT32, DType.INT8, DType.FLOAT32),
        kernel="cg_depthwise_conv_2d_hybrid",
        header="cg_depthwise_conv_2d_hybrid.h",
        args="cg_depthwise_conv_2d_hybrid_args",
        params=hybrid_depthwise_params,
        quantises=True,
    ),
    Form(
        types=(DType.INT16, DType.INT8, DType.INT16),
        kernel="cg_depthwise_conv_2d_s16",
        header="cg_depthwise_conv_2d_s16.h",
        args="cg_depthwise_conv_2d_s16_args",
        params=wide_convolution_params,
    ),
    byte_form("depthwise_conv_2d"),
)
FORMS = (*_FORMS, *with_int4_weights(_FORMS, DType.INT8))
"""The reference reads packed weights under int16 data as if they were not packed."""

FAST_FORMS = {
    Kernels.PORTABLE: depthwise_conv_2d_blocked.convolution_forms,
    Kernels.DSP: depthwise_conv_2d_dsp.depthwise_forms,
    Kernels.MVE: depthwise_conv_2d_mve.depthwise_forms,
}
"""What else an int8 depthwise convolution may become."""


PORTABLE_INSTRUCTIONS = 20
"""Per product of the portable kernel, which tests every tap of every channel."""


def lower(context: OpContext) -> Lowered:
    """Shapes: x[n,h,w,ci], filter[1,kh,kw,ci*multiplier], bias[co] -> y[n,oh,ow,co].

    The multiplier follows from the shapes; the option of that name is not looked at, as in LiteRT.
    """
    x, filters, y = context.input(0), context.input(1), context.output()
    form = select_form(context, FORMS)
    if len(x.shape) != 4 or len(filters.shape) != 4 or filters.shape[0] != 1:
        raise context.invalid(f"{x.label} and {filters.label} must be [n,h,w,c] and [1,h,w,c]")
    n, h, w, channels_in = x.shape
    _, kernel_h, kernel_w, channels = filters.shape
    if channels_in < 1 or channels < 1 or channels % channels_in:
        raise context.invalid(f"{channels} filters do not divide among {channels_in} channels")
    depth_multiplier = channels // channels_in
    view = window(context, (h, w), (kernel_h, kernel_w))
    context.require_shape(y, (n, view.h.out, view.w.out, channels))

    call = Call(
        kernel=form.kernel,
        header=form.header,
        args=form.args,
        params=(
            *view.params(),
            *view.dilation_params(),
            ("channels", channels),
            ("depth_multiplier", depth_multiplier),
            *form.params(context, x, filters, y, 3),
        ),
        inputs=(window_input(form, x, view),),
        outputs=(whole(y),),
        scratch=form.scratch(x.elements // n),
    )
    multiplied = f" x{depth_multiplier}" if depth_multiplier > 1 else ""
    lowered = Lowered(
        calls=(call,),
        summary=f"{view.summary()}{multiplied} {fused_activation(context)}",
        macs=y.elements * kernel_h * kernel_w,
    )
    if form.kernel != "cg_depthwise_conv_2d_s8":
        return lowered
    fast = convolution_forms(context, FAST_FORMS, (x, filters, y), view)
    return with_fast_forms(lowered, fast, PORTABLE_INSTRUCTIONS)


SPEC = OpSpec(
    name="DEPTHWISE_CONV_2D",
    max_version=6,
    lower=lower,
    types=data_types(FORMS),
    notes=(
        "any stride, dilation, padding, depth multiplier and fused activation; weights "
        "per tensor or per channel, constant; bias absent or int32, of int16 data "
        "also int64, of float data float32"
    ),
)
