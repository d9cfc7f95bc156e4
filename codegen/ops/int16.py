"""int16 data with int8 weights: the constants of kernels whose sums are 64 bits wide.

Data have no zero point. Sums are requantised with a multiplier of 15 bits and one rounding, or
with 31 bits and two where the biases are int32 (docs/numerics.md).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from codegen.fixed_point import quantize_multiplier
from codegen.graph import DType, Tensor
from codegen.ops.base import OpContext, Param, Table, table, weights
from codegen.ops.requantize import (
    channel_scales,
    clamp_params,
    filter_constant,
    largest_sums,
    output_factors,
    require_length,
)

_WIDEST_SUM = 2**47
"""Times a multiplier of 15 bits it fits 64 bits, as the reference demands."""

_LARGEST_FACTOR = 2.0**14
"""Of wide sums: the shift to the right stays positive."""


def require_symmetric(context: OpContext, *tensors: Tensor) -> None:
    """Refuse zero points, which the reference does not know for int16.

    Raises:
        Unsupported: naming the tensor.
    """
    for tensor in tensors:
        zero_point = context.require_quant(tensor, zero_scale=True).zero_point
        if zero_point:
            raise context.unsupported(
                f"{tensor.label} is int16 with the zero point {zero_point}",
                "only 0 is defined, so convert the model again with the TFLite converter",
            )


def wide_bias(
    context: OpContext, channels: int
) -> tuple[NDArray[np.int64], tuple[tuple[str, Table | None], ...]]:
    """The bias of input 2 (zeros if absent), and the fields `bias` and `wide_bias` that hold it.

    Values that fit 32 bits are stored so.

    Raises:
        Unsupported: for another type than int32 or int64, or a bias computed at run time.
        InvalidModel: for a wrong length.
    """
    bias = context.optional_input(2)
    if bias is None:
        return np.zeros(channels, np.int64), (("bias", None), ("wide_bias", None))
    context.require_type(bias, DType.INT64, DType.INT32)
    values = context.require_constant(bias).astype(np.int64).reshape(-1)
    require_length(context, bias, channels)
    if np.array_equal(values, values.astype(np.int32)):
        return values, (("bias", weights(values.astype(np.int32))), ("wide_bias", None))
    return values, (("bias", None), ("wide_bias", weights(values)))


def wide_convolution_params(
    context: OpContext, x: Tensor, filters: Tensor, y: Tensor, axis: int
) -> tuple[tuple[str, Param], ...]:
    """Weights and everything behind the sum, for output channels along `axis`.

    Raises:
        Unsupported, InvalidModel: for scales, sums or a bias that the kernel has no room for.
    """
    require_symmetric(context, x, y)
    factors = output_factors(context, x, y, channel_scales(context, filters, axis))
    values = filter_constant(context, filters)
    bias, bias_fields = wide_bias(context, filters.shape[axis])
    bias_tensor = context.optional_input(2)
    narrow = bias_tensor is not None and bias_tensor.dtype is DType.INT32
    if not narrow:
        sums = largest_sums(context, x, values, axis)
        require_wide(context, sums, bias)
        _require_wide_factor(context, max(factors))
    multiplier, shift = _multipliers(factors, narrow)
    fields: tuple[tuple[str, Param], ...] = (
        ("narrow", int(narrow)),
        *clamp_params(context, y),
        *bias_fields,
        ("multiplier", table(multiplier)),
        ("shift", table(shift)),
    )
    return (("weights", weights(values)), *((f"sum.{name}", value) for name, value in fields))


def require_wide(context: OpContext, sums: NDArray[np.int64], bias: NDArray[np.int64]) -> None:
    """Refuse sums of products and biases that may leave 48 bits.

    Raises:
        Unsupported: with what they can reach.
    """
    largest = max(int(s) + abs(int(b)) for s, b in zip(sums, bias, strict=True))
    if largest >= _WIDEST_SUM:
        raise context.unsupported(
            f"its sums can reach {largest:.3g}",
            f"make its biases smaller; {_WIDEST_SUM:.3g} is the limit",
        )


def _require_wide_factor(context: OpContext, factor: float) -> None:
    if factor >= _LARGEST_FACTOR:
        raise context.unsupported(
            f"its scales turn sums into codes by a factor of {factor:.3g}",
            f"quantise the model again so that it is below {_LARGEST_FACTOR:.3g}",
        )


def _multipliers(factors: list[float], narrow: bool) -> tuple[NDArray[np.int32], NDArray[np.int8]]:
    """Q31 multipliers and their shifts; for wide sums 15 bits of them and shifts to the right."""
    pairs = [quantize_multiplier(value) for value in factors]
    if not narrow:
        pairs = [(min((m + 2**15) >> 16, 2**15 - 1), 15 - s) for m, s in pairs]
    return np.array([m for m, _ in pairs], np.int32), np.array([s for _, s in pairs], np.int8)
