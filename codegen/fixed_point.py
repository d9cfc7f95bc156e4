"""The integer arithmetic that TFLite quantisation is built on, on Python integers and doubles."""

from __future__ import annotations

import math

import numpy as np

from codegen.graph import DType, Quantization

INT32_MIN, INT32_MAX = -(2**31), 2**31 - 1


def round_half_away(value: float) -> int:
    """C's `round`: to the nearest integer, halves away from zero."""
    return math.floor(value + 0.5) if value >= 0 else math.ceil(value - 0.5)


def quantize_multiplier(value: float) -> tuple[int, int]:
    """`value` as (m, s) with value = m * 2**(s - 31) and m in [2**30, 2**31).

    Source: `QuantizeMultiplier` of TFLite's kernels/internal/quantization_util: factors too small
    for 31 right shifts become zero, those too large for 30 left shifts saturate.
    """
    if value == 0.0:
        return 0, 0
    mantissa, exponent = math.frexp(value)
    fixed = round_half_away(mantissa * 2**31)
    if fixed == 2**31:
        fixed, exponent = fixed // 2, exponent + 1
    if exponent < -31:
        return 0, 0
    if exponent > 30:
        return INT32_MAX, 30
    return fixed, exponent


def wrapped(value: int) -> int:
    """`value` modulo 2**32 as an int32."""
    return (value + 2**31) % 2**32 - 2**31


def high_mul(a: int, b: int, bits: int = 31) -> int:
    """a * b / 2**bits, halves upwards; only the product of two minima saturates."""
    return min((a * b + (1 << (bits - 1))) >> bits, (1 << bits) - 1)


def rounding_shift(value: int, bits: int) -> int:
    """value / 2**bits to the nearest integer, halves away from zero."""
    half = (1 << bits) >> 1
    return (value + half) >> bits if value >= 0 else -((half - value) >> bits)


def requantize_twice(value: int, multiplier: int, shift: int) -> int:
    """value * multiplier * 2**(shift - 31), rounded after each step as `cg_requantize_twice`."""
    left = wrapped(value << max(shift, 0))
    return rounding_shift(high_mul(left, multiplier), max(-shift, 0))


def integer_range(dtype: DType) -> tuple[int, int]:
    """Smallest and largest value of an integer type."""
    info = np.iinfo(dtype.value)
    return int(info.min), int(info.max)


def activation_range(activation: str, quant: Quantization, dtype: DType) -> tuple[int, int]:
    """The clamp that a fused activation becomes in the quantised domain.

    Bounds are rounded in float32 as `CalculateActivationRangeQuantized` does.

    Raises:
        KeyError: for an activation that is not a clamp (TANH, SIGN_BIT).
    """
    low, high = integer_range(dtype)
    lower, upper = ACTIVATION_CLAMPS[activation]

    def quantized(bound: float) -> int:
        with np.errstate(over="ignore"):
            ratio = float(np.float32(bound) / np.float32(quant.scale))
        return quant.zero_point + round_half_away(min(max(ratio, INT32_MIN), INT32_MAX))

    if lower is not None:
        low = max(low, quantized(lower))
    if upper is not None:
        high = min(high, quantized(upper))
    return low, high


ACTIVATION_CLAMPS: dict[str, tuple[float | None, float | None]] = {
    "NONE": (None, None),
    "RELU": (0.0, None),
    "RELU6": (0.0, 6.0),
    "RELU_N1_TO_1": (-1.0, 1.0),
    "RELU_0_TO_1": (0.0, 1.0),
}
