"""When a tensor counts as what the interpreter computes: integers to the last bit, floats nearly.

On a PC with the interpreter's C library floats are equal to the last bit, too: kernels add in the
reference's order and nothing is fused. Elsewhere `expf` and its kin round otherwise, by an ulp or
two in the operator and a little more in what follows it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

ULPS = 4
"""A float may differ by so many units in its last place, ..."""
RELATIVE = 1e-5
"""... or by this part of the largest finite magnitude in its tensor."""


def unequal(got: NDArray[Any], expected: NDArray[Any]) -> NDArray[np.bool_]:
    """Which elements differ, both arrays being of one shape and type. NaN equals NaN."""
    if not np.issubdtype(expected.dtype, np.floating):
        return np.asarray(got != expected)
    finite = np.abs(expected[np.isfinite(expected)].astype(np.float64))
    share = RELATIVE * finite.max(initial=0.0)
    with np.errstate(invalid="ignore", over="ignore"):
        allowed = np.maximum(ULPS * np.spacing(np.abs(expected)).astype(np.float64), share)
        near = _gaps(got, expected) <= allowed
    same = (got == expected) | (np.isnan(got) & np.isnan(expected))
    return np.asarray(~(same | near))


def largest_gap(got: NDArray[Any], expected: NDArray[Any]) -> float:
    """The largest difference of two finite elements; 0 for integers, which are equal or not."""
    if not np.issubdtype(expected.dtype, np.floating):
        return 0.0
    both = np.isfinite(got) & np.isfinite(expected)
    return float(_gaps(got[both], expected[both]).max(initial=0.0))


def _gaps(got: NDArray[Any], expected: NDArray[Any]) -> NDArray[np.float64]:
    return np.asarray(np.abs(got.astype(np.float64) - expected.astype(np.float64)), np.float64)
