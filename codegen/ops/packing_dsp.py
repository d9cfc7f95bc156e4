"""Weights and requantisation as the kernels for cores with the DSP extension read them.

runtime_c/kernels/cg_dot_dsp.h says what a stream is and why it is exact; this is where its
conditions are checked, on the weights that the model really has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from codegen.fixed_point import quantize_multiplier

Integers = NDArray[np.int64]

_LARGEST_SHIFT = 23  # code * 2**shift and its summands stay below 2**31
_RELU_ODD_SHIFT = 7  # the odd channel's sum carries 2**8 instead of 2**1
_CONSTANT = 8  # any shift does for a channel whose multiplier is 0


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
    def largest(self) -> Integers:
        """What |sum of (x - zero_point) * w + bias| cannot exceed, taps outside the map or not."""
        low, high = -128 - self.zero_point, 127 - self.zero_point
        positive = np.maximum(self.weights, 0).sum(axis=1)
        negative = np.minimum(self.weights, 0).sum(axis=1)
        top = positive * high + negative * low + self.bias
        bottom = positive * low + negative * high + self.bias
        return np.asarray(np.maximum(np.abs(top), np.abs(bottom)), np.int64)


@dataclass(frozen=True)
class Scaling:
    """code = round(round(sum * multiplier / 2**31) / 2**shift) + zero point."""

    multiplier: int
    shift: int


def scalings(factors: Sequence[float], largest: Sequence[int]) -> list[Scaling] | None:
    """One scaling per channel; None if some channel has none that the kernels can apply.

    A channel whose codes never leave the zero point gets the multiplier 0.
    """
    found = []
    for factor, bound in zip(factors, largest, strict=True):
        multiplier, exponent = quantize_multiplier(factor)
        shift = -exponent
        if multiplier == 0 or bound + 1 < 1 << max(shift - 1, 0):
            found.append(Scaling(0, _CONSTANT))
        elif 1 <= shift <= _LARGEST_SHIFT and bound < 2**30:
            found.append(Scaling(multiplier, shift))
        else:
            return None
    return found


@dataclass(frozen=True, eq=False)
class PairStream:
    """The words that cg_dot_dsp.h reads, and which of its forms they are for."""

    words: NDArray[np.int32]
    groups: int
    is_signed: bool


def pair_stream(
    sums: Sums, factors: Sequence[float], zero_point: int, act_min: int
) -> PairStream | None:
    """Channels in pairs as one stream; None if the weights do not meet its conditions.

    Args:
        sums: their inputs are padded with weights of 0 to groups of 4; so is an odd channel.
        factors: from a sum to a code, one per channel.
        zero_point: of the output.
        act_min: the smallest code that the activation lets through.
    """
    channels, inputs = sums.weights.shape
    even = replace(
        sums,
        weights=np.pad(sums.weights, ((0, channels % 2), (0, -inputs % 4))),
        bias=np.pad(sums.bias, (0, channels % 2)),
    )
    largest = even.largest
    scales = scalings([*factors, *[0.0] * (channels % 2)], [int(v) for v in largest])
    halves = even.weights[0::2] + 256 * even.weights[1::2]
    if scales is None or halves.min() < -(2**15) or largest[1::2].max() >= 2**23:
        return None
    relu = act_min >= zero_point and all(
        scale.shift + _RELU_ODD_SHIFT <= _LARGEST_SHIFT for scale in scales[1::2]
    )
    quads = halves.reshape(len(halves), -1, 4)
    start = even.start.reshape(-1, 2)
    parts = [
        np.stack([start[:, 0], start[:, 0] + 256 * start[:, 1]], axis=1),
        _halfwords(quads[:, :, 0:2], quads[:, :, 2:4]).reshape(len(halves), -1),
        _constants(scales, zero_point, relu).reshape(len(halves), -1),
    ]
    words = np.concatenate(parts, axis=1).reshape(-1)
    return PairStream(_int32(words), quads.shape[1], not relu)


def _halfwords(low: Integers, high: Integers) -> Integers:
    """Words of two int16 each."""
    return (low & 0xFFFF) | (high & 0xFFFF) << 16


def _constants(scales: Sequence[Scaling], zero_point: int, relu: bool) -> Integers:
    """[channels, 3]: multiplier, what is added before the shift, the shift."""
    rows = []
    for channel, scale in enumerate(scales):
        shift, first = scale.shift, 0
        if relu and channel % 2:
            shift, first = shift + _RELU_ODD_SHIFT, 1 << (_RELU_ODD_SHIFT - 1)
        rows.append((scale.multiplier, first + (1 << (shift - 1)) + (zero_point << shift), shift))
    return np.array(rows, np.int64)


def _int32(words: Integers) -> NDArray[np.int32]:
    """Modulo 2**32."""
    return (words & 0xFFFFFFFF).astype(np.uint32).view(np.int32)
