"""CONV_2D for Helium: the forms of cg_conv_2d_mve.h and when they are right."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from codegen.graph import Tensor
from codegen.ops.base import Alias, Call, OpContext, whole
from codegen.ops.packing_mve import BLOCK, Requantisation, layer_params, twice_rounded
from codegen.ops.requantize import (
    bias_table,
    channel_scales,
    clamp_bounds,
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
    return (dense_call(context, x, y, view, values, requantisation),)


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
    pixels, channels = y.elements // y.shape[3], y.shape[3]
    depth = view.h.kernel * view.w.kernel * x.shape[3]
    direct = _reads_pixels_in_place(view)
    patches = 0 if direct else patch_cost(pixels, view, x)
    return Call(
        kernel="cg_conv_2d_1x1_mve_s8" if direct else "cg_conv_2d_mve_s8",
        header="cg_conv_2d_mve.h",
        args="cg_conv_2d_mve_args",
        params=(
            *view.params(),
            *view.dilation_params(),
            ("in_c", x.shape[3]),
            ("input_zero", input_zero),
            *layer_params(filters.reshape(len(filters), -1), bias, input_zero, requantisation),
        ),
        inputs=(whole(x, Alias.ROW, view.h.rows),),
        outputs=(whole(y),),
        scratch=0 if direct else 2 * (depth + PATCH_SLACK),
        cost=dot_cost(pixels, channels, depth) + patches,
    )


def _reads_pixels_in_place(view: Window) -> bool:
    """Whether every window is one pixel of the map."""
    return all(
        axis.kernel == 1 and axis.pad == 0 and (axis.out - 1) * axis.stride < axis.size
        for axis in (view.h, view.w)
    )


def dot_cost(pixels: int, channels: int, depth: int) -> int:
    """Instructions of the products and of rounding, per two pixels and four channels."""
    blocks = -(-pixels // 2) * -(-channels // BLOCK)
    return blocks * (14 * -(-depth // 16) + 24)


def patch_cost(pixels: int, view: Window, x: Tensor) -> int:
    """Instructions of copying windows."""
    row = view.w.kernel * x.shape[3]
    return pixels * view.h.kernel * (12 + 2 * -(-row // 16))


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


def convolution_bias(context: OpContext, channels: int) -> NDArray[np.int32] | None:
    """The bias of a convolution, None if it is absent."""
    bias = bias_table(context, context.optional_input(2), channels)
    return None if bias is None else bias.values.astype(np.int32)
