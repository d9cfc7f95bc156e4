"""Streams of packed weights: what they hold, and when there is none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from codegen.ops.packing_dsp import (
    Layer,
    Scaling,
    Sums,
    dense_stream,
    one_rounding,
    pair_stream,
    quad_stream,
    scaling,
    stream_3x3,
    winograd_stream,
)

FACTOR = 0.75 * 2.0**-8


def layer(
    weights: NDArray[Any],
    bias: NDArray[Any] | None = None,
    factor: float = FACTOR,
    zero_point: int = 7,
    act_min: int = -128,
) -> Layer:
    channels = len(weights)
    sums = Sums(weights, np.zeros(channels, np.int64) if bias is None else bias, zero_point=-3)
    return Layer(sums, [factor] * channels, zero_point, act_min)


def random_layer(rng: np.random.Generator, channels: int = 5, inputs: int = 6) -> Layer:
    weights = rng.integers(-127, 128, (channels, inputs))
    return layer(weights, rng.integers(-1000, 1000, channels))


def test_pairs_hold_every_weight_where_columns_have_its_input(rng: np.random.Generator) -> None:
    given = random_layer(rng)
    stream = pair_stream(given)
    assert stream is not None and stream.is_signed
    pairs = stream.words.reshape(3, 2 + 4 + 6)
    halves = pairs[:, 2:6].copy().view(np.int16).reshape(3, 2, 2, 2)  # pair, group, word, half
    in_order = halves.transpose(0, 1, 3, 2).reshape(3, 8)  # k, k+2 of a word; k+1, k+3 of the next
    even = in_order.astype(np.int8)
    odd = (in_order - even) // 256
    both = np.stack([even, odd], axis=1).reshape(6, 8)
    assert np.array_equal(both[:5, :6], given.sums.weights)
    assert not both[5].any() and not both[:, 6:].any()


@pytest.mark.parametrize(("act_min", "scale"), [(-128, 2), (7, 4)])
def test_quads_hold_every_weight_scaled(act_min: int, scale: int, rng: np.random.Generator) -> None:
    given = random_layer(rng, channels=6, inputs=9)
    stream = quad_stream(layer(given.sums.weights, given.sums.bias, act_min=act_min))
    assert stream is not None and stream.is_signed is (act_min < 7)
    quads = stream.words.reshape(2, 4 + 5 * 4 + 12)
    start = quads[:, :4].reshape(-1)
    assert np.array_equal(start[:6], scale * given.sums.start) and not start[6:].any()
    taps = quads[:, 4:24].copy().view(np.int16).reshape(2, 5, 4, 2)  # quad, pair, channel, tap
    by_channel = taps.transpose(0, 2, 1, 3).reshape(8, 10)
    assert np.array_equal(by_channel[:6, :9], scale * given.sums.weights)
    assert not by_channel[6:].any() and not by_channel[:, 9].any()


def test_sums_start_from_the_bias_and_the_share_of_the_zero_point(rng: np.random.Generator) -> None:
    given = random_layer(rng, channels=2)
    stream = pair_stream(given)
    assert stream is not None
    first, both = given.sums.bias + 3 * given.sums.weights.sum(axis=1)
    assert list(stream.words[:2]) == [first, first + 256 * both]


def test_largest_sum_is_reached_and_not_exceeded(rng: np.random.Generator) -> None:
    given = random_layer(rng, channels=40, inputs=3).sums
    codes = np.array([-128, 127])
    corners = np.stack(np.meshgrid(codes, codes, codes), axis=-1).reshape(-1, 3) + 3
    reached = np.abs(corners @ given.weights.T + given.bias).max(axis=0)
    assert np.array_equal(reached, given.largest)


@pytest.mark.parametrize(
    ("factor", "least", "greatest", "expected"),
    [
        (FACTOR, -1000, 1000, Scaling(3 << 29, 8, 7)),
        (2.0**-30, -1000, 2**28, Scaling(0, 8, 7)),
        (2.0**-28, 2**29, 2**29 + 1000, Scaling(0, 8, 9)),
        (0.9, 2**20, 2**21, Scaling(0, 8, 127)),
        (0.0, -(2**30), 2**30, Scaling(0, 8, 7)),
        (0.9, -1000, 1000, Scaling(round(0.9 * 2**31), 0, 7)),
        (2.0, -1000, 1000, Scaling(1 << 30, -2, 7)),
        (8.0, -1000, 1000, None),
        (2.0**-25, -1000, 2**29, None),
        (FACTOR, -1000, 2**30, None),
        (FACTOR, -1000, 2**31, None),
    ],
)
def test_scaling(factor: float, least: int, greatest: int, expected: Scaling | None) -> None:
    """A channel with one code for all of its sums keeps that code alone."""
    assert scaling(factor, least, greatest, zero_point=7) == expected


def test_conditions_on_pairs() -> None:
    ones = np.ones((2, 4), np.int64)
    assert pair_stream(layer(ones)) is not None
    assert pair_stream(layer(ones * -127, np.array([2**12, 0]))) is not None
    assert pair_stream(layer(ones, factor=0.9)) is None


@pytest.mark.parametrize(("weight", "bias"), [(-128, 0), (127, 2**23)])
def test_pairs_of_large_weights_or_sums_stand_apart(weight: int, bias: int) -> None:
    given = layer(np.full((2, 4), weight), np.array([9, bias]), 0.75 * 2.0**-16)
    stream = pair_stream(given)
    assert stream is not None and stream.is_apart
    assert list(stream.words[:2]) == list(given.sums.start)
    assert np.array_equal(stream.words[2:4].copy().view(np.int8), np.full(8, weight))


def test_conditions_on_quads() -> None:
    deep = np.full((3, 20000), -128, np.int64)
    assert quad_stream(layer(deep, factor=2.0**-22)) is not None
    assert quad_stream(layer(deep, np.array([0, 2**28, 0]), 2.0**-22)) is None


@pytest.mark.parametrize("factor", [0.5, 0.75, 1.0, 3.0, 7.913])
def test_taps_with_factors_from_one_half_round_once(factor: float) -> None:
    """The weights are scaled so that the first rounding is the only one."""
    weights = np.array([[3, -2, 1, 0, 5, 7, -9, 2, 4]])
    assert stream_3x3(layer(weights, factor=factor)) is None
    stream = stream_3x3(layer(weights, factor=factor, act_min=7))
    assert stream is not None
    *_, start, multiplier, summands, shift = (int(word) for word in stream.words)
    scale = start // (3 * weights.sum())
    codes = [((scale * total * multiplier >> 32) + summands) >> shift for total in range(200)]
    assert codes == [int(np.floor(total * factor + 0.5)) + 7 for total in range(200)]


@pytest.mark.parametrize(
    ("act_min", "exponent", "is_signed"),
    [(-128, 8, False), (-127, 8, False), (-129, 8, True), (-128, 17, True)],
)
def test_relu_form_needs_a_clamp_at_the_zero_point_and_small_shifts(
    act_min: int, exponent: int, is_signed: bool
) -> None:
    weights = np.full((2, 400), 100)
    given = layer(weights, factor=0.75 * 2.0**-exponent, zero_point=-128, act_min=act_min)
    stream = pair_stream(given)
    assert stream is not None and stream.is_signed is is_signed


def test_transformed_filters_give_four_times_the_convolution(rng: np.random.Generator) -> None:
    given = random_layer(rng, channels=2, inputs=9 * 8)
    stream = winograd_stream(given, 8)
    assert stream is not None
    points = stream.words[: 16 * 8].copy().view(np.int16).reshape(4, 4, 2, 2, 2, 2)
    # row, column, group, word, channel, half -> inputs k, k+2 of a word; k+1, k+3 of the next
    by_input = points.transpose(4, 0, 1, 2, 5, 3).reshape(2, 4, 4, 8).astype(np.int64)
    tile = rng.integers(-128, 128, (4, 4, 8))
    b = np.array([[1, 0, -1, 0], [0, 1, 1, 0], [0, -1, 1, 0], [0, 1, 0, -1]])
    a = np.array([[2, 1, 1, 0], [0, 1, -1, -2]])
    products = (by_input * np.einsum("ia,abc,jb->ijc", b, tile, b)).sum(axis=3)
    outputs = np.einsum("ia,nab,jb->nij", a, products, a)
    filters = given.sums.weights.reshape(2, 3, 3, 8)
    for y, x in np.ndindex(2, 2):
        direct = (filters * tile[y : y + 3, x : x + 3]).sum(axis=(1, 2, 3))
        assert np.array_equal(outputs[:, y, x], 4 * direct)


@pytest.mark.parametrize(("act_min", "scale"), [(-128, 2), (7, 4)])
def test_3x3_windows_have_vertical_pairs(
    act_min: int, scale: int, rng: np.random.Generator
) -> None:
    given = random_layer(rng, channels=3, inputs=9)
    stream = stream_3x3(layer(given.sums.weights, given.sums.bias, act_min=act_min))
    assert stream is not None and stream.is_signed is (act_min < 7)
    channels = stream.words.reshape(3, 10)
    pairs = channels[:, :6].copy().view(np.int16).reshape(3, 3, 4)  # channel, column, halves
    taps = scale * given.sums.weights.reshape(3, 3, 3).transpose(0, 2, 1)
    assert np.array_equal(pairs, taps[:, :, [0, 1, 1, 2]])
    assert np.array_equal(channels[:, 6], scale * given.sums.start)


def double_codes(sums: NDArray[np.int64], factor: float, zero_point: int) -> NDArray[np.int64]:
    products = sums * factor
    whole = np.trunc(products)
    rounded = whole + np.sign(products) * (np.abs(products - whole) >= 0.5)
    return np.clip(rounded.astype(np.int64) + zero_point, -128, 127)


@pytest.mark.parametrize("factor", [2.0**-8, 0.00371, 0.04, 0.9, 3.7, 1.337e-4])
@pytest.mark.parametrize("zero_point", [-128, 5, 127])
def test_one_rounding_is_that_of_the_double_product(factor: float, zero_point: int) -> None:
    form = one_rounding(factor, zero_point)
    assert form is not None
    steps = (np.arange(-257, 258) / factor / 2).round().astype(np.int64)
    near = np.clip(steps[:, np.newaxis] + np.arange(-2, 3), 1 - 2**23, 2**23 - 1)
    codes = ((256 * near * form.multiplier >> 32) + form.summands) >> form.shift
    assert np.array_equal(np.clip(codes, -128, 127), double_codes(near, factor, zero_point))


def test_fours_of_outputs(rng: np.random.Generator) -> None:
    given = random_layer(rng, channels=5, inputs=6)
    packed = dense_stream(given)
    assert packed is not None
    stream, constants = packed.words, packed.constants
    assert len(constants) == 12 and not packed.is_apart
    fours = stream.reshape(2, 4 + 2 * 4)
    halves = (
        fours[:, 4:].copy().view(np.int16).reshape(2, 2, 2, 2, 2)
    )  # four, group, pair, word, half
    in_order = halves.transpose(0, 2, 1, 4, 3).reshape(4, 8)
    even = in_order.astype(np.int8)
    both = np.stack([even, (in_order - even) // 256], axis=1).reshape(8, 8)
    assert np.array_equal(both[:5, :6], given.sums.weights)
    first, second = given.sums.start[:2]
    assert list(fours[0, :2]) == [first, first + 256 * second]


def test_conditions_on_fours() -> None:
    ones = np.ones((3, 4), np.int64)
    assert dense_stream(layer(ones)) is not None
    for large in (layer(ones * -128), layer(ones, np.array([2**23, 0, 0]))):
        packed = dense_stream(large)
        assert packed is not None and packed.is_apart
    assert dense_stream(layer(ones, np.array([2**27, 0, 0]))) is None
    assert dense_stream(layer(ones, factor=2.0**-20)) is None
