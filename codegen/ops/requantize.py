"""Weights, bias and per-channel requantisation of convolution-like operators."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codegen.fixed_point import (
    ACTIVATION_CLAMPS,
    activation_range,
    integer_range,
    quantize_multiplier,
)
from codegen.graph import DType, Quantization, Tensor
from codegen.ops.base import OpContext, Param, Table, table, weights
from codegen.target import Reference

LARGEST_FACTOR = 2.0**30
"""The multiplier's shift to the left stays below 31."""


def channel_scales(
    context: OpContext, filters: Tensor, axis: int, *, shifted: bool = False
) -> tuple[float, ...]:
    """One filter scale per output channel, a per-tensor scale repeated.

    Args:
        axis: of the output channels.
        shifted: whether zero points other than 0 are allowed.

    Raises:
        InvalidModel: if the filter has no scale, the wrong number of them or a zero point.
    """
    channels, quant = filters.shape[axis], filters.quant
    if quant is None or not quant.scales:
        raise context.invalid(f"{filters.label} is int8 but has no scale")
    if any(quant.zero_points) and not shifted:
        raise context.invalid(f"{filters.label} is int8 weights with a zero point other than 0")
    scales = quant.scales * channels if len(quant.scales) == 1 else quant.scales
    if len(scales) != channels or (quant.per_channel and quant.axis != axis):
        raise context.invalid(
            f"{filters.label} has {len(quant.scales)} scales along axis {quant.axis} "
            f"where the operator needs {channels} along axis {axis}"
        )
    return scales


def output_factors(
    context: OpContext, x: Tensor, y: Tensor, filter_scales: tuple[float, ...]
) -> list[float]:
    """in_scale * filter_scale / out_scale per output channel, in double as LiteRT computes it.

    A filter scale of 0 gives the factor 0: that channel is its output's zero point.

    Raises:
        Unsupported: for factors that no 32-bit arithmetic can apply.
    """
    x_scale, y_scale = context.require_quant(x).scale, context.require_quant(y).scale
    factors = [x_scale * scale / y_scale for scale in filter_scales]
    require_factor(context, max(factors))
    return factors


def require_factor(context: OpContext, factor: float) -> None:
    """Refuse a factor between sums and output codes that no 32-bit arithmetic can apply.

    Raises:
        Unsupported: for factors from `LARGEST_FACTOR`.
    """
    if factor >= LARGEST_FACTOR:
        raise context.unsupported(
            f"its scales turn sums into codes by a factor of {factor:.3g}",
            f"quantise the model again so that it is below {LARGEST_FACTOR:.3g}",
        )


def filter_values(
    context: OpContext, x: Tensor, filters: Tensor, axis: int, zero_point: int = 0
) -> NDArray[Any]:
    """The constant filter, int8 or uint8, all sums of whose products with `x` fit into 32 bits.

    Args:
        axis: of the output channels, each of which has one sum.
        zero_point: of the filter.

    Raises:
        Unsupported: for a filter that is computed at run time or too deep.
    """
    values = filter_constant(context, filters)
    if int(largest_sums(context, x, values, axis, zero_point).max()) >= 2**31:
        raise context.unsupported(
            f"sums over {filters.label} may not fit into 32 bits",
            "split the operator into several with fewer inputs each",
        )
    return values


def weights_zero_point(filters: Tensor) -> int:
    """The zero point of a fully connected layer's weights, which one scale per output makes 0."""
    quant = filters.quant
    return 0 if quant is None or quant.per_channel else quant.zero_point


def filter_constant(context: OpContext, filters: Tensor) -> NDArray[Any]:
    """The constant filter, int8 or uint8; int4 as int8.

    Raises:
        Unsupported: for a filter that is computed at run time.
    """
    if filters.dtype is DType.INT4 and filters.raw is not None:
        return unpacked_int4(filters.raw, filters.shape)
    return context.require_constant(filters)


def unpacked_int4(raw: bytes, shape: tuple[int, ...]) -> NDArray[np.int8]:
    """Elements of 4 bits with a sign as bytes; the first of two stands in the lower bits."""
    pairs = np.frombuffer(raw, np.int8)
    elements = np.stack([pairs << 4 >> 4, pairs >> 4], axis=1).reshape(-1)
    return elements[: math.prod(shape)].reshape(shape)


def largest_sums(
    context: OpContext, x: Tensor, filters: NDArray[Any], axis: int, zero_point: int = 0
) -> NDArray[np.int64]:
    """Per output channel, what |sum of (x - zero point) * (w - zero point)| cannot exceed."""
    low, high = integer_range(x.dtype)
    zero = context.require_quant(x).zero_point
    others = tuple(a for a in range(filters.ndim) if a != axis)
    sums = np.abs(filters.astype(np.int64) - zero_point).sum(axis=others)
    return np.asarray(sums * max(high - zero, zero - low), np.int64)


def convolution_params(
    context: OpContext, x: Tensor, filters: Tensor, y: Tensor, axis: int
) -> tuple[tuple[str, Param], ...]:
    """Offsets, clamp, filter, bias and one factor per output channel, which lie along `axis`.

    Raises:
        Unsupported, InvalidModel: see the functions above and below.
    """
    factors = output_factors(context, x, y, channel_scales(context, filters, axis))
    multiplier, shift = multiplier_tables(factors)
    return (
        ("input_offset", -context.require_quant(x).zero_point),
        ("output_offset", context.require_quant(y).zero_point),
        *clamp_params(context, y),
        ("weights", weights(filter_values(context, x, filters, axis))),
        ("bias", bias_table(context, context.optional_input(2), filters.shape[axis])),
        ("multiplier", multiplier),
        ("shift", shift),
    )


