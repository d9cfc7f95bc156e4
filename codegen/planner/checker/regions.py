"""Which bytes a kernel touches: views, boxes, rings of rows and row maps made into regions.

A region is a block of rows x columns x bytes at regular strides, in memory and in the tensor alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codegen.planner.checker.document import Buffer, Kernel, Read, RowFormula, View
from codegen.planner.checker.index import Index
from codegen.planner.checker.structure import element_bytes

Array = NDArray[np.int64]


class Misplaced(Exception):
    """A view leaves its buffer or its tensor; the text says how."""


@dataclass(frozen=True)
class Region:
    """Bytes at start + r * row + c * pixel + b, for (r, c, b) below `shape`.

    Attributes:
        start, row, pixel: bytes within the space.
        position, tensor_row, tensor_pixel: the same walk through the bytes of the tensor.
        first: (row, column, byte of the pixel) of the box where the region begins.
    """

    start: int
    row: int
    pixel: int
    shape: tuple[int, int, int]
    position: int
    tensor_row: int
    tensor_pixel: int
    first: tuple[int, int, int]

    @property
    def end(self) -> int:
        """One past the last byte in the space."""
        return self.start + self._length(self.row, self.pixel)

    @property
    def tensor_end(self) -> int:
        """One past the last byte of the tensor."""
        return self.position + self._length(self.tensor_row, self.tensor_pixel)

    def _length(self, row: int, pixel: int) -> int:
        rows, columns, size = self.shape
        return (rows - 1) * row + (columns - 1) * pixel + size

    def in_space(self, space: NDArray[Any], origin: int = 0) -> NDArray[Any]:
        """The region as a window into an array of the space from byte `origin` on."""
        return _window(space, self.shape, self.start - origin, self.row, self.pixel)

    def in_tensor(self, values: NDArray[Any], origin: int = 0) -> NDArray[Any]:
        """The region as a window into an array of the tensor from byte `origin` on."""
        return _window(
            values, self.shape, self.position - origin, self.tensor_row, self.tensor_pixel
        )


def _window(
    values: NDArray[Any], shape: tuple[int, int, int], start: int, row: int, pixel: int
) -> NDArray[Any]:
    """A strided window into a flat array; numpy refuses one that leaves the array."""
    size = values.itemsize
    return np.ndarray(
        shape, values.dtype, values, offset=start * size, strides=(row * size, pixel * size, size)
    )


@dataclass(frozen=True)
class Touch:
    """All bytes of one tensor that one execution of a step reads or writes."""

    tensor: int
    space: str
    element: int
    regions: tuple[Region, ...]

    @property
    def start(self) -> int:
        return min(region.start for region in self.regions)

    @property
    def end(self) -> int:
        return max(region.end for region in self.regions)


def space_of(buffer: Buffer) -> str:
    """The address space that a buffer is part of: an arena, a memory's state, or itself."""
    if buffer.home == "state":
        return f"state of {buffer.memory}"
    return f"memory {buffer.memory}" if buffer.home == "arena" else f"buffer {buffer.name}"


def written(index: Index, view: View, kernel: Kernel, env: Mapping[str, int]) -> Touch:
    """What one execution writes through `view`.

    Raises:
        Misplaced: if bytes lie outside of the buffer or the image outside of the batch.
    """
    y0, y1, x0, x1, c0, c1 = kernel.range
    if view.box.whole:
        _, y1, x1, c1 = view.box.size
        y0 = x0 = c0 = 0
    element = element_bytes(index, view.tensor, view.box)
    return _touch(index, view, kernel, env, [(y0, y1)], (x0, x1), (c0 * element, c1 * element))


def read(index: Index, view: Read, kernel: Kernel, env: Mapping[str, int]) -> Touch:
    """What one execution may read through `view`.

    Of the needed rows that is every column and channel, except where the alias class says that the
    kernel goes through both maps in step.

    Raises:
        Misplaced: if bytes lie outside of the buffer or the image outside of the batch.
    """
    _, _, x0, x1, c0, c1 = kernel.range
    element = element_bytes(index, view.tensor, view.box)
    _, _, width, channels = view.box.size
    pixels = in_step(view, kernel)
    elements = pixels and view.alias == "element"
    c0, c1 = (c0, c1) if elements else (0, channels)
    return _touch(
        index,
        view,
        kernel,
        env,
        needed_rows(view, kernel),
        (x0, x1) if pixels else (0, width),
        (c0 * element, c1 * element),
    )


