"""DEPTHWISE_CONV_2D for cores with the DSP extension: cg_depthwise_conv_2d_dsp.h."""

from __future__ import annotations

import numpy as np

from codegen.graph import Tensor
from codegen.ops.base import Alias, Call, OpContext, weights, whole
from codegen.ops.conv_2d_dsp import dot_forms, packed_layer, zero_points
from codegen.ops.packing_dsp import quad_stream
from codegen.ops.requantize import clamp_params, filter_values
from codegen.ops.spatial import Window

_PAIR = 14
_QUAD = 38
_PIXEL = 60
"""Instructions per pair of taps and four channels, per four channels, and per pixel."""


def depthwise_forms(
    context: OpContext, x: Tensor, filters: Tensor, y: Tensor, view: Window
) -> tuple[Call, ...]:
    """The ways to compute an int8 depthwise convolution, the leanest first; maybe none.

    Shapes: x[n,h,w,ci], filters[1,kh,kw,co], y[n,oh,ow,co].
    """
    values = filter_values(context, x, filters, 3).astype(np.int64)
    if x.shape[3] == 1:
        return dot_forms(context, values.transpose(3, 1, 2, 0), 3, view)
    if y.shape[3] != x.shape[3]:
        return ()
    taps = values.reshape(-1, y.shape[3]).T
    stream = quad_stream(packed_layer(context, taps, 3))
    if stream is None:
        return ()
    pairs = -(-taps.shape[1] // 2)
    return (
        Call(
            kernel="cg_depthwise_conv_2d_dsp_s8",
            header="cg_depthwise_conv_2d_dsp.h",
            args="cg_depthwise_conv_2d_dsp_args",
            params=(
                *view.params(),
                *view.dilation_params(),
                ("channels", y.shape[3]),
                *clamp_params(context, y),
                ("is_signed", int(stream.is_signed)),
                ("zeros", zero_points(context, x, view)),
                ("stream", weights(stream.words)),
            ),
            inputs=(whole(x, Alias.ROW, view.h.rows),),
            outputs=(whole(y),),
            scratch=16 * pairs,
            cost=_instructions(y, pairs),
        ),
    )


def _instructions(y: Tensor, pairs: int) -> int:
    channels = y.shape[3]
    quads = -(-channels // 4)
    return y.elements // channels * (_PIXEL + 6 * pairs + quads * (_QUAD + _PAIR * pairs))
