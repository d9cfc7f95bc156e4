"""The integer form of FULLY_CONNECTED's rounding is the double product, also on ties."""

from __future__ import annotations

import numpy as np
import pytest

from tests.numerics.single_rounding import first_reaching, integer_form, round_half_away


def _clamped(value: int, low: int, high: int) -> int:
    return min(max(value, low), high)


def _reals(rng: np.random.Generator, kind: str) -> list[float]:
    if kind == "power of two":
        return [2.0**-e for e in range(1, 15)]
    if kind == "few bits":
        return [float(m) * 2.0**-12 for m in rng.integers(1, 2048, 30)]
    logs = rng.uniform([-7, -8, -4], [-2, -3, 0], (30, 3))
    scales = np.exp(logs).astype(np.float32).astype(np.float64)
    return [float(a * b / c) for a, b, c in scales]


@pytest.mark.parametrize("kind", ["power of two", "few bits", "any"])
def test_integer_form_is_exact(rng: np.random.Generator, kind: str) -> None:
    for real in _reals(rng, kind):
        zero = int(rng.integers(-128, 128))
        low, high = -128 - zero, 127 - zero
        form = integer_form(real, low, high)
        if form is None:
            assert real < 1e-5  # accumulators beyond 10**7: not met in real layers
            continue
        edges = [first_reaching(code, real) for code in range(low, high + 2)]
        for acc in {edge + step for edge in edges for step in (-1, 0, 1)}:
            double = _clamped(round_half_away(acc * real), low, high)
            y = (acc * form.multiplier + form.offset) >> form.shift
            assert _clamped(y, low, high) == double, (real, acc)
