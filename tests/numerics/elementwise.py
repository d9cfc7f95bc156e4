"""Operators that compute each element from one or two codes by integer arithmetic."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tests.numerics.blocks import (
    Q,
    double,
    finish,
    ints,
    quantize_multiplier,
    requant,
)

Codes = NDArray[np.int8]


def add(a: Codes, b: Codes, qa: Q, qb: Q, qy: Q, act: str, sign: int = 1) -> Codes:
    """ADD, and SUB with `sign` -1; the shapes broadcast."""
    twice_max = 2 * float(max(double(qa.scale), double(qb.scale)))
    scaled = [
        requant((ints(x) - q.zero_point) << 20, *quantize_multiplier(double(q.scale) / twice_max))
        for x, q in ((a, qa), (b, qb))
    ]
    total = scaled[0] + sign * scaled[1]
    output = quantize_multiplier(twice_max / (2**20 * double(qy.scale)))
    return finish(requant(total, *output), qy, act)


def mul(a: Codes, b: Codes, qa: Q, qb: Q, qy: Q, act: str) -> Codes:
    """The real multiplier is computed in float32."""
    real = np.float32(qa.scale) * np.float32(qb.scale) / np.float32(qy.scale)
    product = (ints(a) - qa.zero_point) * (ints(b) - qb.zero_point)
    return finish(requant(product, *quantize_multiplier(float(real))), qy, act)
