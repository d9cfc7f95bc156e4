"""Where the codes of a double product begin: what a fixed-point form of it is held against."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from codegen.fixed_point import INT32_MAX, INT32_MIN


def first_reaching(codes: NDArray[np.int64], factor: float) -> NDArray[np.int64]:
    """The smallest sums whose double products with `factor` round to `codes` or more.

    Sums beyond int32 stand for any such sum.
    """
    with np.errstate(over="ignore"):
        start = np.ceil((codes - 0.5) / factor) - 2
    sums: NDArray[np.int64] = np.clip(start, INT32_MIN, INT32_MAX + 1.0).astype(np.int64)
    while np.any(short := (_rounded(sums * factor) < codes) & (sums <= INT32_MAX)):
        sums[short] += 1
    return sums


def _rounded(values: NDArray[np.floating[Any]]) -> NDArray[np.floating[Any]]:
    """To the nearest integer, halves away from zero."""
    whole = np.trunc(values)
    return np.asarray(np.where(np.abs(values - whole) >= 0.5, whole + np.sign(values), whole))
