"""RELU: max(x, 0) as an operator of its own, of codes with a scale of its own.

Maths: TFLite's reference `QuantizedReluX`: one factor x scale / y scale, computed in float32,
two roundings, then the clamp of the activation in the output's quantisation.
"""

from __future__ import annotations

import math

from codegen.fixed_point import ACTIVATION_CLAMPS, activation_range, requantize_twice
from codegen.graph import DType
from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.codes import CODES
from codegen.ops.float32 import float_activation
from codegen.ops.lookup import lookup, typed_pair
from codegen.ops.requantize import product_factor
from codegen.ops.rescale import Rescaling, rescaled

TYPES = (*CODES, DType.FLOAT32)


def clamped(context: OpContext, activation: str, types: tuple[DType, ...] = TYPES) -> Lowered:
    """Requantise, then clamp like the fused activation of that name.

    Shapes: x of any shape -> y of the same.
    """
    x, y = typed_pair(context, *types)
    if x.dtype is DType.FLOAT32:
        bounds = zip(("low", "high"), ACTIVATION_CLAMPS[activation], strict=True)
        ends = {"low": -math.inf, "high": math.inf}
        params = [(end, ends[end] if bound is None else bound) for end, bound in bounds]
        return float_activation(context, "cg_relu_f32", params)
    x_quant, y_quant = context.require_quant(x), context.require_quant(y)
    scale = product_factor(context, x_quant.scale, 1.0, y_quant.scale)
    low, high = activation_range(activation, y_quant, y.dtype)
    if x.dtype is DType.INT16:
        return rescaled(context, x, y, Rescaling(scale, scale, (low, high)))

    def result(code: int) -> int:
        value = requantize_twice(code - x_quant.zero_point, *scale) + y_quant.zero_point
        return min(max(value, low), high)

    return lookup(x, y, result)


def lower(context: OpContext) -> Lowered:
    """Shapes: x of any shape -> y of the same."""
    return clamped(context, "RELU")


SPEC = OpSpec(
    name="RELU",
    max_version=3,
    lower=lower,
    types=TYPES,
    notes="any scales",
)
