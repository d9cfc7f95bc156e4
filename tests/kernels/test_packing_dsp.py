"""Streams of packed weights: what they hold, and when there is none."""

from __future__ import annotations

import numpy as np
import pytest

from codegen.ops.packing_dsp import Scaling, Sums, pair_stream, scalings

FACTOR = 0.75 * 2.0**-8


def sums(rng: np.random.Generator, channels: int = 5, inputs: int = 6) -> Sums:
    weights = rng.integers(-127, 128, (channels, inputs))
    return Sums(weights, rng.integers(-1000, 1000, channels), zero_point=-3)


def test_a_stream_holds_every_weight_where_columns_have_its_input(rng: np.random.Generator) -> None:
    given = sums(rng)
    stream = pair_stream(given, [FACTOR] * 5, zero_point=7, act_min=-128)
    assert stream is not None and stream.is_signed and stream.groups == 2
    pairs = stream.words.reshape(3, 2 + 4 + 6)
    halves = pairs[:, 2:6].copy().view(np.int16).reshape(3, 2, 2, 2)  # pair, group, word, half
    in_order = halves.transpose(0, 1, 3, 2).reshape(3, 8)  # k, k+2 of a word; k+1, k+3 of the next
    even = in_order.astype(np.int8)
    odd = (in_order - even) // 256
    both = np.stack([even, odd], axis=1).reshape(6, 8)
    assert np.array_equal(both[:5, :6], given.weights)
    assert not both[5].any() and not both[:, 6:].any()


def test_sums_start_from_the_bias_and_the_share_of_the_zero_point(rng: np.random.Generator) -> None:
    given = sums(rng, channels=2)
    stream = pair_stream(given, [FACTOR] * 2, zero_point=7, act_min=-128)
    assert stream is not None
    first, both = given.bias + 3 * given.weights.sum(axis=1)
    assert list(stream.words[:2]) == [first, first + 256 * both]


def test_largest_sum_is_reached_and_not_exceeded(rng: np.random.Generator) -> None:
    given = sums(rng, channels=40, inputs=3)
    codes = np.array([-128, 127])
    corners = np.stack(np.meshgrid(codes, codes, codes), axis=-1).reshape(-1, 3) + 3
    reached = np.abs(corners @ given.weights.T + given.bias).max(axis=0)
    assert np.array_equal(reached, given.largest)


def test_a_channel_that_cannot_leave_the_zero_point_is_scaled_by_0() -> None:
    found = scalings([2.0**-30, 0.0, FACTOR], [1000, 2**29, 1000])
    assert found == [Scaling(0, 8), Scaling(0, 8), Scaling(3 << 29, 8)]


@pytest.mark.parametrize(
    ("factor", "bound"),
    [(0.9, 1000), (2.0, 1000), (2.0**-25, 2**29), (FACTOR, 2**30)],
)
def test_scalings_that_do_not_fit(factor: float, bound: int) -> None:
    assert scalings([factor], [bound]) is None


def test_conditions_on_pairs(rng: np.random.Generator) -> None:
    ones = np.ones((2, 4), np.int64)

    def fits(weights: np.ndarray, bias: tuple[int, int]) -> bool:
        given = Sums(weights, np.array(bias), zero_point=0)
        return pair_stream(given, [FACTOR] * 2, zero_point=0, act_min=-128) is not None

    assert fits(ones, (0, 0))
    assert fits(ones * -127, (2**28, 0))
    assert not fits(ones * -128, (0, 0))
    assert not fits(ones, (0, 2**23))


@pytest.mark.parametrize(
    ("act_min", "exponent", "is_signed"),
    [(-128, 8, False), (-127, 8, False), (-129, 8, True), (-128, 17, True)],
)
def test_relu_form_needs_a_clamp_at_the_zero_point_and_small_shifts(
    act_min: int, exponent: int, is_signed: bool, rng: np.random.Generator
) -> None:
    given = Sums(np.full((2, 400), 100), np.zeros(2, np.int64), zero_point=0)
    stream = pair_stream(given, [0.75 * 2.0**-exponent] * 2, zero_point=-128, act_min=act_min)
    assert stream is not None and stream.is_signed is is_signed
