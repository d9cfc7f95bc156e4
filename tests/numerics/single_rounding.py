"""FULLY_CONNECTED's rounding of a double product, as one integer multiply, add and shift."""

from __future__ import annotations

import math
from typing import NamedTuple

from tests.numerics.blocks import quantize_multiplier


class Affine(NamedTuple):
    """y = (acc * multiplier + offset) >> shift, in int64."""

    multiplier: int
    offset: int
    shift: int


def round_half_away(value: float) -> int:
    return math.floor(value + 0.5) if value >= 0 else math.ceil(value - 0.5)


def first_reaching(code: int, real: float) -> int:
    """The smallest accumulator whose double product with `real` rounds to `code` or more."""
    acc = math.ceil((code - 0.5) / real) - 2
    while round_half_away(acc * real) < code:
        acc += 1
    return acc


def integer_form(real: float, low: int, high: int) -> Affine | None:
    """The form that equals clamp(round(acc * real), low, high) for *every* accumulator.

    Both are staircases in acc, so they are equal if each step is at the same place. With t(k) the
    first accumulator that reaches k, the form's steps are there if for all k in low + 1 .. high

        t(k) * m + r >= k * 2**s > (t(k) - 1) * m + r

    which for a given m bounds r from both sides. The multipliers nearest to the Q31 one are
    tried; None if none of them has an r.
    """
    nearest, exponent = quantize_multiplier(real)
    shift = 31 - exponent
    steps = [(code << shift, first_reaching(code, real)) for code in range(low + 1, high + 1)]
    for distance in sorted(range(-8, 9), key=abs):
        multiplier = nearest + distance
        least = max(level - first * multiplier for level, first in steps)
        end = min(level - (first - 1) * multiplier for level, first in steps)
        if least < end:
            return Affine(multiplier, (least + end) // 2, shift)
    return None
