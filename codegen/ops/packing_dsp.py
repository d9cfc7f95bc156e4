"""Weights and requantisation as the kernels for cores with the DSP extension read them.

runtime_c/kernels/cg_dot_dsp.h and cg_taps_dsp.h say what their streams are and why they are exact;
this is where the conditions are checked, on the weights that the model really has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from codegen.fixed_point import INT32_MAX, quantize_multiplier, requantize_twice
from codegen.ops.staircase import first_reaching

Integers = NDArray[np.int64]

_LARGEST_SHIFT = 23  # code * 2**shift and its summands stay below 2**31
_SMALLEST_SHIFT = -3  # scaled weights stay below 2**15
_RELU_ODD_SHIFT = 7  # a pair's odd channel has 256 times its sum, not twice
_RELU_TAPS_SHIFT = 1  # taps have 4 times their sum, not twice
_ANY_SHIFT = 8  # of a channel whose multiplier is 0
_TOGETHER_UP, _APART_UP = 8, 4  # a dense layer's sums times 2**this are what it scales


@dataclass(frozen=True, eq=False)
class Sums:
    """What the sums of one operator are made of, by output channel.

    Attributes:
        weights: int8 values, [channels, inputs].
        bias: int32 values, [channels].
        zero_point: of the input.
    """

    weights: Integers
    bias: Integers
    zero_point: int

    @property
    def start(self) -> Integers:
        """The bias with what the zero point adds: sums of x * w start here."""
        return np.asarray(self.bias - self.zero_point * self.weights.sum(axis=1), np.int64)

    @property
    def bounds(self) -> tuple[Integers, Integers]:
        """The least and the greatest sum of (x - zero_point) * w + bias; both are reached.

        A tap outside the map is one whose x is the zero point.
        """
        low, high = -128 - self.zero_point, 127 - self.zero_point
        positive = np.maximum(self.weights, 0).sum(axis=1)
        negative = np.minimum(self.weights, 0).sum(axis=1)
        least = positive * low + negative * high + self.bias
        greatest = positive * high + negative * low + self.bias
        return np.asarray(least, np.int64), np.asarray(greatest, np.int64)

    @property
    def largest(self) -> Integers:
        """What the magnitudes of the sums cannot exceed."""
        return np.asarray(np.abs(self.bounds).max(axis=0), np.int64)


@dataclass(frozen=True)
class Scaling:
    """code = round(round(sum * multiplier / 2**31) / 2**shift) + zero_point, clamped to int8.

    With shifts below 0 it is round(sum * 2**-shift * multiplier / 2**31). A channel that gives one
    code whatever its input has multiplier 0 and that code as zero point.
    """

    multiplier: int
    shift: int
    zero_point: int


@dataclass(frozen=True, eq=False)
class Layer:
    """What the packed form of one operator is made from.

    Attributes:
        sums: of its output channels.
        factors: from a sum to a code, one per channel.
        zero_point: of the output.
        act_min: the smallest code that the activation lets through.
        only_signed: whether forms "relu" are not there.
    """

    sums: Sums
    factors: Sequence[float]
    zero_point: int
    act_min: int
    only_signed: bool = False

    def padded(self, channels: int, inputs: int) -> Layer:
        """With weights of 0 added: channels and inputs up to multiples of these."""
        count, depth = self.sums.weights.shape
        more = -count % channels
        return replace(
            self,
            sums=replace(
                self.sums,
                weights=np.pad(self.sums.weights, ((0, more), (0, -depth % inputs))),
                bias=np.pad(self.sums.bias, (0, more)),
            ),
            factors=[*self.factors, *[0.0] * more],
        )


@dataclass(frozen=True)
class OneRounding:
    """code = (2**up * sum * multiplier / 2**32 + summands) >> shift, the quotient rounded down."""

    multiplier: int
    summands: int
    shift: int


@dataclass(frozen=True, eq=False)
class Stream:
    """The words that a kernel reads, and which of its forms they are for."""

    words: NDArray[np.int32]
    is_signed: bool
    channels: int
    is_apart: bool = False

    @property
    def constants(self) -> int:
        """Bytes of the constants among the words."""
        return 12 * self.channels


def pair_stream(layer: Layer) -> Stream | None:
    """Channels in pairs for cg_dot_dsp.h; None if the weights do not meet its conditions.

    The weights of a pair are kept apart where they or their sums are too large to be together.
    """
    sums, scales = _scaled(layer.padded(channels=2, inputs=4))
    if scales is None or min(scale.shift for scale in scales) < 1:
        return None
    even, odd = sums.weights[0::2], sums.weights[1::2]
    halves = even + 256 * odd
    apart = bool(halves.min() < -(2**15) or sums.largest[1::2].max() >= 2**23)
    more = [0, 0 if apart else _RELU_ODD_SHIFT] * len(halves)
    relu = _is_relu(layer, scales, more)
    quads = ((even & 0xFF) + 256 * odd if apart else halves).reshape(len(halves), -1, 4)
    start = sums.start.reshape(-1, 2)
    parts = [
        start if apart else np.stack([start[:, 0], start[:, 0] + 256 * start[:, 1]], axis=1),
        _halfwords(quads[:, :, 0:2], quads[:, :, 2:4]).reshape(len(halves), -1),
        _constants(scales, more if relu else None).reshape(len(halves), -1),
    ]
    return Stream(_int32(np.concatenate(parts, axis=1)), not relu, len(scales), apart)


def winograd_stream(layer: Layer, channels_in: int) -> Stream | None:
    """Channels in pairs for cg_conv_2d_winograd_dsp.h; None if they do not meet its conditions.

    The layer's inputs are the nine taps, row by row, of `channels_in` channels each.
    """
    sums, scales = _scaled(layer.padded(channels=2, inputs=1))
    if scales is None or min(s.shift for s in scales) < 1 or sums.largest.max() >= 2**28:
        return None
    if np.max(128 * np.abs(sums.weights).sum(axis=1)) >= 2**29:
        return None
    pairs = len(scales) // 2
    rows = np.array([[1, 0, 0], [1, 1, 1], [1, -1, 1], [0, 0, 1]])
    window = sums.weights.reshape(-1, 3, 3, channels_in)
    points = np.einsum("ia,nabc,jb->nijc", rows, window, rows).reshape(-1, 16, channels_in // 4, 4)
    words = _halfwords(points[..., 0:2], points[..., 2:4]).reshape(pairs, 2, 16, channels_in // 2)
    parts = [
        words.transpose(0, 2, 3, 1).reshape(pairs, -1),
        sums.start.reshape(pairs, 2),
        _constants(scales, None).reshape(pairs, -1),
    ]
    signed = layer.act_min < layer.zero_point
    return Stream(_int32(np.concatenate(parts, axis=1)), signed, len(scales))


@dataclass(frozen=True, eq=False)
class _Taps:
    """Weights and starts of sums, scaled, and the constants of every channel, [channels, 3]."""

    weights: Integers
    start: Integers
    constants: Integers
    relu: bool


def _taps(layer: Layer) -> _Taps | None:
    """What cg_taps_dsp.h and cg_depthwise_3x3_dsp.h multiply; None if their conditions do not hold.

    Factors from 1 on, which round once, are in the weights; only forms "relu" round that way.
    """
    sums, scales = _scaled(layer)
    if scales is None:
        return None
    left = np.array([max(0, -scale.shift) for scale in scales])
    more = [_RELU_TAPS_SHIFT + int(up) for up in left]
    relu = _is_relu(layer, scales, more)
    if np.any(sums.largest << left >= 2**29) or not (relu or min(s.shift for s in scales) >= 1):
        return None
    factor = (4 << left if relu else np.full(len(scales), 2))[:, np.newaxis]
    return _Taps(
        weights=factor * sums.weights,
        start=factor[:, 0] * sums.start,
        constants=_constants(scales, more if relu else None),
        relu=relu,
    )


def quad_stream(layer: Layer) -> Stream | None:
    """Channels in fours for cg_taps_dsp.h; None if the weights do not meet its conditions."""
    taps = _taps(layer.padded(channels=4, inputs=2))
    if taps is None:
        return None
    quads = len(taps.start) // 4
    pairs = _halfwords(taps.weights[:, 0::2], taps.weights[:, 1::2]).reshape(quads, 4, -1)
    parts = [
        taps.start.reshape(quads, 4),
        pairs.transpose(0, 2, 1).reshape(quads, -1),
        taps.constants.reshape(quads, -1),
    ]
    return Stream(_int32(np.concatenate(parts, axis=1)), not taps.relu, len(taps.start))


def stream_3x3(layer: Layer) -> Stream | None:
    """Channels one by one for cg_depthwise_3x3_dsp.h; None if they do not meet its conditions.

    The layer's inputs are the nine taps, row by row.
    """
    taps = _taps(layer)
    if taps is None:
        return None
    window = taps.weights.reshape(-1, 3, 3)
    upper, lower = _halfwords(window[:, 0], window[:, 1]), _halfwords(window[:, 1], window[:, 2])
    columns = np.stack([upper, lower], axis=2).reshape(-1, 6)
    words = np.concatenate([columns, taps.start[:, np.newaxis], taps.constants], axis=1)
    return Stream(_int32(words), not taps.relu, len(words))


@dataclass(frozen=True, eq=False)
class Dense:
    """What cg_fully_connected_dsp.h reads.

    Attributes:
        words: the weights.
        constants: 12 words for each four outputs, or for all of them.
        is_apart: whether the weights of two outputs are kept apart.
    """

    words: NDArray[np.int32]
    constants: NDArray[np.int32]
    is_apart: bool


def dense_stream(layer: Layer) -> Dense | None:
    """Outputs in fours for cg_fully_connected_dsp.h; None if they do not meet its conditions.

    Weights are kept apart where they or their sums are too large to be together.
    """
    sums = layer.padded(channels=4, inputs=4).sums
    even, odd = sums.weights[0::2], sums.weights[1::2]
    halves = even + 256 * odd
    apart = bool(halves.min() < -(2**15) or sums.largest.max() >= 2**23)
    up = _APART_UP if apart else _TOGETHER_UP
    if sums.largest.max() >= 2 ** (31 - up):
        return None
    distinct = {factor: one_rounding(factor, layer.zero_point, up) for factor in {*layer.factors}}
    every = [distinct[factor] for factor in layer.factors]
    roundings = [rounding for rounding in every if rounding is not None]
    if len(roundings) < len(every):
        return None
    count = 4 if len(distinct) == 1 else len(sums.weights)
    roundings = [*roundings, *[roundings[0]] * 4][:count]
    halves = (even & 0xFF) + 256 * odd if apart else halves
    words = _halfwords(*np.moveaxis(halves.reshape(len(halves), -1, 2, 2), 2, 0))
    start = sums.start.reshape(-1, 2)
    if not apart:
        start = np.stack([start[:, 0], start[:, 0] + 256 * start[:, 1]], axis=1)
    fours = words.reshape(len(start) // 2, 2, -1, 2).swapaxes(1, 2)
    parts = [start.reshape(len(fours), 4), fours.reshape(len(fours), -1)]
    constants = [(r.multiplier, r.summands, r.shift) for r in roundings]
    stream = _int32(np.concatenate(parts, axis=1))
    return Dense(stream, _int32(np.array(constants, np.int64)), apart)


def one_rounding(factor: float, zero_point: int, up: int = _TOGETHER_UP) -> OneRounding | None:
    """The form that gives, for sums below 2**(31 - up), the int8 codes of a rounded double product.

    Both are staircases in the sum. The form's steps are at the right places if its summands lie
    between bounds from the sum where each code begins and the one before it; multipliers near the
    right one are tried. None if none of them has such summands.
    """
    nearest, exponent = quantize_multiplier(factor)
    shift = up - 1 - exponent
    if factor == 0:
        return OneRounding(0, zero_point << _ANY_SHIFT, _ANY_SHIFT)
    if not 1 <= shift <= _LARGEST_SHIFT:
        return None
    codes = np.arange(-127 - zero_point, 128 - zero_point)
    begins, bound = first_reaching(codes, factor), 2 ** (31 - up)
    for distance in sorted(range(-8, 9), key=abs):
        multiplier = min(nearest + distance, INT32_MAX)
        least = (codes << shift) - ((begins * multiplier << up) >> 32)
        end = (codes << shift) - (((begins - 1) * multiplier << up) >> 32)
        lowest = int(least[begins < bound].max(initial=-(2**30)))
        highest = int(end[begins > 1 - bound].min(initial=2**30)) - 1
        if lowest <= highest:
            middle = (lowest + highest) // 2
            return OneRounding(multiplier, middle + (zero_point << shift), shift)
    return None


def scaling(factor: float, least: int, greatest: int, zero_point: int) -> Scaling | None:
    """The scaling of sums from `least` to `greatest`; None if the kernels cannot apply it."""
    multiplier, exponent = quantize_multiplier(factor)
    bound = max(-least, greatest)
    if bound << max(exponent, 0) >= 2**31:
        return None
    sums = (least, greatest)
    codes = {requantize_twice(total, multiplier, exponent) + zero_point for total in sums}
    saturated = {max(-128, min(code, 127)) for code in codes}
    if len(saturated) == 1:
        return Scaling(0, _ANY_SHIFT, saturated.pop())
    if _SMALLEST_SHIFT <= -exponent <= _LARGEST_SHIFT and bound < 2**30:
        return Scaling(multiplier, -exponent, zero_point)
    return None


def _scaled(layer: Layer) -> tuple[Sums, list[Scaling] | None]:
    """The sums and their scalings, None if a channel has none.

    Channels that give one code whatever their input lose their weights: they meet any condition.
    """
    found = [
        scaling(factor, int(least), int(greatest), layer.zero_point)
        for factor, least, greatest in zip(layer.factors, *layer.sums.bounds, strict=True)
    ]
    scales = [scale for scale in found if scale is not None]
    varies = np.array([scale is None or scale.multiplier != 0 for scale in found])
    sums = replace(
        layer.sums,
        weights=np.where(varies[:, np.newaxis], layer.sums.weights, 0),
        bias=np.where(varies, layer.sums.bias, 0),
    )
    return sums, scales if len(scales) == len(found) else None


def _is_relu(layer: Layer, scales: Sequence[Scaling], more: Sequence[int]) -> bool:
    """Whether no code below the zero point counts, and the larger shifts of "relu" have room."""
    shifts = (scale.shift + extra for scale, extra in zip(scales, more, strict=True))
    above = layer.act_min >= layer.zero_point and not layer.only_signed
    return above and max(shifts) <= _LARGEST_SHIFT


def _halfwords(low: Integers, high: Integers) -> Integers:
    """Words of two int16 each."""
    return (low & 0xFFFF) | (high & 0xFFFF) << 16


def _constants(scales: Sequence[Scaling], more: Sequence[int] | None) -> Integers:
    """[channels, 3]: multiplier, what is added before the shift, the shift.

    `more`, for forms "relu", is by how many bits a channel's sum is larger than twice itself: the
    first rounding is then one more summand.
    """
    rows = []
    for scale, extra in zip(scales, more or [0] * len(scales), strict=True):
        shift = scale.shift + extra
        first = (1 << extra) >> 1 if scale.shift >= 1 else 0
        summands = first + (1 << (shift - 1)) + (scale.zero_point << shift)
        rows.append((scale.multiplier, summands, shift))
    return np.array(rows, np.int64)


def _int32(words: Integers) -> NDArray[np.int32]:
    """Modulo 2**32, flat."""
    return (words.reshape(-1) & 0xFFFFFFFF).astype(np.uint32).view(np.int32)
