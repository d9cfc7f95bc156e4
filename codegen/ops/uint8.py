"""uint8 data and weights, both with a zero point: the legacy format, one scale per tensor."""

from __future__ import annotations

from collections.abc import Callable

from codegen.graph import DType, Tensor
from codegen.ops.base import OpContext, weights
from codegen.ops.forms import Form, Params
from codegen.ops.requantize import (
    bias_table,
    clamp_params,
    factor,
    filter_values,
    output_factors,
)


def byte_params(context: OpContext, x: Tensor, filters: Tensor, y: Tensor, axis: int) -> Params:
    """The fields of `cg_byte_sum`, for output channels along `axis`.

    Raises:
        Unsupported, InvalidModel: for a scale per channel, or scales and sums without room.
    """
    real = byte_factor(context, x, filters, y)
    multiplier, shift = factor(context, real)
    fields = (
        ("multiplier", multiplier),
        ("shift", shift),
        *byte_operands(context, x, filters, y, axis),
    )
    return tuple((f"sum.{name}", value) for name, value in fields)


def byte_factor(context: OpContext, x: Tensor, filters: Tensor, y: Tensor) -> float:
    """The factor from sums to codes."""
    (real,) = output_factors(context, x, y, (context.require_quant(filters).scale,))
    return real


def byte_operands(context: OpContext, x: Tensor, filters: Tensor, y: Tensor, axis: int) -> Params:
    """Offsets, clamp, weights and bias, for output channels along `axis`."""
    zeros = [context.require_quant(t).zero_point for t in (x, filters, y)]
    values = filter_values(context, x, filters, axis, zeros[1])
    return (
        ("input_offset", -zeros[0]),
        ("weights_offset", -zeros[1]),
        ("output_offset", zeros[2]),
        *clamp_params(context, y),
        ("weights", weights(values)),
        ("bias", bias_table(context, context.optional_input(2), filters.shape[axis])),
    )


def byte_form(name: str, params: Callable[..., Params] = byte_params) -> Form:
    """The form of the operator called `name` in C."""
    return Form(
        types=(DType.UINT8, DType.UINT8, DType.UINT8),
        kernel=f"cg_{name}_u8",
        header=f"cg_{name}_u8.h",
        args=f"cg_{name}_u8_args",
        params=params,
    )
