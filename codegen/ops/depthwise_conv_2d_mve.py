"""DEPTHWISE_CONV_2D for Helium: its forms, one header each, and when they are right."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from codegen.graph import Tensor
from codegen.ops.base import Alias, Call, OpContext, table, weights, whole
from codegen.ops.conv_2d_mve import convolution_requantisation, dense_call
from codegen.ops.packing_mve import (
    BLOCK,
    LANES,
    Requantisation,
    Rounding,
    blocks_of,
    output_params,
    packed_scales,
)
from codegen.ops.requantize import convolution_bias, filter_values, folded_bias
from codegen.ops.spatial import Window
from codegen.target import Optimize

WINDOW = 3
"""Rows and columns of the largest filter that is computed by windows."""


def depthwise_forms(
    context: OpContext, x: Tensor, filters: Tensor, y: Tensor, view: Window
) -> tuple[Call, ...]:
    """The ways to compute an int8 depthwise convolution, the leanest first; maybe none.

    With a single input channel it is a dense convolution.

    Shapes: x[n,h,w,ci], filters[1,kh,kw,co], y[n,oh,ow,co].
    """
    requantisation = convolution_requantisation(context, x, filters, y, axis=3)
    if requantisation is None:
        return ()
    channels_in, channels = x.shape[3], filters.shape[3]
    if channels_in == 1:
        values = filter_values(context, x, filters, 3)
        return (dense_call(context, x, y, view, np.moveaxis(values, 3, 0), requantisation),)
    if channels != channels_in:
        return ()
    lanes = _by_lanes(context, x, filters, y, view, requantisation)
    forms = [lanes]
    if view.h.kernel * view.w.kernel <= LANES and requantisation.rounding is not Rounding.TWICE:
        forms.append(_by_taps(context, x, filters, y, view, requantisation))
    if context.target.optimize is Optimize.SIZE:  # the fastest one that needs no constants
        return tuple(forms[-1:])
    if _has_windows(view, requantisation.rounding):
        forms.append(_by_windows(context, x, filters, y, view, requantisation))
    return tuple(forms)


def _by_lanes(
    context: OpContext,
    x: Tensor,
    filters: Tensor,
    y: Tensor,
    view: Window,
    requantisation: Requantisation,
) -> Call:
    channels = filters.shape[3]
    bias = convolution_bias(context, channels)
    values = np.zeros(channels, np.int32) if bias is None else bias
    outputs = y.elements
    return Call(
        kernel="cg_depthwise_conv_2d_mve_s8",
        header="cg_depthwise_conv_2d_mve.h",
        args="cg_depthwise_conv_2d_mve_args",
        params=(
            *view.params(),
            *view.dilation_params(),
            ("input_offset", -context.require_quant(x).zero_point),
            ("filters", weights(filter_values(context, x, filters, 3))),
            ("bias", weights(blocks_of(values).reshape(-1))),
            ("layer.scales", table(packed_scales(requantisation))),
            *output_params(requantisation),
        ),
        inputs=(whole(x, Alias.ROW, view.h.rows),),
        outputs=(whole(y),),
        cost=outputs * (2 * view.h.kernel * view.w.kernel + 5),
    )


def _by_taps(
    context: OpContext,
    x: Tensor,
    filters: Tensor,
    y: Tensor,
    view: Window,
    requantisation: Requantisation,
) -> Call:
    channels, taps = filters.shape[3], view.h.kernel * view.w.kernel
    zero = context.require_quant(x).zero_point
    values = filter_values(context, x, filters, 3).reshape(taps, channels).T
    bias = folded_bias(values, convolution_bias(context, channels), zero)
    padded = any(
        axis.pad or (axis.out - 1) * axis.stride + (axis.kernel - 1) * axis.dilation >= axis.size
        for axis in (view.h, view.w)
    )
    groups = -(-channels // LANES)
    return Call(
        kernel="cg_depthwise_taps_mve_s8",
        header="cg_depthwise_taps_mve.h",
        args="cg_depthwise_taps_mve_args",
        params=(
            *view.params(),
            *view.dilation_params(),
            ("padded", int(padded)),
            ("input_zero", zero),
            ("layer.weights", weights(packed_taps(values, bias))),
            ("layer.scales", table(packed_scales(requantisation, 2 * BLOCK))),
            *output_params(requantisation),
        ),
        inputs=(whole(x, Alias.ROW, view.h.rows),),
        outputs=(whole(y),),
        scratch=4 * 4 * LANES + padded * groups * LANES,
        cost=y.elements
        // channels
        * (groups * (20 + 5 * taps) + -(-channels // (2 * BLOCK)) * 52 + 6 * taps + 10),
    )


def packed_taps(filters: NDArray[np.int8], bias: NDArray[np.int32]) -> NDArray[np.int32]:
    """Per eight channels their biases and 16 taps of each, as words.

    Shapes: filters[c, taps], bias[c] -> [words].
    """
    eight = 2 * BLOCK
    taps = blocks_of(np.pad(filters, [(0, 0), (0, LANES - filters.shape[1])]), eight)
    starts = blocks_of(bias.astype("<i4"), eight).view(np.int8)
    stream = np.concatenate([part.reshape(len(taps), -1) for part in (starts, taps)], axis=1)
    return np.frombuffer(stream.tobytes(), "<i4").astype(np.int32)


def _has_windows(view: Window, rounding: Rounding) -> bool:
    """Whether four rows and columns hold at least one window, and shifts go to the right."""
    strides = {view.h.stride, view.w.stride}
    small = max(view.h.kernel, view.w.kernel) <= WINDOW
    plain = all(axis.dilation == 1 or axis.kernel == 1 for axis in (view.h, view.w))
    padded = max(view.h.pad, view.w.pad) < WINDOW
    return small and plain and padded and strides in ({1}, {2}) and rounding is not Rounding.TWICE


def _by_windows(
    context: OpContext,
    x: Tensor,
    filters: Tensor,
    y: Tensor,
    view: Window,
    requantisation: Requantisation,
) -> Call:
    height, width, channels = y.shape[1:]
    stride = view.w.stride
    zero = context.require_quant(x).zero_point
    values = filter_values(context, x, filters, 3)[0]
    bias = folded_bias(values.reshape(-1, channels).T, convolution_bias(context, channels), zero)
    # Columns come in twos at stride 1, in eights at stride 2.
    turns = -(-width // 2) if stride == 1 else -(-width // 8)
    columns = turns * (2 if stride == 1 else 16) + 2
    group = min(channels, LANES)
    bands = -(-height // (2 if stride == 1 else 1)) * y.shape[0]
    return Call(
        kernel="cg_depthwise_window_mve_s8",
        header="cg_depthwise_window_mve.h",
        args="cg_depthwise_window_mve_args",
        params=(
            ("in_h", view.h.size),
            ("in_w", view.w.size),
            ("stride", stride),
            ("pad_top", view.h.pad),
            ("pad_left", view.w.pad),
            ("input_zero", zero),
            ("columns", (width - 1) * stride + WINDOW),
            ("filters", weights(packed_windows(values))),
            ("scales", table(channel_scales(bias, requantisation))),
            *output_params(requantisation),
        ),
        inputs=(whole(x, Alias.ROW, view.h.rows),),
        outputs=(whole(y),),
        scratch=columns * 4 * group + 4 * (LANES - group),
        rows_per_step=2 if stride == 1 else 1,
        cost=bands
        * (
            channels * (20 + turns * (17 if stride == 1 else 42))
            + -(-channels // LANES) * columns * 14
        ),
    )


def packed_windows(filters: NDArray[np.int8]) -> NDArray[np.int8]:
    """Per channel 5 zeros and 11 taps: three columns of three rows, a zero between columns.

    Loads that start up to five bytes before the taps give the filter shifted by as many lanes.

    Shapes: filters[kh,kw,c], kh and kw at most 3 -> [c * 16 + 5].
    """
    kernel_h, kernel_w, channels = filters.shape
    taps = np.zeros((channels, WINDOW, 4), np.int8)
    taps[:, :kernel_w, :kernel_h] = filters.transpose(2, 1, 0)
    packed = np.zeros((channels, LANES), np.int8)
    packed[:, 5:] = taps.reshape(channels, -1)[:, :11]
    return np.concatenate([packed.reshape(-1), np.zeros(5, np.int8)])


def channel_scales(bias: NDArray[np.int32], requantisation: Requantisation) -> NDArray[np.int32]:
    """Bias, multiplier and shift of every channel.

    Shapes: bias[c] -> [c * 3].
    """
    columns = (bias, requantisation.multipliers, requantisation.shifts)
    return np.stack([column.astype(np.int32) for column in columns], axis=1).reshape(-1)
