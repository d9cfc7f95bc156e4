"""CONV_2D for Helium: the forms of cg_conv_2d_mve.h and when they are right."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from codegen.graph import Tensor
from codegen.ops.base import Alias, Call, OpContext, whole
from codegen.ops.packing_mve import BLOCK, LANES, Requantisation, layer_params, twice_rounded
from codegen.ops.requantize import (
    channel_scales,
    clamp_bounds,
    convolution_bias,
    filter_values,
    largest_sums,
    output_factors,
)
from codegen.ops.spatial import Window

PATCH_SLACK = 16
"""Bytes behind a patch that copying it may write."""


def convolution_forms(
    context: OpContext, x: Tensor, filters: Tensor, y: Tensor, view: Window
) -> tuple[Call, ...]:
    """The ways to compute an int8 convolution without groups, the leanest first; maybe none.

    Shapes: x[n,h,w,ci], filters[co,kh,kw,ci], y[n,oh,ow,co].
    """
    requantisation = convolution_requantisation(context, x, filters, y, axis=0)
    if requantisation is None:
        return ()
    values = filter_values(context, x, filters, 0)
    call = dense_call(context, x, y, view, values, requantisation)
    if call.scratch or y.shape[2] % 2 == 0 or y.shape[1] == 1 or view.w.stride * view.h.stride > 1:
        return (call,)
    return (call, _in_pairs_of_rows(call, y))


def dense_call(
    context: OpContext,
    x: Tensor,
    y: Tensor,
    view: Window,
    filters: NDArray[np.int8],
    requantisation: Requantisation,
) -> Call:
    """The form of least instructions for filters[co,kh,kw,ci]."""
    input_zero = context.require_quant(x).zero_point
    bias = convolution_bias(context, len(filters))
    reading = _reading(x, y, view)
    if reading.by_columns:
        filters = filters.swapaxes(1, 2)
    depth = view.h.kernel * view.w.kernel * x.shape[3]
    return Call(
        kernel=reading.kernel,
        header="cg_conv_2d_mve.h",
        args="cg_conv_2d_mve_args",
        params=(
            *view.params(),
            *view.dilation_params(),
            ("in_c", x.shape[3]),
            ("input_zero", input_zero),
            ("rows_together", 1),
            *layer_params(filters.reshape(len(filters), -1), bias, input_zero, requantisation),
        ),
        inputs=(whole(x, Alias.ROW, view.h.rows),),
        outputs=(whole(y),),
        scratch=reading.scratch,
        cost=y.shape[0] * y.shape[1] * dot_cost(y.shape[2], y.shape[3], depth) + reading.cost,
    )


def _in_pairs_of_rows(call: Call, y: Tensor) -> Call:
    """The same with two rows of an odd number of pixels as one, so that no pixel is alone."""
    params = dict(call.params) | {"rows_together": 2}
    pairs = y.shape[0] * -(-y.shape[1] // 2)
    cost = pairs * dot_cost(2 * y.shape[2], y.shape[3], int(call.inputs[0].map[3]))
    return replace(call, params=tuple(params.items()), rows_per_step=2, cost=cost)


@dataclass(frozen=True)
class _Reading:
    """How windows become runs of bytes: the kernel, its scratch memory, instructions."""

    kernel: str
    scratch: int = 0
    cost: int = 0
    by_columns: bool = False


def _reading(x: Tensor, y: Tensor, view: Window) -> _Reading:
    if _reads_pixels_in_place(view):
        return _Reading("cg_conv_2d_1x1_mve_s8")
    kernel_h, kernel_w, channels = view.h.kernel, view.w.kernel, x.shape[3]
    if channels % LANES == 0 and view.w.dilation == 1:
        columns = (view.w.out - 1) * view.w.stride + kernel_w
        scratch = columns * kernel_h * channels
        per_row = kernel_h * columns * (3 + 2 * channels // LANES)
        rows = x.shape[0] * view.h.out
        return _Reading("cg_conv_2d_columns_mve_s8", scratch, rows * per_row, by_columns=True)
    patch = kernel_h * kernel_w * channels
    per_pixel = kernel_h * (8 + 3 * -(-kernel_w * channels // LANES))
    pixels = y.elements // y.shape[3]
    return _Reading("cg_conv_2d_mve_s8", 2 * (patch + PATCH_SLACK), pixels * per_pixel)


def _reads_pixels_in_place(view: Window) -> bool:
    """Whether every window is one pixel of the map."""
    return all(
        axis.kernel == 1 and axis.pad == 0 and (axis.out - 1) * axis.stride < axis.size
        for axis in (view.h, view.w)
    )


def dot_cost(pixels: int, channels: int, depth: int) -> int:
    """Instructions of the products and of rounding: two pixels by four channels, one by eight."""
    vectors, blocks = -(-depth // LANES), -(-channels // BLOCK)
    pairs = pixels // 2 * blocks * (14 * vectors + 24)
    return pairs + pixels % 2 * -(-blocks // 2) * (17 * vectors + 28)


def convolution_requantisation(
    context: OpContext, x: Tensor, filters: Tensor, y: Tensor, axis: int
) -> Requantisation | None:
    """Two roundings per channel, if the sums leave room for them."""
    factors = output_factors(context, x, y, channel_scales(context, filters, axis))
    sums = largest_sums(context, x, filter_values(context, x, filters, axis), axis)
    bias = convolution_bias(context, filters.shape[axis])
    largest = sums if bias is None else sums + np.abs(bias.astype(np.int64))
    zero = context.require_quant(y).zero_point
    return twice_rounded(factors, largest, zero, clamp_bounds(context, y))
