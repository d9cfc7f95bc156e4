"""RSQRT: 1 / sqrt(x).

Maths of int8 codes: TFLite's reference `RsqrtEvalQuantizedInt8`: the reciprocal root of the
distance to the zero point by five steps of Newton's method in fixed point, with 20 more bits, times
1 / (sqrt(x scale) * y scale); two roundings at each change of scale. What has no root gives the
largest code; the reference refuses to compute it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from codegen.fixed_point import (
    INT32_MAX,
    INT32_MIN,
    high_mul,
    requantize_twice,
    rounding_shift,
)
from codegen.graph import DType, Tensor
from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.curves import curve, in_double
from codegen.ops.elements import unary_operands
from codegen.ops.lookup import lookup
from codegen.ops.requantize import factor

TYPES = (DType.FLOAT32, DType.INT8, DType.INT16)

_EXTRA_BITS = 20
_LARGEST_CODE = 127
_root = in_double(np.sqrt)


def lower(context: OpContext) -> Lowered:
    """Shapes: x of any shape -> y of the same."""
    x, y = unary_operands(context, TYPES)
    if x.dtype is DType.INT8:
        return _tabulated(context, x, y)
    most = np.float32(0)
    if x.dtype is DType.INT16:
        most = np.float32(2**15 - 1) * np.float32(context.require_quant(y).scale)

    def function(values: Any) -> Any:
        with np.errstate(all="ignore"):
            return np.where(values > 0, np.float32(1) / _root(values), most)[()]

    return curve(context, "cg_rsqrt_f32", TYPES, function)


def _tabulated(context: OpContext, x: Tensor, y: Tensor) -> Lowered:
    x_quant, y_quant = context.require_quant(x), context.require_quant(y)
    root = np.sqrt(np.float32(x_quant.scale)) * np.float32(y_quant.scale)
    multiplier, shift = factor(context, 1.0 / float(root))

    def result(code: int) -> int:
        value = code - x_quant.zero_point
        if value <= 0:
            return _LARGEST_CODE
        mantissa, exponent = reciprocal_root(value)
        data = requantize_twice(1, mantissa, exponent + _EXTRA_BITS)
        return requantize_twice(data, multiplier, shift - _EXTRA_BITS) + y_quant.zero_point

    return lookup(x, y, result)


def reciprocal_root(value: int) -> tuple[int, int]:
    """1 / sqrt(value), value in [1, 2**29), as (m, s): m * 2**(s - 31)."""
    if value == 1:
        return INT32_MAX, 0
    pairs = (31 - value.bit_length()) // 2 - 1
    scaled = value << (2 * pairs)  # in [2**27, 2**29)
    half = rounding_shift(scaled >> 1, 1)
    x = 1 << 28  # with 28 fractional bits, as all numbers here
    for _ in range(5):
        cube = _saturated(high_mul(high_mul(x, x), x) << 6)
        x = _saturated((high_mul(3 << 27, x) - high_mul(half, cube)) << 3)
    root = high_mul(x, round(math.sqrt(0.5) * 2**31))
    right = 11 - pairs
    return (root, -right) if right >= 0 else (root << -right, 0)


def _saturated(value: int) -> int:
    return min(max(value, INT32_MIN), INT32_MAX)


SPEC = OpSpec(
    name="RSQRT",
    max_version=3,
    lower=lower,
    types=TYPES,
    notes="any scales",
)
