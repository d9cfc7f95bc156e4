"""FULLY_CONNECTED: inputs of any rank, one weight scale or one per output.

Maths (docs/numerics.md), int8: sums of (x - zero point) * (w - zero point) plus bias, times
in_scale * weight_scale / out_scale as a double product, rounded once, halves away from zero. With
a scale per output the weights' zero points count as 0. float32:
the sum of x * w, plus bias, clamped.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from codegen.graph import DType, Tensor
from codegen.ops import fully_connected_dsp, fully_connected_mve
from codegen.ops.base import (
    Access,
    Alias,
    Call,
    Lowered,
    OpContext,
    OpSpec,
    Table,
    nhwc,
    table,
    weights,
    whole,
)
from codegen.ops.double_scale import double_parts, double_tables
from codegen.ops.fast_forms import with_fast_forms
from codegen.ops.float32 import float_convolution_params
from codegen.ops.forms import Form, Params, data_types, select_form, with_int4_weights
from codegen.ops.fully_connected_tflm import as_convolution
from codegen.ops.hybrid import hybrid_params
from codegen.ops.int16 import require_symmetric, require_wide, wide_bias
from codegen.ops.requantize import (
    bias_table,
    channel_scales,
    clamp_params,
    filter_constant,
    filter_values,
    fused_activation,
    largest_sums,
    output_factors,
    weights_zero_point,
)
from codegen.ops.uint8 import byte_factor, byte_form, byte_operands
from codegen.target import Kernels, Reference


def lower(context: OpContext) -> Lowered:
    """Shapes: x of any shape, read as [batch, in], weights[out,in], bias[out] -> y[batch,out].

    With keep_num_dims x is [..., in] and y [..., out].
    """
    x, filters, y = context.input(0), context.input(1), context.output()
    form = select_form(context, FORMS)
    if context.int_option("weights_format") != 0:
        raise context.unsupported(
            "its weights are shuffled", "convert the model with weights_format DEFAULT"
        )
    if len(filters.shape) != 2 or 0 in filters.shape:
        raise context.invalid(f"{filters.label} must have the two dimensions out and in")
    units, depth = filters.shape
    context.require_shape(y, _out_shape(context, x, units, depth))
    inputs, outputs = _accesses(x, y, depth)
    summary, macs = f"{depth} to {units} {fused_activation(context)}", y.elements * depth
    if context.target.reference is Reference.TFLM and x.dtype in (DType.INT8, DType.INT16):
        call = as_convolution(context, x, filters, y, (inputs, outputs))
        return Lowered(calls=(call,), summary=summary, macs=macs)
    call = Call(
        kernel=form.kernel,
        header=form.header,
        args=form.args,
        params=(("depth", depth), *form.params(context, x, filters, y, 0)),
        inputs=(inputs,),
        outputs=(outputs,),
        scratch=form.scratch(depth),
    )
    lowered = Lowered(calls=(call,), summary=summary, macs=macs)
    if form.kernel == "cg_fully_connected_s8" and context.target.kernels in _FAST_FORMS:
        fast = _FAST_FORMS[context.target.kernels]
        return with_fast_forms(lowered, fast(context, filters, call))
    return lowered


def _out_shape(context: OpContext, x: Tensor, units: int, depth: int) -> tuple[int, ...]:
    if context.option("keep_num_dims"):
        if not x.shape or x.shape[-1] != depth:
            raise context.invalid(f"{x.label} does not end in the {depth} inputs of the weights")
        return (*x.shape[:-1], units)
    if x.elements % depth:
        raise context.invalid(f"{x.label} is no whole number of vectors of {depth} elements")
    return (x.elements // depth, units)


def _accesses(x: Tensor, y: Tensor, depth: int) -> tuple[Access, Access]:
    """Vectors are pixels: of the input's own map if its last dimension is one vector."""
    if nhwc(x.shape) == (*nhwc(y.shape)[:3], depth):
        return whole(x, Alias.ROW), whole(y)
    batch = x.elements // depth
    return (
        Access(x.index, (1, 1, batch, depth), dense=True),
        Access(y.index, (1, 1, batch, y.elements // batch), dense=True),
    )


def _params_s8(context: OpContext, x: Tensor, filters: Tensor, y: Tensor, axis: int) -> Params:
    """Offsets, clamp, weights, bias, and one factor, or one per output where they differ."""
    scales = channel_scales(context, filters, axis, shifted=True)
    factors = output_factors(context, x, y, scales)
    zero_point = weights_zero_point(filters)
    values = filter_values(context, x, filters, axis, zero_point)
    bias = bias_table(context, context.optional_input(2), filters.shape[axis])
    largest = _largest(context, x, values, axis, zero_point, bias)
    _require_int32(context, largest * np.array(factors))
    per_channel = len(set(factors)) > 1
    return (
        ("input_offset", -context.require_quant(x).zero_point),
        ("output_offset", context.require_quant(y).zero_point),
        *clamp_params(context, y),
        ("per_channel", int(per_channel)),
        ("weights_offset", -zero_point),
        ("weights", weights(values)),
        ("bias", bias),
        *double_tables(factors if per_channel else factors[:1]),
    )


def _params_hybrid(context: OpContext, x: Tensor, filters: Tensor, y: Tensor, axis: int) -> Params:
    """How the data are quantised, and what all hybrid operators have."""
    per_channel = filters.quant is not None and filters.quant.per_channel
    return (
        ("asymmetric", int(bool(context.option("asymmetric_quantize_inputs")))),
        ("per_channel", int(per_channel)),
        *hybrid_params(context, x, filters, y, axis),
    )


def _params_s16(context: OpContext, x: Tensor, filters: Tensor, y: Tensor, axis: int) -> Params:
    """As `_params_s8`, with sums of 64 bits, and factors as doubles where 32 do not suffice."""
    require_symmetric(context, x, y)
    factors = output_factors(context, x, y, channel_scales(context, filters, axis, shifted=True))
    zero_point = weights_zero_point(filters)
    values = filter_constant(context, filters)
    bias, bias_fields = wide_bias(context, filters.shape[axis])
    sums = largest_sums(context, x, values, axis, zero_point)
    require_wide(context, sums, bias)
    _require_int32(context, (sums + np.abs(bias)) * np.array(factors))
    per_channel = len(set(factors)) > 1
    scales = factors if per_channel else factors[:1]
    fits = (sums + np.abs(bias)).max() < 2**31 and max(scales) < 2**31
    return (
        *clamp_params(context, y),
        ("per_channel", int(per_channel)),
        ("weights_offset", -zero_point),
        ("weights", weights(values)),
        *bias_fields,
        *(double_tables(scales) if fits else (("scale", table(np.array(scales, np.float64))),)),
    )


def _params_u8(context: OpContext, x: Tensor, filters: Tensor, y: Tensor, axis: int) -> Params:
    """As `_params_s8`, with one factor."""
    operands = byte_operands(context, x, filters, y, axis)
    real, zero_point = byte_factor(context, x, filters, y), weights_zero_point(filters)
    values = filter_values(context, x, filters, axis, zero_point)
    bias = bias_table(context, context.optional_input(2), filters.shape[axis])
    _require_int32(context, _largest(context, x, values, axis, zero_point, bias) * np.float64(real))
    high, low, shift = double_parts(real)
    return (*operands, ("scale_high", high), ("scale_low", low), ("scale_shift", shift))


def _largest(
    context: OpContext,
    x: Tensor,
    values: NDArray[Any],
    axis: int,
    zero_point: int,
    bias: Table | None,
) -> NDArray[np.int64]:
    """Per output what a sum of products and its bias cannot exceed, as far as int32 goes."""
    sums = largest_sums(context, x, values, axis, zero_point)
    largest = sums if bias is None else sums + np.abs(bias.values.astype(np.int64))
    return np.minimum(largest, 2**31)


def _require_int32(context: OpContext, products: NDArray[np.float64]) -> None:
    """Refuse scales with which a product may leave int32, where the reference is undefined."""
    if products.max() >= 2**31 - 256:
        raise context.unsupported(
            f"its scales can make an output code of {products.max():.3g}",
            "quantise the model again with scales that fit the values",
        )


_FAST_FORMS = {
    Kernels.DSP: fully_connected_dsp.fully_connected_forms,
    Kernels.MVE: fully_connected_mve.fully_connected_forms,
}
"""What else an int8 layer may become."""

_FORMS = (
    Form(
        types=(DType.INT8, DType.INT8, DType.INT8),
        kernel="cg_fully_connected_s8",
        header="cg_fully_connected.h",
        args="cg_fully_connected_args",
        params=_params_s8,
    ),
    Form(
        types=(DType.FLOAT32, DType.FLOAT32, DType.FLOAT32),
        kernel="cg_fully_connected_f32",
        header="cg_fully_connected_f32.h",
        args="cg_fully_connected_f32_args",
        params=float_convolution_params,
    ),
    Form(
        types=(DType.FLOAT32, DType.INT8, DType.FLOAT32),
        kernel="cg_fully_connected_hybrid",
        header="cg_fully_connected_hybrid.h",
        args="cg_fully_connected_hybrid_args",
        params=_params_hybrid,
        quantises=True,
    ),
    Form(
        types=(DType.INT16, DType.INT8, DType.INT16),
        kernel="cg_fully_connected_s16",
        header="cg_fully_connected_s16.h",
        args="cg_fully_connected_s16_args",
        params=_params_s16,
    ),
    byte_form("fully_connected", _params_u8),
)
FORMS = (*_FORMS, *with_int4_weights(_FORMS, DType.INT8, DType.INT16, DType.FLOAT32))

SPEC = OpSpec(
    name="FULLY_CONNECTED",
    max_version=14,
    lower=lower,
    types=data_types(FORMS),
    notes=(
        "inputs of any rank, keep_num_dims, fused activation; weights per tensor or "
        "per output, constant; bias absent or int32, of int16 data "
        "also int64, of float data float32"
    ),
)
