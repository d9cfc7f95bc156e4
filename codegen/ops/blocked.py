"""Weights and factors as the blocked kernels read them (runtime_c/kernels/cg_blocked.h)."""

from __future__ import annotations

import numpy as np

from codegen.fixed_point import quantize_multiplier
from codegen.graph import Tensor
from codegen.ops.base import OpContext, Param, table, weights
from codegen.ops.requantize import (
    channel_scales,
    clamp_params,
    convolution_bias,
    filter_values,
    folded_bias,
    output_factors,
)

SLACK = 1
"""Bytes behind the weights that a kernel may read."""


def blocked_scales(
    context: OpContext, x: Tensor, filters: Tensor, y: Tensor, axis: int
) -> tuple[tuple[str, Param], ...] | None:
    """Weights, bias with the zero point in it, and factors that all shift to the right.

    None if one of them shifts to the left. `axis` is that of the output channels.
    """
    factors = output_factors(context, x, y, channel_scales(context, filters, axis))
    pairs = [quantize_multiplier(value) for value in factors]
    if any(shift > 0 for _, shift in pairs):
        return None
    values, zero = filter_values(context, x, filters, axis), context.require_quant(x).zero_point
    by_channel = np.moveaxis(values, axis, 0).reshape(values.shape[axis], -1)
    bias = folded_bias(by_channel, convolution_bias(context, len(by_channel)), zero)
    return (
        ("input_zero", zero),
        ("output_offset", context.require_quant(y).zero_point),
        *clamp_params(context, y),
        ("weights", weights(np.append(values, np.zeros(SLACK, np.int8)))),
        ("bias", weights(bias)),
        ("multiplier", table(np.array([m for m, _ in pairs], np.int32))),
        ("shift", table(np.array([-s for _, s in pairs], np.int8))),
    )
