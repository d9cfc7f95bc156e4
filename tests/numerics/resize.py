"""Resizing of [n, h, w, c] codes; input and output are quantised alike."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tests.numerics.blocks import Ints, ints

Codes = NDArray[np.int8]


def _nearest(size: int, outputs: int, align_corners: bool, half_pixel: bool) -> Ints:
    """The input index of each output index, in float32."""
    corners = align_corners and outputs > 1
    scale = np.float32(size - 1) / np.float32(outputs - 1) if corners else None
    scale = np.float32(size) / np.float32(outputs) if scale is None else scale
    position = (np.arange(outputs).astype(np.float32) + np.float32(half_pixel / 2)) * scale
    index = np.floor(position + np.float32(0.5) if align_corners else position)
    return np.clip(ints(index), 0, size - 1)


def resize_nearest_neighbor(
    x: Codes, size: tuple[int, int], align_corners: bool, half_pixel: bool
) -> Codes:
    rows = _nearest(x.shape[1], size[0], align_corners, half_pixel)
    columns = _nearest(x.shape[2], size[1], align_corners, half_pixel)
    return x[:, rows][:, :, columns]


def _bilinear(
    size: int, outputs: int, align_corners: bool, half_pixel: bool
) -> tuple[Ints, Ints, Ints]:
    """Per output index the two input indices and the second one's weight in 1/1024."""
    if align_corners and outputs > 1:
        step = (1024 * (size - 1) + (outputs - 1) // 2) // (outputs - 1)
    else:
        step = (1024 * size + outputs // 2) // outputs
    position = ints(np.arange(outputs)) * step
    if half_pixel:
        position = position + step // 2 - 512
    low = np.clip(position >> 10, 0, size - 1)
    high = np.clip(-(-position >> 10), 0, size - 1)
    return low, high, position - 1024 * low


def resize_bilinear(
    x: Codes, size: tuple[int, int], align_corners: bool, half_pixel: bool
) -> Codes:
    """10-bit weights; the weights are not clamped, the indices are."""
    top, bottom, fy = _bilinear(x.shape[1], size[0], align_corners, half_pixel)
    left, right, fx = _bilinear(x.shape[2], size[1], align_corners, half_pixel)
    fy, fx = fy[:, None, None], fx[:, None]
    wide = ints(x)

    def row(indices: Ints) -> Ints:
        line = wide[:, indices]
        return line[:, :, left] * (1024 - fx) + line[:, :, right] * fx

    total = row(top) * (1024 - fy) + row(bottom) * fy
    return np.asarray(np.sign(total) * ((np.abs(total) + 2**19) >> 20), np.int8)
