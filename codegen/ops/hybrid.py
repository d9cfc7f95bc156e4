"""Hybrid ("dynamic range") operators: float32 data, int8 or int4 weights, scales per output or one.

The kernel quantises the data to int8 as it runs, with the scale that fits them (docs/numerics.md).
"""

from __future__ import annotations

import numpy as np

from codegen.graph import Tensor
from codegen.ops.base import OpContext, table, weights
from codegen.ops.float32 import float_bias, float_clamp_params
from codegen.ops.forms import Params
from codegen.ops.requantize import channel_scales, filter_constant

_LARGEST_CODE = 255  # distance of two codes of the data


def hybrid_params(context: OpContext, x: Tensor, filters: Tensor, y: Tensor, axis: int) -> Params:
    """Clamp, filter, its scales and bias, for output channels along `axis` of the filter.

    Raises:
        Unsupported: for weights that are computed at run time or too many per output.
        InvalidModel: for scales or a bias that do not fit the filter.
    """
    scales = channel_scales(context, filters, axis)
    assert filters.quant is not None
    values = filter_constant(context, filters).astype(np.int8)
    others = tuple(a for a in range(values.ndim) if a != axis)
    if int(np.abs(values.astype(np.int64)).sum(axis=others).max()) * _LARGEST_CODE >= 2**31:
        raise context.unsupported(
            f"sums over {filters.label} may not fit into 32 bits",
            "split the operator into several with fewer inputs each",
        )
    kept = scales if filters.quant.per_channel else scales[:1]
    return (
        *float_clamp_params(context),
        ("weights", weights(values)),
        ("scales", table(np.array(kept, np.float32))),
        ("bias", float_bias(context, context.optional_input(2), filters.shape[axis])),
    )


def hybrid_convolution_params(
    context: OpContext, x: Tensor, filters: Tensor, y: Tensor, axis: int
) -> Params:
    """As `hybrid_params`, of a convolution."""
    per_channel = filters.quant is not None and filters.quant.per_channel
    return (
        ("in_channels", x.shape[3]),
        ("per_channel", int(per_channel)),
        *hybrid_params(context, x, filters, y, axis),
    )


def hybrid_depthwise_params(
    context: OpContext, x: Tensor, filters: Tensor, y: Tensor, axis: int
) -> Params:
    """As `hybrid_params`, of a depthwise convolution.

    Raises:
        Unsupported: for one scale for all channels, as the reference does.
    """
    quant = filters.quant
    if quant is not None and len(quant.scales) != filters.shape[axis]:
        raise context.unsupported(
            f"{filters.label} has {len(quant.scales)} scales where only one per channel is defined",
            "convert the model again with weights quantised per channel",
        )
    return (("in_channels", x.shape[3]), *hybrid_params(context, x, filters, y, axis))
