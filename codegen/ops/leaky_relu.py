"""LEAKY_RELU: x where it is not negative, alpha * x elsewhere; any alpha.

Maths: TFLite's reference `QuantizeLeakyRelu`: one factor per side of the zero point, both
computed in float32, two roundings. A negative slope is the negated result of a positive one.
"""

from __future__ import annotations

import math

from codegen.fixed_point import integer_range, requantize_twice
from codegen.graph import DType
from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.codes import CODES
from codegen.ops.float32 import float_activation
from codegen.ops.lookup import lookup, typed_pair
from codegen.ops.requantize import product_factor
from codegen.ops.rescale import Rescaling, rescaled

TYPES = (*CODES, DType.FLOAT32)


def _alpha(context: OpContext) -> float:
    alpha = context.option("alpha", 0.0)
    if not isinstance(alpha, int | float) or not math.isfinite(alpha):
        raise context.invalid(f"option alpha is {alpha!r}, not a finite number")
    return float(alpha)


def lower(context: OpContext) -> Lowered:
    """Shapes: x of any shape -> y of the same."""
    x, y = typed_pair(context, *TYPES)
    alpha = _alpha(context)
    if x.dtype is DType.FLOAT32:
        summary = f"alpha {alpha:g}"
        return float_activation(context, "cg_leaky_relu_f32", [("alpha", alpha)], summary)
    x_quant, y_quant = context.require_quant(x), context.require_quant(y)
    positive = product_factor(context, x_quant.scale, 1.0, y_quant.scale)
    negative = product_factor(context, x_quant.scale, abs(alpha), y_quant.scale)
    sign = -1 if alpha < 0 else 1
    if x.dtype is DType.INT16:
        rescaling = Rescaling(positive, negative, integer_range(y.dtype), sign)
        return rescaled(context, x, y, rescaling, f"alpha {alpha:g}")

    def result(code: int) -> int:
        value = code - x_quant.zero_point
        scaled = (
            requantize_twice(value, *positive)
            if value >= 0
            else sign * requantize_twice(value, *negative)
        )
        return scaled + y_quant.zero_point

    return lookup(x, y, result, f"alpha {alpha:g}")


SPEC = OpSpec(
    name="LEAKY_RELU",
    max_version=2,
    lower=lower,
    types=TYPES,
    notes="any alpha and scales",
)
