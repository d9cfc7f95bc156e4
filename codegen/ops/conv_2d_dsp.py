"""CONV_2D for cores with the DSP extension: runtime_c/kernels/cg_conv_2d_dsp.h."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from codegen.fixed_point import activation_range
from codegen.graph import Tensor
from codegen.ops.base import Alias, Call, OpContext, Param, Table, table, weights, whole
from codegen.ops.conv_2d_winograd_dsp import winograd_forms
from codegen.ops.packing_dsp import Integers, Layer, Sums, pair_stream
from codegen.ops.requantize import (
    bias_table,
    channel_scales,
    clamp_params,
    filter_values,
    fused_activation,
    output_factors,
)
from codegen.ops.spatial import Window
from codegen.target import Optimize

PIXELS = (1, 2, 3)
"""Output pixels of a column: the more, the faster, and the more scratch."""

_GROUP = {1: 8, 2: 12, 3: 17}
_LEAN_GROUP = 10
_APART = 2
_PAIR = {1: 26, 2: 36, 3: 46}
_COLUMN = 90
_ROW = 10
_STRIP = 60
"""Instructions per group of 4 inputs and pair of channels: with a column of so many pixels, without
one, and how many more where weights are kept apart;
per pair, per column, per row of the filter in a column, and per row of a strip."""


def convolution_forms(
    context: OpContext, x: Tensor, filters: Tensor, y: Tensor, view: Window
) -> tuple[Call, ...]:
    """The ways to compute an int8 convolution without groups, the leanest first; maybe none.

    Shapes: x[n,h,w,ci], filters[co,kh,kw,ci], y[n,oh,ow,co].
    """
    values = filter_values(context, x, filters, 0).astype(np.int64)
    forms = dot_forms(context, values, 0, view)
    if not forms:
        return ()
    layer = packed_layer(context, values.reshape(len(values), -1), 0)
    return (*forms, *winograd_forms(context, layer, view))


def dot_forms(context: OpContext, values: Integers, axis: int, view: Window) -> tuple[Call, ...]:
    """The forms for filters [co,kh,kw,ci], whose channels lie along `axis` in the node's own."""
    x, y = context.input(0), context.output()
    channels, kernel_h, kernel_w, channels_in = values.shape
    row_inputs = -(-kernel_w * channels_in // 4) * 4
    rows = values.reshape(channels, kernel_h, kernel_w * channels_in)
    rows = np.pad(rows, ((0, 0), (0, 0), (0, row_inputs - rows.shape[2])))
    stream = pair_stream(packed_layer(context, rows.reshape(channels, -1), axis))
    if stream is None:
        return ()
    groups = kernel_h * row_inputs // 4
    params: tuple[tuple[str, Param], ...] = (
        *view.params(),
        *view.dilation_params(),
        ("channels_in", channels_in),
        ("input_zero", context.require_quant(x).zero_point),
        *clamp_params(context, y),
        ("is_signed", int(stream.is_signed)),
        ("groups", groups),
        ("zeros", zero_points(context, x, view)),
        ("stream", weights(stream.words, stream.constants)),
    )
    family = "apart_dsp_s8" if stream.is_apart else "dsp_s8"
    call = Call(
        kernel=f"cg_conv_2d_{family}",
        header="cg_conv_2d_dsp.h",
        args="cg_conv_2d_dsp_args",
        params=params,
        inputs=(whole(x, Alias.ROW, view.h.rows),),
        outputs=(whole(y),),
    )
    lean = _lean(call, groups, view)
    if context.target.optimize is Optimize.SIZE:  # one kernel serves all windows
        return (lean,)
    point = view.h.is_identity and view.w.is_identity and channels_in % 4 == 0
    if point:
        call = replace(call, kernel=f"cg_conv_2d_point_{family}", inputs=(whole(x, Alias.PIXEL),))
    border = 0 if point else _border_instructions(view, channels_in)
    forms = [lean]
    forms += [_with_column(call, groups, pixels, 0, border) for pixels in PIXELS]
    if border and view.w.dilation == 1:
        strip = replace(call, kernel=f"cg_conv_2d_strip_{family}")
        last = (view.w.out - 1) * view.w.stride * channels_in
        strip_row = (last + row_inputs + 3) // 4 * 4
        forms.append(_with_column(strip, groups, PIXELS[-1], strip_row, 0))
    return tuple(forms)


def _lean(call: Call, groups: int, view: Window) -> Call:
    """The call without a column."""
    taps, by_taps = view.h.kernel * view.w.kernel, call.inputs[0].map[3] % 4 == 0
    *pixels, channels = call.outputs[0].map
    window = 12 * taps if by_taps else 25 * groups
    group = _LEAN_GROUP + (_APART if "apart" in call.kernel else 0)
    pair = _PAIR[1] + groups * group + (7 * taps if by_taps else 0)
    return replace(
        call,
        kernel=call.kernel.replace("conv_2d", "conv_2d_lean"),
        header="cg_conv_2d_lean_dsp.h",
        params=(*call.params, ("pixels", 1), ("strip_row", 0)),
        scratch=8 * taps if by_taps else 4 * groups,
        cost=math.prod(pixels) * (_COLUMN + window + -(-channels // 2) * pair),
    )


def _with_column(call: Call, groups: int, pixels: int, strip_row: int, border: int) -> Call:
    """The call with a column of so many pixels, and with a strip where its rows have bytes.

    `border` is what windows that meet a border take, in instructions per output pixel on average.
    """
    ((_, height, width, channels),) = (access.map for access in call.outputs)
    images, filter_h = call.outputs[0].map[0], dict(call.params)["filter_h"]
    assert isinstance(filter_h, int)
    pairs = -(-channels // 2)
    group = _GROUP[pixels] + (_APART if "apart" in call.kernel else 0)
    column = _COLUMN + filter_h * _ROW + 4 * pixels * groups
    column += pairs * (_PAIR[pixels] + groups * group)
    lines = 0 if call.inputs[0].map[3] % 4 == 0 else pixels * 4 * groups // filter_h
    strips = height * filter_h * (_STRIP + strip_row // 3) if strip_row else 0
    each = -(-height * width // pixels) * column + height * width * border + strips
    return replace(
        call,
        params=(*call.params, ("pixels", pixels), ("strip_row", strip_row)),
        scratch=8 * pixels * groups + (filter_h * strip_row or lines),
        cost=images * each,
    )


def _border_instructions(view: Window, channels_in: int) -> int:
    """What borders, and rows of a filter that are no whole groups, cost per pixel on average."""
    taps = view.h.kernel * view.w.kernel
    if channels_in % 4 == 0:
        return 10 * taps if view.h.is_padded or view.w.is_padded else 0
    return 40 * view.h.kernel + 2 * taps * channels_in


def packed_layer(
    context: OpContext, values: Integers, axis: int, *, shifted: bool = False
) -> Layer:
    """A node's weights, [channels, inputs], with all that its sums go through.

    Args:
        axis: of the output channels in the node's filters.
        shifted: whether the filters' zero points, which do not count, may be others than 0.
    """
    x, filters, y = context.input(0), context.input(1), context.output()
    bias = bias_table(context, context.optional_input(2), len(values))
    quant = context.require_quant(y)
    return Layer(
        sums=Sums(
            weights=values,
            bias=np.zeros(len(values), np.int64) if bias is None else bias.values.astype(np.int64),
            zero_point=context.require_quant(x).zero_point,
        ),
        factors=output_factors(
            context, x, y, channel_scales(context, filters, axis, shifted=shifted)
        ),
        zero_point=quant.zero_point,
        act_min=activation_range(fused_activation(context), quant, y.dtype)[0],
        only_signed=context.target.optimize is Optimize.SIZE,
    )


def zero_points(context: OpContext, x: Tensor, view: Window) -> Table | None:
    """A pixel of zero points, which taps outside the map read; None if all are inside."""
    if not (view.h.is_padded or view.w.is_padded):
        return None
    return table(np.full(x.shape[3], context.require_quant(x).zero_point, np.int8))
