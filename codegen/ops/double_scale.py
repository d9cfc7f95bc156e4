"""Factors that the reference applies in double, as integer tables for cg_double_scale.h."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from codegen.ops.base import Table, table

_SMALLEST = 2.0**-32  # below it every product of an int32 rounds to 0
_LOW_BITS = 21


def double_parts(factor: float) -> tuple[int, int, int]:
    """`factor` as (high, low, shift): (high * 2**21 + low) * 2**(-shift - 21), exactly.

    Args:
        factor: 0 <= factor < 2**31; what is below 2**-32 counts as 0.
    """
    if factor < _SMALLEST:
        return 0, 0, 1
    fraction, exponent = math.frexp(factor)
    mantissa = int(fraction * 2**53)
    return mantissa >> _LOW_BITS, mantissa & (2**_LOW_BITS - 1), 32 - exponent


def double_tables(factors: Sequence[float]) -> tuple[tuple[str, Table], ...]:
    """The struct fields `scale_high`, `scale_low` and `scale_shift`, one element per factor."""
    parts = [double_parts(factor) for factor in factors]
    high, low, shift = (np.array(column, np.int64) for column in zip(*parts, strict=True))
    return (
        ("scale_high", table(high.astype(np.uint32))),
        ("scale_low", table(low.astype(np.uint32))),
        ("scale_shift", table(shift.astype(np.int8))),
    )
