"""Weights and factors as the blocked kernels read them (runtime_c/kernels/cg_blocked.h)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from codegen.fixed_point import quantize_multiplier
from codegen.graph import Tensor
from codegen.ops.base import OpContext, Param, table, weights
from codegen.ops.requantize import (
    bias_table,
    channel_scales,
    clamp_params,
    filter_values,
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
    return (
        ("input_zero", zero),
        ("output_offset", context.require_quant(y).zero_point),
        *clamp_params(context, y),
        ("weights", weights(np.append(values, np.zeros(SLACK, np.int8)))),
        ("bias", weights(folded_bias(context, values, zero, axis))),
        ("multiplier", table(np.array([m for m, _ in pairs], np.int32))),
        ("shift", table(np.array([-s for _, s in pairs], np.int8))),
    )


def folded_bias(
    context: OpContext, values: NDArray[np.int8], zero: int, axis: int
) -> NDArray[np.int32]:
    """The bias less the input's zero point times the sum of the weights, modulo 2**32."""
    bias = bias_table(context, context.optional_input(2), values.shape[axis])
    start = np.zeros(values.shape[axis], np.int64) if bias is None else bias.values.astype(np.int64)
    others = tuple(a for a in range(values.ndim) if a != axis)
    folded = start - zero * values.astype(np.int64).sum(axis=others)
    return np.asarray(folded.astype(np.uint32).astype(np.int32))
