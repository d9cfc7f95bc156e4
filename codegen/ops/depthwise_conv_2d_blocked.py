"""DEPTHWISE_CONV_2D for any core: the form of cg_depthwise_conv_2d_blocked.h."""

from __future__ import annotations

from codegen.graph import Tensor
from codegen.ops.base import Alias, Call, OpContext, whole
from codegen.ops.blocked import blocked_scales
from codegen.ops.spatial import Window


def convolution_forms(
    context: OpContext, x: Tensor, filters: Tensor, y: Tensor, view: Window
) -> tuple[Call, ...]:
    """The blocked form of an int8 convolution with one filter per channel, if it has one.

    Shapes: x[n,h,w,c], filters[1,kh,kw,c], y[n,oh,ow,c].
    """
    scales = blocked_scales(context, x, filters, y, axis=3)
    if scales is None or x.shape[3] != y.shape[3]:
        return ()
    taps, channels = view.h.kernel * view.w.kernel, y.shape[3]
    call = Call(
        kernel="cg_depthwise_conv_2d_blocked_s8",
        header="cg_depthwise_conv_2d_blocked.h",
        args="cg_depthwise_conv_2d_blocked_args",
        params=(
            *view.params(),
            *view.dilation_params(),
            ("channels", channels),
            *scales,
        ),
        inputs=(whole(x, Alias.ROW, view.h.rows),),
        outputs=(whole(y),),
        scratch=5 * channels,
        cost=y.elements * (7 * taps + 30),
    )
    return (call,)
