"""Operators of one variable: activations, softmax, and changes of type or scale.

The fixed-point exponential and reciprocal are those of gemmlowp's `fixedpoint` library: a
Taylor series on a quarter with a chain of constant factors, and Newton's division.
`Qm.n` below is an int32 with m integer and n = 31 - m fractional bits; the product of two of
them is their rounding high multiply.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tests.numerics.blocks import (
    INT32_MAX,
    Ints,
    Q,
    double,
    finish,
    high_mul,
    ints,
    quantize_multiplier,
    requant,
    round_away,
    shift_left,
    shift_right,
)

Codes = NDArray[np.int8]
Floats = NDArray[np.float32]


def q31(real: float, integer_bits: int = 0) -> int:
    """The constant `real` as Q(integer_bits)."""
    return min(round(real * 2.0 ** (31 - integer_bits)), INT32_MAX)


def exp_quarter(a: Ints) -> Ints:
    """exp of Q0 values in [-1/4, 0), as Q0: Taylor's series of order 4 around -1/8."""
    x = a + q31(1 / 8)
    x2 = high_mul(x, x)
    x3 = high_mul(x2, x)
    x4 = high_mul(x2, x2)
    tail = shift_right(high_mul(shift_right(x4, 2) + x3, q31(1 / 3)) + x2, 1)
    factor = q31(math.exp(-1 / 8))
    return factor + high_mul(factor, x + tail)


def exp_negative(a: Ints) -> Ints:
    """exp of values <= 0 in Q5, as Q0; exp(0) is the largest int32."""
    quarter = 1 << 24
    part = (a & (quarter - 1)) - quarter
    result = exp_quarter(shift_left(part, 5))
    rest = part - a
    for exponent in range(-2, 5):
        factor = q31(math.exp(-(2.0**exponent)))
        result = np.where(rest & (1 << (26 + exponent)), high_mul(result, factor), result)
    return np.where(a == 0, INT32_MAX, result)


def reciprocal_1_plus(a: Ints) -> Ints:
    """1 / (1 + a) for a in [0, 1), Q0 to Q0.

    Newton's method in Q2: three steps towards 2 / (1 + a), from 48/17 - 32/17 * (1 + a) / 2.
    """
    half = (a + INT32_MAX + 1) >> 1
    x = q31(48 / 17, 2) + high_mul(half, q31(-32 / 17, 2))
    for _ in range(3):
        error = q31(1, 2) - high_mul(half, x)
        x = x + shift_left(high_mul(x, error), 2)
    return shift_left(x, 1)


def float_table(x: Codes, curve: Callable[[Floats], Floats], qx: Q, qy: Q) -> Codes:
    """`curve` of the real value, in float32 throughout: LOGISTIC and TANH."""
    real = (ints(x) - qx.zero_point).astype(np.float32) * np.float32(qx.scale)
    with np.errstate(over="ignore"):
        scaled = curve(real) * (np.float32(1) / np.float32(qy.scale))
    return finish(round_away(scaled), qy)


def logistic(x: Codes, qx: Q) -> Codes:
    """Output scale 1/256, zero point -128."""
    one = np.float32(1)

    def curve(v: Floats) -> Floats:
        return np.asarray(one / (one + np.exp(-double(v)).astype(np.float32)))

    return float_table(x, curve, qx, Q(np.float32(1 / 256), -128))


def tanh(x: Codes, qx: Q, qy: Q) -> Codes:
    return float_table(x, lambda v: np.tanh(double(v)).astype(np.float32), qx, qy)


def softmax(x: Codes, qx: Q, beta: float) -> Codes:
    """Over the last axis; output scale 1/256, zero point -128."""
    real = min(float(np.float32(beta)) * float(qx.scale) * 2**26, 2**31 - 1.0)
    m, s = quantize_multiplier(real)
    diff = ints(x) - ints(x).max(axis=-1, keepdims=True)
    used = diff >= -(31 * 2**26 >> s)  # the exponential is taken to be 0 below
    exps = exp_negative(requant(np.where(used, diff, 0), m, s))
    total = np.where(used, shift_right(exps, 12), 0).sum(axis=-1, keepdims=True)
    zeros = 32 - ints([int(t).bit_length() for t in total.ravel()]).reshape(total.shape)
    scale = reciprocal_1_plus((total << zeros) - 2**31)
    y = shift_right(high_mul(scale, exps), 12 - zeros + 31 - 8) - 128
    return np.where(used, np.clip(y, -128, 127), -128).astype(np.int8)


def relu(x: Codes, qx: Q, qy: Q, activation: str) -> Codes:
    real = float(np.float32(qx.scale) / np.float32(qy.scale))
    return finish(requant(ints(x) - qx.zero_point, *quantize_multiplier(real)), qy, activation)


def leaky_relu(x: Codes, qx: Q, qy: Q, alpha: float) -> Codes:
    identity = float(np.float32(qx.scale) / np.float32(qy.scale))
    slope = float(np.float32(qx.scale) * np.float32(abs(alpha)) / np.float32(qy.scale))
    sign = -1 if alpha < 0 else 1
    centred = ints(x) - qx.zero_point
    return finish(
        np.where(
            centred >= 0,
            requant(centred, *quantize_multiplier(identity)),
            sign * requant(centred, *quantize_multiplier(slope)),
        ),
        qy,
    )


def _halve(multiplier: int) -> int:
    """A Q31 multiplier as int16."""
    return 32767 if multiplier >= INT32_MAX - 2**15 else (multiplier + 2**15) >> 16


def hard_swish(x: Codes, qx: Q, qy: Q) -> Codes:
    fine = np.float32(1 / 128) * np.float32(qx.scale)
    m, s = quantize_multiplier(float(fine / np.float32(qy.scale)))
    gate_m, gate_s = quantize_multiplier(float(fine / (np.float32(3) / np.float32(32768))))
    centred = (ints(x) - qx.zero_point) << 7
    value = high_mul(centred, _halve(m), 15)
    gate = centred
    if gate_s > 0:
        gate = shift_left(gate, gate_s - 1, 15)
    gate = high_mul(gate, _halve(gate_m), 15)
    if gate_s > 0:
        gate = shift_left(gate, 1, 15)
    if gate_s < 0:
        gate = shift_right(gate, -gate_s)
    gate = (gate + 2**15) >> 1
    product = gate * value
    product = np.sign(product) * (np.abs(product) >> 15)
    return finish(shift_right(product, -s) if s <= 0 else product << s, qy)


def quantize(x: Floats, qy: Q) -> Codes:
    return finish(round_away(x / np.float32(qy.scale)), qy)


def requantize(x: Codes, qx: Q, qy: Q) -> Codes:
    real = float(double(qx.scale) / double(qy.scale))
    return finish(requant(ints(x) - qx.zero_point, *quantize_multiplier(real)), qy)


def dequantize(x: Codes, qx: Q) -> Floats:
    return (ints(x) - qx.zero_point).astype(np.float32) * np.float32(qx.scale)
