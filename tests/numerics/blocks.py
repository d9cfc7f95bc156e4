"""What the operators' formulas are made of; all functions are element-wise."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Ints = NDArray[np.int64]
INT32_MAX = 2**31 - 1


class Q(NamedTuple):
    """real = scale * (code - zero_point); `scale` is a float32."""

    scale: np.float32
    zero_point: int


def ints(x: ArrayLike) -> Ints:
    return np.asarray(x, np.int64)


def round_away(x: ArrayLike) -> Ints:
    """Nearest integer, ties away from zero, like C's round()."""
    x = np.asarray(x, np.float64)
    return ints(np.trunc(x + np.copysign(0.5, x)))


def quantize_multiplier(real: float) -> tuple[int, int]:
    """(m, s) with real ~ m * 2**(s - 31), 2**30 <= m < 2**31 unless real is tiny."""
    fraction, shift = math.frexp(real)
    multiplier = math.floor(fraction * 2**31 + 0.5)
    if multiplier == 2**31:
        multiplier, shift = 2**30, shift + 1
    return (0, 0) if shift < -31 else (multiplier, shift)


def quantize_multipliers(reals: ArrayLike) -> tuple[Ints, Ints]:
    pairs = [quantize_multiplier(float(r)) for r in np.atleast_1d(reals)]
    return ints([m for m, _ in pairs]), ints([s for _, s in pairs])


def high_mul(a: ArrayLike, b: ArrayLike, bits: int = 31) -> Ints:
    """floor(a * b / 2**bits + 1/2), saturated (only two minima reach that)."""
    product = (ints(a) * ints(b) + (1 << (bits - 1))) >> bits
    return ints(np.minimum(product, 2**bits - 1))


def shift_right(x: ArrayLike, exponent: ArrayLike) -> Ints:
    """x / 2**exponent, nearest, ties away from zero."""
    x, exponent = ints(x), ints(exponent)
    half = np.where(exponent > 0, ints(1) << np.maximum(exponent - 1, 0), 0)
    return ints(np.sign(x) * ((np.abs(x) + half) >> exponent))


def shift_left(x: ArrayLike, exponent: int, bits: int = 31) -> Ints:
    """x * 2**exponent, saturated to `bits` + 1 bits."""
    return ints(np.clip(ints(x) << exponent, -(2**bits), 2**bits - 1))


def requant(x: ArrayLike, multiplier: ArrayLike, shift: ArrayLike) -> Ints:
    """x * multiplier * 2**(shift - 31) with two roundings; the left shift wraps in int32."""
    shift = ints(shift)
    shifted = (ints(x) << np.maximum(shift, 0)).astype(np.int32)
    return shift_right(high_mul(shifted, multiplier), np.maximum(-shift, 0))


def activation_range(activation: str, out: Q) -> tuple[int, int]:
    """The bounds of the output codes; the division is one of float32 values."""

    def code(real: float) -> int:
        return int(round_away(np.float32(real) / np.float32(out.scale))) + out.zero_point

    bounds = {"RELU": (0.0, None), "RELU6": (0.0, 6.0), "RELU_N1_TO_1": (-1.0, 1.0)}
    low, high = bounds.get(activation, (None, None))
    return (
        -128 if low is None else max(-128, code(low)),
        127 if high is None else min(127, code(high)),
    )


def finish(x: Ints, out: Q, activation: str = "NONE") -> NDArray[np.int8]:
    """Add the output's zero point and clamp."""
    low, high = activation_range(activation, out)
    return np.asarray(np.clip(x + out.zero_point, low, high), np.int8)


def double(scale: ArrayLike) -> Any:
    """float32 scales, widened to double."""
    return np.asarray(scale, np.float32).astype(np.float64)
