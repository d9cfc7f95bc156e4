"""FULLY_CONNECTED for Helium: the form of cg_fully_connected_mve.h and when it is right."""

from __future__ import annotations

import math
from dataclasses import replace

from codegen.graph import Tensor
from codegen.ops.base import Call, OpContext
from codegen.ops.conv_2d_mve import dot_cost
from codegen.ops.packing_mve import layer_params, once_rounded
from codegen.ops.requantize import (
    channel_scales,
    clamp_bounds,
    convolution_bias,
    filter_values,
    output_factors,
    weights_zero_point,
)


def fully_connected_forms(context: OpContext, filters: Tensor, portable: Call) -> tuple[Call, ...]:
    """The fast form of a portable call, if weights and scales allow it.

    Shapes: filters[out, in].
    """
    x, y = context.input(0), context.output()
    if weights_zero_point(filters) != 0:
        return ()
    scales = channel_scales(context, filters, axis=0, shifted=True)
    zero = context.require_quant(y).zero_point
    requantisation = once_rounded(
        output_factors(context, x, y, scales), zero, clamp_bounds(context, y)
    )
    if requantisation is None:
        return ()
    units, depth = filters.shape
    call = replace(
        portable,
        kernel="cg_fully_connected_mve_s8",
        header="cg_fully_connected_mve.h",
        args="cg_fully_connected_mve_args",
        params=layer_params(
            filter_values(context, x, filters, 0),
            convolution_bias(context, units),
            context.require_quant(x).zero_point,
            requantisation,
        ),
        cost=dot_cost(math.prod(portable.outputs[0].map[:3]), units, depth),
    )
    return (call,)
