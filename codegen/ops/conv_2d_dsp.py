"""CONV_2D for cores with the DSP extension: runtime_c/kernels/cg_conv_2d_dsp.h."""

from __future__ import annotations

import numpy as np

from codegen.fixed_point import activation_range
from codegen.graph import Tensor
from codegen.ops.base import Alias, Call, OpContext, Param, weights, whole
from codegen.ops.packing_dsp import PairStream, Sums, pair_stream
from codegen.ops.requantize import (
    bias_table,
    channel_scales,
    clamp_params,
    filter_values,
    fused_activation,
    output_factors,
)
from codegen.ops.spatial import Window

PIXELS = (1, 2, 3)
"""Output pixels of a column: the more, the faster, and the more scratch."""

_GROUP_CYCLES = {1: 12, 2: 18, 3: 26}
_PAIR_CYCLES = 60
_BLOCK_CYCLES = 120


def convolution_forms(
    context: OpContext, x: Tensor, filters: Tensor, y: Tensor, view: Window
) -> tuple[Call, ...]:
    """The ways to compute an int8 convolution without groups, the leanest first; maybe none.

    Shapes: x[n,h,w,ci], filters[co,kh,kw,ci], y[n,oh,ow,co].
    """
    stream = _stream(context, x, filters, y)
    if stream is None:
        return ()
    padded = view.h.is_padded or view.w.is_padded
    params: tuple[tuple[str, Param], ...] = (
        *view.params(),
        *view.dilation_params(),
        ("channels_in", x.shape[3]),
        ("input_zero", context.require_quant(x).zero_point),
        *clamp_params(context, y),
        ("padded", int(padded)),
        ("is_signed", int(stream.is_signed)),
        ("groups", stream.groups),
        ("stream", weights(stream.words)),
    )
    return tuple(
        Call(
            kernel="cg_conv_2d_dsp_s8",
            header="cg_conv_2d_dsp.h",
            args="cg_conv_2d_dsp_args",
            params=(*params, ("pixels", pixels)),
            inputs=(whole(x, Alias.ROW, view.h.rows),),
            outputs=(whole(y),),
            scratch=8 * pixels * stream.groups + (x.shape[3] if padded else 0),
            cost=_cycles(y, stream.groups, pixels),
        )
        for pixels in PIXELS
    )


def _cycles(y: Tensor, groups: int, pixels: int) -> int:
    """Modelled for a Cortex-M4, without wait states."""
    channels = y.shape[3]
    pairs = -(-channels // 2)
    block = _BLOCK_CYCLES + 5 * pixels * groups
    block += pairs * (_PAIR_CYCLES + groups * _GROUP_CYCLES[pixels])
    return -(-(y.elements // channels) // pixels) * block


def _stream(context: OpContext, x: Tensor, filters: Tensor, y: Tensor) -> PairStream | None:
    """Filter rows one after the other, each filled up to whole groups of 4 inputs."""
    values = filter_values(context, x, filters, 0).astype(np.int64)
    channels, kernel_h, kernel_w, channels_in = values.shape
    rows = values.reshape(channels, kernel_h, kernel_w * channels_in)
    rows = np.pad(rows, ((0, 0), (0, 0), (0, -rows.shape[2] % 4)))
    bias = bias_table(context, context.optional_input(2), channels)
    sums = Sums(
        weights=rows.reshape(channels, -1),
        bias=np.zeros(channels, np.int64) if bias is None else bias.values.astype(np.int64),
        zero_point=context.require_quant(x).zero_point,
    )
    factors = output_factors(context, x, y, channel_scales(context, filters, 0))
    quant = context.require_quant(y)
    act_min, _ = activation_range(fused_activation(context), quant, y.dtype)
    return pair_stream(sums, factors, quant.zero_point, act_min)
