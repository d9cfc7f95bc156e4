"""RELU, int8: max(x, 0) as an operator of its own, with a scale of its own.

Maths: TFLite's reference `QuantizedReluX`: one factor x scale / y scale, computed in float32, two
roundings, then the clamp of the activation in the output's quantisation.
"""

from __future__ import annotations

from codegen.fixed_point import activation_range, requantize_twice
from codegen.graph import DType
from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.lookup import int8_pair, lookup
from codegen.ops.requantize import factor, float32_factor


def clamped(context: OpContext, activation: str) -> Lowered:
    """Requantise, then clamp like the fused activation of that name.

    Shapes: x of any shape -> y of the same.
    """
    x, y = int8_pair(context)
    x_quant, y_quant = context.require_quant(x), context.require_quant(y)
    scale = factor(context, float32_factor(x_quant.scale, 1.0, y_quant.scale))
    low, high = activation_range(activation, y_quant, y.dtype)

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
    types=(DType.INT8,),
    notes="any scales",
)
