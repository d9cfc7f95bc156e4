"""CONV_2D 3x3 by Winograd's algorithm: runtime_c/kernels/cg_conv_2d_winograd_dsp.h."""

from __future__ import annotations

import numpy as np

from codegen.ops.base import Alias, Call, OpContext, table, weights, whole
from codegen.ops.packing_dsp import Layer, winograd_stream
from codegen.ops.requantize import clamp_params
from codegen.ops.spatial import Window

_INPUT = 80
_POINT = 22
_OUTPUT = 115
_TILE = 900
"""Instructions per tile and input channel; per point of four tiles and two channels; per tile and
output channel; per tile."""


def winograd_forms(context: OpContext, layer: Layer, view: Window) -> tuple[Call, ...]:
    """The form of a 3x3 convolution with stride 1, if its weights may grow so much.

    `layer` has the filters row by row.
    """
    x, filters, y = context.input(0), context.input(1), context.output()
    plain = all((axis.kernel, axis.stride, axis.dilation) == (3, 1, 1) for axis in (view.h, view.w))
    channels_in, channels = x.shape[3], y.shape[3]
    if not plain or channels_in % 8:
        return ()
    stream = winograd_stream(layer, channels_in)
    if stream is None:
        return ()
    grown = stream.words.nbytes - stream.constants - 4 * stream.channels
    if grown > context.target.weights_growth * filters.elements:
        return ()
    tiles = -(-view.w.out // 2) * -(-view.h.out // 2)
    groups = -(-view.w.out // 8) * -(-view.h.out // 2)
    products = groups * -(-channels // 2) * 16 * (_POINT + 6 * channels_in)
    each = tiles * (_TILE + _INPUT * channels_in + _OUTPUT * channels) + products
    return (
        Call(
            kernel="cg_conv_2d_winograd_dsp_s8",
            header="cg_conv_2d_winograd_dsp.h",
            args="cg_conv_2d_winograd_dsp_args",
            params=(
                ("in_h", view.h.size),
                ("in_w", view.w.size),
                ("channels_in", channels_in),
                ("pad_top", view.h.pad),
                ("pad_left", view.w.pad),
                *clamp_params(context, y),
                ("is_signed", int(stream.is_signed)),
                ("zeros", table(np.full(channels_in, layer.sums.zero_point, np.int8))),
                ("stream", weights(stream.words, stream.constants)),
            ),
            inputs=(whole(x, Alias.ROW, view.h.rows),),
            outputs=(whole(y),),
            scratch=128 * channels_in + 512,
            rows_per_step=2,
            cost=y.shape[0] * each,
        ),
    )
