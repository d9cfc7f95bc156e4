"""Convolutions, pooling, fully connected layers, means and resizing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tests.numerics.blocks import (
    Ints,
    Q,
    double,
    finish,
    ints,
    quantize_multiplier,
    quantize_multipliers,
    requant,
    round_away,
)

Codes = NDArray[np.int8]


@dataclass(frozen=True)
class Window:
    """Kernel, stride and dilation as (height, width), and the padding scheme."""

    kernel: tuple[int, int]
    stride: tuple[int, int] = (1, 1)
    dilation: tuple[int, int] = (1, 1)
    padding: str = "SAME"

    def outputs(self, size: int, axis: int) -> int:
        reach = (self.kernel[axis] - 1) * self.dilation[axis] if self.padding == "VALID" else 0
        return -(-(size - reach) // self.stride[axis])

    def before(self, size: int, axis: int) -> int:
        """Rows (columns) of padding above (left); the odd one goes below (right)."""
        reach = (self.kernel[axis] - 1) * self.dilation[axis]
        span = (self.outputs(size, axis) - 1) * self.stride[axis] + reach + 1
        return max(span - size, 0) // 2

    def taps(self, x: Ints) -> Iterator[tuple[tuple[int, int], tuple[slice, slice], Ints]]:
        """Per kernel position the outputs whose tap is inside `x`, and the taps' values."""
        for position in np.ndindex(*self.kernel):
            inside: list[slice] = []
            indices: list[Ints] = []
            for axis in (0, 1):
                size = x.shape[axis + 1]
                rows = (
                    np.arange(self.outputs(size, axis)) * self.stride[axis]
                    - self.before(size, axis)
                    + position[axis] * self.dilation[axis]
                )
                valid = np.flatnonzero((rows >= 0) & (rows < size))
                first, end = (valid[0], valid[-1] + 1) if valid.size else (0, 0)
                inside.append(slice(first, end))
                indices.append(ints(rows[first:end]))
            yield position, (inside[0], inside[1]), x[:, indices[0]][:, :, indices[1]]

    def empty(self, x: Ints, channels: int) -> Ints:
        sizes = (self.outputs(x.shape[1], 0), self.outputs(x.shape[2], 1))
        return np.zeros((x.shape[0], *sizes, channels), np.int64)


def conv_2d(
    x: Codes, w: Codes, bias: Ints, window: Window, qx: Q, sw: NDArray[np.float32], qy: Q, act: str
) -> Codes:
    """`w` is [out, kh, kw, in / groups]; `sw` holds one scale or one per output channel."""
    centred = ints(x) - qx.zero_point
    acc = window.empty(centred, w.shape[0]) + bias
    groups = x.shape[3] // w.shape[3]
    per_group = w.shape[0] // groups
    for (ky, kx), (rows, columns), taps in window.taps(centred):
        for g in range(groups):
            out = slice(g * per_group, (g + 1) * per_group)
            part = taps[..., g * w.shape[3] : (g + 1) * w.shape[3]]
            acc[:, rows, columns, out] += part @ ints(w[out, ky, kx]).T
    return finish(_requant_channels(acc, qx, sw, qy), qy, act)


def depthwise_conv_2d(
    x: Codes, w: Codes, bias: Ints, window: Window, qx: Q, sw: NDArray[np.float32], qy: Q, act: str
) -> Codes:
    """`w` is [1, kh, kw, in * multiplier]; output channel c reads input channel c // multiplier."""
    centred = np.repeat(ints(x) - qx.zero_point, w.shape[3] // x.shape[3], axis=3)
    acc = window.empty(centred, w.shape[3]) + bias
    for (ky, kx), (rows, columns), taps in window.taps(centred):
        acc[:, rows, columns] += taps * ints(w[0, ky, kx])
    return finish(_requant_channels(acc, qx, sw, qy), qy, act)


def _requant_channels(acc: Ints, qx: Q, sw: NDArray[np.float32], qy: Q) -> Ints:
    reals = double(qx.scale) * double(sw) / double(qy.scale)
    return requant(acc, *quantize_multipliers(reals))


def fully_connected(
    x: Codes, w: Codes, bias: Ints, qx: Q, sw: NDArray[np.float32], zw: int, qy: Q, act: str
) -> Codes:
    """`x` is [batch, in], `w` [out, in]; `zw` is the weights' zero point if they have one scale."""
    acc = (ints(x) - qx.zero_point) @ (ints(w) - zw).T + bias
    reals = double(qx.scale) * double(sw) / double(qy.scale)
    return finish(round_away(acc * reals), qy, act)


def average_pool_2d(x: Codes, window: Window, qy: Q, act: str) -> Codes:
    total = window.empty(ints(x), x.shape[3])
    count = np.zeros_like(total)
    for _, (rows, columns), taps in window.taps(ints(x)):
        total[:, rows, columns] += taps
        count[:, rows, columns] += 1
    mean = np.sign(total) * ((np.abs(total) + count // 2) // count)
    return _clamped(mean, qy, act)


def max_pool_2d(x: Codes, window: Window, qy: Q, act: str) -> Codes:
    largest = window.empty(ints(x), x.shape[3]) - 128
    for _, (rows, columns), taps in window.taps(ints(x)):
        largest[:, rows, columns] = np.maximum(largest[:, rows, columns], taps)
    return _clamped(largest, qy, act)


def _clamped(codes: Ints, qy: Q, act: str) -> Codes:
    """Clamp codes that already count from the output's zero point."""
    return finish(codes - qy.zero_point, qy, act)


def mean(x: Codes, axes: Sequence[int], qx: Q, qy: Q) -> Codes:
    """The division by the number of elements is folded into the multiplier, truncated."""
    count = int(np.prod([x.shape[a] for a in axes]))
    multiplier, shift = quantize_multiplier(float(double(qx.scale) / double(qy.scale)))
    extra = min(count.bit_length() - 1, 32, 31 + shift)
    total = (ints(x) - qx.zero_point).sum(axis=tuple(axes), keepdims=True)
    return finish(requant(total, (multiplier << extra) // count, shift - extra), qy)
