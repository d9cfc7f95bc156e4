"""CONV_2D: dense or grouped, any stride, dilation and padding.

Maths, int8: TFLite's reference `ConvPerChannel`: sums of (x - zero point) * w plus bias,
requantised by in_scale * filter_scale / out_scale per channel with two roundings, then clamped.
float32: the sum of x * w in the order of the filter, plus bias, clamped.
"""

from __future__ import annotations

from codegen.graph import DType
from codegen.ops import conv_2d_blocked, conv_2d_dsp, conv_2d_mve
from codegen.ops.base import Call, Lowered, OpContext, OpSpec, whole
from codegen.ops.fast_forms import convolution_forms, with_fast_forms
from codegen.ops.float32 import float_convolution_params
from codegen.ops.forms import Form, data_types, select_form, window_input, with_int4_weights
from codegen.ops.hybrid import hybrid_convolution_params
from codegen.ops.int16 import wide_convolution_params
from codegen.ops.requantize import convolution_params, fused_activation
from codegen.ops.spatial import window
from codegen.ops.uint8 import byte_form
from codegen.target import Kernels

_FORMS = (
    Form(
        types=(DType.INT8, DType.INT8, DType.INT8),
        kernel="cg_conv_2d_s8",
        header="cg_conv_2d.h",
        args="cg_conv_2d_args",
        params=convolution_params,
    ),
    Form(
        types=(DType.FLOAT32, DType.FLOAT32, DType.FLOAT32),
        kernel="cg_conv_2d_f32",
        header="cg_conv_2d_f32.h",
        args="cg_conv_2d_f32_args",
        params=float_convolution_params,
    ),
    Form(
        types=(DType.FLOAT32, DType.INT8, DType.FLOAT32),
        kernel="cg_conv_2d_hybrid",
        header="cg_conv_2d_hybrid.h",
        args="cg_conv_2d_hybrid_args",
        params=hybrid_convolution_params,
        quantises=True,
    ),
    Form(
        types=(DType.INT16, DType.INT8, DType.INT16),
        kernel="cg_conv_2d_s16",
        header="cg_conv_2d_s16.h",
        args="cg_conv_2d_s16_args",
        params=wide_convolution_params,
    ),
    byte_form("conv_2d"),
)
FORMS = (*_FORMS, *with_int4_weights(_FORMS, DType.INT8, DType.INT16, DType.FLOAT32))

FAST_FORMS = {
    Kernels.PORTABLE: conv_2d_blocked.convolution_forms,
    Kernels.DSP: conv_2d_dsp.convolution_forms,
    Kernels.MVE: conv_2d_mve.convolution_forms,
}
"""What else an int8 convolution without groups may become."""


def lower(context: OpContext) -> Lowered:
    """Shapes: x[n,h,w,ci], filter[co,kh,kw,ci/groups], bias[co] -> y[n,oh,ow,co]."""
    x, filters, y = context.input(0), context.input(1), context.output()
    form = select_form(context, FORMS)
    if len(x.shape) != 4 or len(filters.shape) != 4:
        raise context.invalid(f"{x.label} and {filters.label} must have four dimensions")
    n, h, w, channels_in = x.shape
    channels, kernel_h, kernel_w, group_in = filters.shape
    groups = channels_in // max(group_in, 1)
    if groups < 1 or channels_in % group_in or channels % groups:
        raise context.invalid(f"{channels_in} input channels do not form groups of {group_in}")
    view = window(context, (h, w), (kernel_h, kernel_w))
    context.require_shape(y, (n, view.h.out, view.w.out, channels))

    call = Call(
        kernel=form.kernel,
        header=form.header,
        args=form.args,
        params=(
            *view.params(),
            *view.dilation_params(),
            ("group_in", group_in),
            ("group_out", channels // groups),
            *form.params(context, x, filters, y, 0),
        ),
        inputs=(window_input(form, x, view),),
        outputs=(whole(y),),
        scratch=form.scratch(x.elements // n),
    )
    grouped = f" {groups} groups" if groups > 1 else ""
    lowered = Lowered(
        calls=(call,),
        summary=f"{view.summary()}{grouped} {fused_activation(context)}",
        macs=y.elements * kernel_h * kernel_w * group_in,
    )
    if form.kernel != "cg_conv_2d_s8" or groups > 1:
        return lowered
    fast = convolution_forms(context, FAST_FORMS, (x, filters, y), view)
    return with_fast_forms(lowered, fast)


SPEC = OpSpec(
    name="CONV_2D",
    max_version=8,
    lower=lower,
    types=data_types(FORMS),
    notes=(
        "any stride, dilation, padding, groups and fused activation; weights per "
        "tensor or per channel, constant; bias absent or int32, of int16 data "
        "also int64, of float data float32"
    ),
)
