"""DEPTHWISE_CONV_2D for cores with the DSP extension: cg_depthwise_conv_2d_dsp.h."""

from __future__ import annotations

import numpy as np

from codegen.graph import Tensor
from codegen.ops.base import Alias, Call, OpContext, weights, whole
from codegen.ops.conv_2d_dsp import dot_forms, packed_layer, zero_points
from codegen.ops.packing_dsp import Layer, quad_stream, stream_3x3
from codegen.ops.requantize import clamp_params, filter_values
from codegen.ops.spatial import Window
from codegen.target import Optimize

_PAIR = 14
_QUAD = 38
_PIXEL = 60
"""Instructions per pair of taps and four channels, per four channels, and per pixel."""

_SQUARE_3X3 = 52
_CHANNEL_3X3 = 22
_COLUMN_3X3 = 21
_FOUR_3X3 = 120
"""Instructions per 2 x 2 outputs, per channel of a band, per column and per four channels."""


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
    layer = packed_layer(context, values.reshape(-1, y.shape[3]).T, 3)
    any_window = _any_window(context, layer, view)
    if context.target.optimize is Optimize.SIZE:  # one kernel serves all windows
        return any_window
    return (*any_window, *_window_3x3(context, layer, view))


def _any_window(context: OpContext, layer: Layer, view: Window) -> tuple[Call, ...]:
    x, y = context.input(0), context.output()
    stream = quad_stream(layer)
    if stream is None:
        return ()
    pairs = -(-view.h.kernel * view.w.kernel // 2)
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
                ("stream", weights(stream.words, stream.constants)),
            ),
            inputs=(whole(x, Alias.ROW, view.h.rows),),
            outputs=(whole(y),),
            scratch=8 * pairs,
            cost=_instructions(y, pairs),
        ),
    )


def _window_3x3(context: OpContext, layer: Layer, view: Window) -> tuple[Call, ...]:
    """Two rows at a time, where the window is one that the kernel knows."""
    x, y = context.input(0), context.output()
    known = all(
        (axis.kernel, axis.stride, axis.dilation) == (3, 1, 1) and axis.pad <= 1
        for axis in (view.h, view.w)
    )
    stream = stream_3x3(layer) if known else None
    if stream is None or y.shape[3] % 4 or view.w.out < 2:
        return ()
    return (
        Call(
            kernel="cg_depthwise_3x3_dsp_s8",
            header="cg_depthwise_3x3_dsp.h",
            args="cg_depthwise_3x3_dsp_args",
            params=(
                ("in_h", view.h.size),
                ("in_w", view.w.size),
                ("out_w", view.w.out),
                ("pad_top", view.h.pad),
                ("pad_left", view.w.pad),
                ("input_zero", context.require_quant(x).zero_point),
                *clamp_params(context, y),
                ("is_signed", int(stream.is_signed)),
                ("stream", weights(stream.words, stream.constants)),
            ),
            inputs=(whole(x, Alias.ROW, view.h.rows),),
            outputs=(whole(y),),
            scratch=32 * (view.w.out + 2),
            rows_per_step=2,
            cost=_instructions_3x3(y, view),
        ),
    )


def _instructions_3x3(y: Tensor, view: Window) -> int:
    bands = y.shape[0] * -(-view.h.out // 2)
    channel = _CHANNEL_3X3 + _SQUARE_3X3 * -(-view.w.out // 2)
    return bands * y.shape[3] // 4 * (_FOUR_3X3 + _COLUMN_3X3 * view.w.out + 4 * channel)


def _instructions(y: Tensor, pairs: int) -> int:
    channels = y.shape[3]
    quads = -(-channels // 4)
    return y.elements // channels * (_PIXEL + 6 * pairs + quads * (_QUAD + _PAIR * pairs))