def in_step(view: Read, kernel: Kernel) -> bool:
    """Whether pixel i (or element i) of the output needs just pixel i (element i) of `view`."""
    output = kernel.writes[0].box.size[1:]
    same = view.box.size[1:3] == output[:2]
    y0, y1 = kernel.range[:2]
    first, end = row_bounds(view, kernel)
    rows = np.arange(y0, y1)
    same = same and bool((first == rows).all() and (end == rows + 1).all())
    if view.alias == "element":
        return same and view.box.size[3] == output[2]
    return same and view.alias == "pixel"


def row_bounds(view: Read, kernel: Kernel) -> tuple[Array, Array]:
    """(first, end) of the input rows for each output row of the range, inside the map."""
    y0, y1 = kernel.range[:2]
    if isinstance(view.rows, RowFormula):
        start = np.arange(y0, y1, dtype=np.int64) * view.rows.stride + view.rows.offset
        end = start + view.rows.span
        return np.clip(start, 0, view.height), np.clip(end, 0, view.height)
    pairs = np.array(view.rows.table[y0:y1], np.int64)
    return pairs[:, 0], pairs[:, 1]


def needed_rows(view: Read, kernel: Kernel) -> list[tuple[int, int]]:
    """The input rows of the range as ascending intervals [first, end) with gaps between them."""
    first, end = row_bounds(view, kernel)
    order = np.argsort(first, kind="stable")
    intervals: list[tuple[int, int]] = []
    for a, b in zip(first[order].tolist(), end[order].tolist(), strict=True):
        if a == b:
            continue
        if intervals and a <= intervals[-1][1]:
            intervals[-1] = intervals[-1][0], max(b, intervals[-1][1])
        else:
            intervals.append((a, b))
    return intervals


def _touch(
    index: Index,
    view: View,
    kernel: Kernel,
    env: Mapping[str, int],
    rows: list[tuple[int, int]],
    columns: tuple[int, int],
    pixel: tuple[int, int],
) -> Touch:
    buffer = index.buffers[view.buffer]
    touched = sum(b - a for a, b in rows) * (columns[1] - columns[0]) * (pixel[1] - pixel[0])
    if touched > buffer.size:
        raise Misplaced(f"{touched} bytes do not fit into the {buffer.size} of {buffer.name}")
    regions = [
        _region(index, view, kernel, env, lines, columns, pixel)
        for interval in rows
        for lines in _ring_pieces(view, *interval)
    ]
    low = buffer.offset
    for region in regions:
        if region.start < low or region.end > low + buffer.size:
            raise Misplaced(
                f"out of bounds: bytes {region.start - low}..{region.end - low - 1} of buffer "
                f"{buffer.name}, which has {buffer.size}"
            )
    element = element_bytes(index, view.tensor, view.box)
    return Touch(view.tensor, space_of(buffer), element, tuple(regions))


def _ring_pieces(view: View, first: int, end: int) -> Iterator[tuple[int, int, int]]:
    """(first row, end row, line of the ring) of rows at ascending addresses."""
    if not view.ring:
        yield first, end, first - view.row0
        return
    if first < view.row0:
        raise Misplaced(f"row {first} lies before row0 = {view.row0} of its ring")
    while first < end:
        line = (first - view.row0) % view.ring
        stop = min(end, first + view.ring - line)
        yield first, stop, line
        first = stop


def _region(
    index: Index,
    view: View,
    kernel: Kernel,
    env: Mapping[str, int],
    lines: tuple[int, int, int],
    columns: tuple[int, int],
    pixel: tuple[int, int],
) -> Region:
    box = view.box
    image = 0 if box.shared else kernel.image.at(env)
    if not 0 <= image < box.size[0]:
        raise Misplaced(f"image {image} lies outside of the {box.size[0]} of its box")
    element = element_bytes(index, view.tensor, box)
    tensor_pixel = box.map[3] * element
    tensor_row = box.map[2] * tensor_pixel
    first, end, line = lines
    start = index.buffers[view.buffer].offset + view.offset.at(env)
    return Region(
        start=start + line * view.row + (columns[0] - view.col0) * view.pixel + pixel[0],
        row=view.row,
        pixel=view.pixel,
        shape=(end - first, columns[1] - columns[0], pixel[1] - pixel[0]),
        position=(box.start[0] + image) * box.map[1] * tensor_row
        + (box.start[1] + first) * tensor_row
        + (box.start[2] + columns[0]) * tensor_pixel
        + box.start[3] * element
        + pixel[0],
        tensor_row=tensor_row,
        tensor_pixel=tensor_pixel,
        first=(first, columns[0], pixel[0]),
    )