def multiplier_tables(real: list[float]) -> tuple[Table, Table]:
    """Real factors as two tables: int32 multipliers and int8 shifts."""
    pairs = [quantize_multiplier(value) for value in real]
    multipliers = np.array([m for m, _ in pairs], np.int32)
    shifts = np.array([s for _, s in pairs], np.int8)
    return table(multipliers), table(shifts)


def factor(context: OpContext, real: float, limit: float = 2.0**30) -> tuple[int, int]:
    """One real factor as multiplier and shift.

    Raises:
        Unsupported: if it is not below `limit`, where fixed point has no room for it.
    """
    if not real < limit:
        raise context.unsupported(
            f"the scales of its tensors differ by a factor of {real:.3g}",
            "quantise the model again with data like that of the real input",
        )
    return quantize_multiplier(real)


def float32_factor(a: float, b: float, divisor: float) -> float:
    """a * b / divisor in float32, from left to right; infinite where that overflows."""
    with np.errstate(over="ignore"):
        return float(np.float32(a) * np.float32(b) / np.float32(divisor))


def common_scale(a: Quantization, b: Quantization) -> float:
    """The scale at which ADD and SQUARED_DIFFERENCE meet their operands: twice the larger one."""
    return 2 * max(a.scale, b.scale)


def common_scale_params(
    context: OpContext, a: Quantization, b: Quantization, y: Quantization, real: float
) -> tuple[tuple[str, int], ...]:
    """Offsets, the operands' factors to the common scale, and `real` from there to the output.

    Raises:
        Unsupported: for factors that fixed point has no room for.
    """
    common = common_scale(a, b)
    a_multiplier, a_shift = factor(context, a.scale / common)
    b_multiplier, b_shift = factor(context, b.scale / common)
    multiplier, shift = factor(context, real, limit=1.0)
    return (
        ("a_offset", -a.zero_point),
        ("b_offset", -b.zero_point),
        ("output_offset", y.zero_point),
        ("a_multiplier", a_multiplier),
        ("a_shift", a_shift),
        ("b_multiplier", b_multiplier),
        ("b_shift", b_shift),
        ("multiplier", multiplier),
        ("shift", shift),
    )


def product_factor(context: OpContext, a: float, b: float, divisor: float) -> tuple[int, int]:
    """`factor` of a * b / divisor, in float32; TFLite Micro computes it in double.

    Raises:
        Unsupported: see `factor`.
    """
    if context.target.reference is Reference.TFLM:
        return factor(context, a * b / divisor)
    return factor(context, float32_factor(a, b, divisor))


def bias_table(context: OpContext, bias: Tensor | None, channels: int) -> Table | None:
    """The int32 bias as a table; None when it is absent.

    Raises:
        Unsupported: for another type, or a bias computed at run time.
        InvalidModel: for a wrong length.
    """
    if bias is None:
        return None
    context.require_type(bias, DType.INT32)
    values = context.require_constant(bias)
    require_length(context, bias, channels)
    return weights(values.reshape(-1))


def convolution_bias(context: OpContext, channels: int) -> NDArray[np.int32] | None:
    """The bias of a convolution, None if it is absent."""
    bias = bias_table(context, context.optional_input(2), channels)
    return None if bias is None else bias.values.astype(np.int32)


def folded_bias(
    filters: NDArray[np.int8], bias: NDArray[np.int32] | None, input_zero: int
) -> NDArray[np.int32]:
    """The bias less the input's zero point times the sum of the weights, modulo 2**32.

    Shapes: filters[channels, depth], bias[channels] or None -> [channels].
    """
    start = np.zeros(len(filters), np.int64) if bias is None else bias.astype(np.int64)
    folded = start - input_zero * filters.astype(np.int64).sum(axis=1)
    return np.asarray(folded.astype(np.uint32).astype(np.int32))


def require_length(context: OpContext, bias: Tensor, channels: int) -> None:
    """Hold the number of biases against that of the output channels.

    Raises:
        InvalidModel: if they differ.
    """
    if bias.elements != channels:
        raise context.invalid(f"{bias.label} has {bias.elements} elements for {channels} channels")


def clamp_params(context: OpContext, out: Tensor) -> tuple[tuple[str, Param], ...]:
    """`act_min` and `act_max` of the fused activation.

    Raises:
        Unsupported: for a fused activation that is not a clamp.
    """
    low, high = clamp_bounds(context, out)
    return (("act_min", low), ("act_max", high))


def clamp_bounds(context: OpContext, out: Tensor) -> tuple[int, int]:
    """Smallest and largest code that the fused activation lets through.

    Raises:
        Unsupported: for a fused activation that is not a clamp.
    """
    return activation_range(fused_activation(context), context.require_quant(out), out.dtype)


def fused_activation(context: OpContext) -> str:
    """The schema name of the fused activation.

    Raises:
        Unsupported: for one that is not a clamp.
    """
    activation = context.str_option("fused_activation_function", "NONE")
    if activation not in ACTIVATION_CLAMPS:
        raise context.unsupported(
            f"the fused activation {activation} is not supported",
            "export it as an operator of its own",
        )
    return activation
