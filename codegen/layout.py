"""Where a tensor's elements lie inside its buffer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from codegen.graph import Tensor
from codegen.ops.base import Map, nhwc


@dataclass(frozen=True)
class Layout:
    """Byte offset of the first element, and bytes from one image, row and pixel to the next."""

    offset: int
    image: int
    row: int
    pixel: int

    def at(self, start: Map, element: int) -> Layout:
        """The same strides from another element of the map, given as (n, h, w, c)."""
        n, h, w, c = start
        moved = self.offset + n * self.image + h * self.row + w * self.pixel + c * element
        return Layout(moved, self.image, self.row, self.pixel)


def dense_layout(tensor: Tensor, offset: int = 0) -> Layout:
    """No gaps between images, rows and pixels."""
    _, h, w, c = nhwc(tensor.shape)
    pixel = c * tensor.dtype.size
    return Layout(offset, h * w * pixel, w * pixel, pixel)


def is_dense(tensor: Tensor, layout: Layout) -> bool:
    """Whether the tensor's bytes are one run; strides along axes of one element do not count."""
    n, h, w, c = nhwc(tensor.shape)
    pixel = c * tensor.dtype.size
    return (
        (w == 1 or layout.pixel == pixel)
        and (h == 1 or layout.row == w * pixel)
        and (n == 1 or layout.image == h * w * pixel)
    )


def starts_densely(tensor: Tensor, layout: Layout) -> bool:
    """Whether the tensor lies without gaps at the start of its buffer."""
    return layout.offset == 0 and is_dense(tensor, layout)


def covered(layout: Layout, extent: Map, element: int, size: int) -> NDArray[np.bool_]:
    """Which of the `size` bytes of the buffer hold a map of `extent` elements."""
    n, h, w, c = extent
    mask = np.zeros(size, np.bool_)
    strides = (layout.image, layout.row, layout.pixel, 1)
    np.ndarray((n, h, w, c * element), np.bool_, mask, layout.offset, strides)[...] = True
    return mask
