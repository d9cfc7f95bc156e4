"""HARD_SWISH: x * min(max(x + 3, 0), 6) / 6.

Maths, 8 bits: TFLite's reference `HardSwish` in 16-bit fixed point, see docs/numerics.md.
"""

from __future__ import annotations

from dataclasses import dataclass

from codegen.fixed_point import high_mul, rounding_shift
from codegen.graph import DType, Quantization
from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.float32 import float_activation
from codegen.ops.lookup import BYTES, lookup, typed_pair
from codegen.ops.requantize import factor, float32_factor

TYPES = (*BYTES, DType.FLOAT32)


@dataclass(frozen=True)
class Factor16:
    """multiplier * 2**(shift - 15), a factor whose multiplier was cut to 16 bits."""

    multiplier: int
    shift: int


def _factor16(context: OpContext, real: float) -> Factor16:
    multiplier, shift = factor(context, real)
    return Factor16(min((multiplier + 2**15) >> 16, 2**15 - 1), shift)


def _saturated16(value: int) -> int:
    return min(max(value, -(2**15)), 2**15 - 1)


def _shifted16(value: int, bits: int) -> int:
    """value / 2**bits to the nearest integer, as the reference does it on 16-bit numbers.

    From 16 bits on its mask of the lost bits is all ones, -1, and every value becomes 1 or -1.
    """
    if bits >= 16:
        return 1 if value >= 0 else -1
    return rounding_shift(value, bits)


def _ramp(value: int, slope: Factor16) -> int:
    """min(max(x + 3, 0), 6) / 6 in 15 fractional bits, from x in `value` units."""
    if slope.shift > 0:
        value = _saturated16(value << (slope.shift - 1))
    value = high_mul(value, slope.multiplier, 15)
    if slope.shift > 0:
        value = _saturated16(value << 1)
    if slope.shift < 0:
        value = _shifted16(value, -slope.shift)
    return (value + 2**15) >> 1


def lower(context: OpContext) -> Lowered:
    """Shapes: x of any shape -> y of the same."""
    x, y = typed_pair(context, *TYPES)
    if x.dtype is DType.FLOAT32:
        return float_activation(context, "cg_hard_swish_f32")
    x_quant, y_quant = context.require_quant(x), context.require_quant(y)
    output = _factor16(context, float32_factor(x_quant.scale, 1 / 128, y_quant.scale))
    slope = _factor16(context, float32_factor(x_quant.scale, 1 / 128, 3 / 2**15))
    if output.shift > 0:
        raise context.unsupported(
            f"the scale of {x.label} is 128 times that of {y.label} or more",
            "quantise the model again with data like that of the real input",
        )
    return lookup(x, y, lambda code: _result(code, x_quant, y_quant, output, slope))


def _result(
    code: int, x_quant: Quantization, y_quant: Quantization, output: Factor16, slope: Factor16
) -> int:
    value = (code - x_quant.zero_point) << 7
    scaled = high_mul(value, output.multiplier, 15)
    product = _ramp(value, slope) * scaled
    truncated = product >> 15 if product >= 0 else -(-product >> 15)
    return _shifted16(truncated, -output.shift) + y_quant.zero_point


SPEC = OpSpec(
    name="HARD_SWISH",
    max_version=1,
    lower=lower,
    types=TYPES,
    notes="input scale below 128 times the output's",
)
