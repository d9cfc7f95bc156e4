"""Packing for Helium: the stream read back, and the conditions of each way to round."""

from __future__ import annotations

import numpy as np
import pytest

from codegen.fixed_point import requantize_twice, round_half_away
from codegen.ops.packing_mve import (
    Rounding,
    once_rounded,
    packed_scales,
    packed_weights,
    twice_rounded,
)
from codegen.ops.requantize import folded_bias

FULL = (-128, 127)
NO_SUM = np.zeros(1, np.int64)


@pytest.mark.parametrize("channels", [1, 4, 6])
@pytest.mark.parametrize("depth", [1, 15, 16, 20, 48, 67])
def test_every_weight_is_where_the_kernel_looks(
    channels: int, depth: int, rng: np.random.Generator
) -> None:
    filters = rng.integers(-128, 128, (channels, depth)).astype(np.int8)
    bias = rng.integers(-(2**31), 2**31, channels).astype(np.int32)
    words = packed_weights(filters, bias)
    assert words.size * 4 >= -(-channels // 4) * (16 + 4 * depth)
    for c in range(channels):
        block = words[c // 4 * (4 + depth) :]
        assert block[c % 4] == bias[c]
        stream = block[4 : 4 + depth].view(np.int8)
        for k in range(depth):
            first = k // 16 * 16
            width = min(16, depth - first)
            assert stream[first * 4 + c % 4 * width + k % 16] == filters[c, k]


def test_vectors_end_inside_the_table(rng: np.random.Generator) -> None:
    words = packed_weights(np.ones((1, 17), np.int8), np.zeros(1, np.int32))
    last_vector = (4 + 16) * 4 + 3  # of the one channel that has four weights of one byte each
    assert words.size * 4 >= last_vector + 16


def test_bias_wraps_like_int32(rng: np.random.Generator) -> None:
    filters = np.full((1, 100), 127, np.int8)
    folded = folded_bias(filters, np.array([-(2**31)], np.int32), 3)
    assert folded[0] == (-(2**31) - 3 * 127 * 100 + 2**32)


@pytest.mark.parametrize(
    ("factors", "zero", "clamp", "rounding"),
    [
        ([0.01, 0.4], -128, FULL, Rounding.TWICE_POSITIVE),
        ([0.01, 0.6], -128, FULL, Rounding.TWICE_POSITIVE),
        ([0.01, 0.4], 3, FULL, Rounding.TWICE_RIGHT),
        ([0.01, 0.4], 3, (3, 90), Rounding.TWICE_POSITIVE),
        ([0.01, 0.6], 3, FULL, Rounding.TWICE),
        ([0.01, 3.0], -128, FULL, Rounding.TWICE),
    ],
)
def test_the_cheapest_rounding_is_taken(
    factors: list[float], zero: int, clamp: tuple[int, int], rounding: Rounding
) -> None:
    found = twice_rounded(factors, np.full(2, 10_000), zero, clamp)
    assert found is not None and found.rounding is rounding


def test_sums_without_room_have_no_form() -> None:
    assert twice_rounded([3.0], np.array([2**29]), 0, FULL) is None
    assert twice_rounded([0.3], np.array([2**32]), 0, FULL) is not None


def test_one_rounding_equals_the_double_product_at_every_step(rng: np.random.Generator) -> None:
    """Both are staircases; sums at and next to all steps are tried."""
    for factor in [*2.0 ** rng.uniform(-14, -2.1, 40), 2.0**-5, 3 * 2.0**-9]:
        found = once_rounded([factor], 5, FULL)
        assert found is not None
        scales = packed_scales(found)
        multiplier, right = int(scales[0]), -int(scales[4])
        for code in np.arange(-133, 122) + 0.5:
            for acc in (round(code / factor) + d for d in (-1, 0, 1)):
                got = ((acc * multiplier >> 32) + (1 << (right - 1))) >> right
                want = round_half_away(acc * factor)
                assert min(max(got + 5, -128), 127) == min(max(want + 5, -128), 127)


def test_factors_that_have_no_single_rounding() -> None:
    """Too large, too small, and one whose ties lie on either side of a half in double."""
    assert once_rounded([0.3], 0, FULL) is None
    assert once_rounded([1e-12], 0, FULL) is None
    assert once_rounded([1 / 98], 0, FULL) is None


def test_scales_hold_multipliers_then_shifts() -> None:
    found = twice_rounded([0.25, 0.125, 0.0, 0.3, 0.01], np.zeros(5, np.int64), 0, FULL)
    assert found is not None
    words = packed_scales(found)
    assert words.shape == (16,)
    for c, factor in enumerate([0.25, 0.125, 0.0, 0.3, 0.01]):
        at = c // 4 * 8 + c % 4
        got = requantize_twice(40_000, int(words[at]), int(words[at + 4]))
        assert got == round_half_away(40_000 * factor)
