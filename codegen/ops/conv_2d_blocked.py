"""CONV_2D for any core: the form of cg_conv_2d_blocked.h and when it is right."""

from __future__ import annotations

from codegen.graph import Tensor
from codegen.ops.base import Alias, Call, OpContext, whole
from codegen.ops.blocked import blocked_scales
from codegen.ops.spatial import Window


def convolution_forms(
    context: OpContext, x: Tensor, filters: Tensor, y: Tensor, view: Window
) -> tuple[Call, ...]:
    """The blocked form of an int8 convolution without groups, if it has one.

    Shapes: x[n,h,w,ci], filters[co,kh,kw,ci], y[n,oh,ow,co].
    """
    scales = blocked_scales(context, x, filters, y, axis=0)
    if scales is None:
        return ()
    depth, channels = filters.elements // filters.shape[0], filters.shape[0]
    pixels = y.elements // channels
    call = Call(
        kernel="cg_conv_2d_blocked_s8",
        header="cg_conv_2d_blocked.h",
        args="cg_conv_2d_blocked_args",
        params=(
            *view.params(),
            *view.dilation_params(),
            ("in_c", x.shape[3]),
            ("channels", channels),
            *scales,
        ),
        inputs=(whole(x, Alias.ROW, view.h.rows),),
        outputs=(whole(y),),
        scratch=2 * (4 * channels + 2 * (depth + depth % 2)),
        cost=pixels * (channels * (3 * depth + 30) + 4 * depth),
    )
    return (call,)
