"""A simulated memory: every byte carries a tag that says which byte of which tensor it holds.

The tag of byte p of tensor t is base(t) + p. Where a tensor is a view of others its bytes go by
their tags, so that one byte of memory can hold two tensors. Tag 0 is memory nobody has written,
and -(k + 1) the scratch of layer k.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codegen.planner.checker.document import Buffer, Share, TensorPart
from codegen.planner.checker.index import Index
from codegen.planner.checker.regions import Array, Region, Touch, space_of
from codegen.planner.checker.structure import element_bytes

UNDER_WAY = -(2**50)
"""The tag of bytes that a transfer or a command is about to write."""

UNCERTAIN = -(2**51)
"""The tag of bytes in memory that a cache may or may not have written over."""

EITHER_WAY = -(2**52)
"""The tag of bytes that control flow leaves as one thing or another."""

Snapshot = dict[str, Array]


class TaggedMemory:
    """The board's arenas, the caller's buffers and the constants, by their spaces' names."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._ids = sorted(index.tensors)
        sizes = [index.tensors[t].bytes for t in self._ids]
        self._bases = [1, *(1 + np.cumsum(sizes)).tolist()]
        self._base = dict(zip(self._ids, self._bases, strict=False))
        self._views: dict[int, Array] = {}
        self._spaces: dict[str, Array] = {}
        for space, size in _sizes(index).items():
            self._spaces[space] = np.zeros(size, np.int64)
        self._written = tuple(self._spaces)  # all that are no constants
        end = self._bases[-1]
        for buffer in index.document.buffers:
            if buffer.home == "constant" and buffer.tensors:
                self._spaces[space_of(buffer)] = self.tags(buffer.tensors[0], 0, buffer.size)
            elif buffer.home == "constant":  # packed weights have tags of their own
                self._spaces[space_of(buffer)] = np.arange(end, end + buffer.size, dtype=np.int64)
                end += buffer.size

    def snapshot(self) -> Snapshot:
        """All that can be written, as it is now."""
        return {name: self._spaces[name].copy() for name in self._written}

    def restore(self, *ways: Snapshot) -> None:
        """Memory is as one of the snapshots says; where they differ nothing is known."""
        for name in self._written:
            space = self._spaces[name]
            first, *others = (way[name] for way in ways)
            space[...] = first
            for other in others:
                space[first != other] = EITHER_WAY

    def is_at(self, snapshot: Snapshot) -> bool:
        """Whether memory is as it was then."""
        return all(bool((self._spaces[name] == was).all()) for name, was in snapshot.items())

    def alias(self, source: int, result: int) -> None:
        """From now on a whole tensor goes by the tags of another one."""
        self._views[result] = self.tags(source, 0, self._index.tensors[source].bytes)

    def refill(self, tensor: int) -> None:
        """Put a whole tensor at its place, which is no view of another one from now on."""
        self._views.pop(tensor, None)
        self.fill(tensor)

    def space(self, buffer: Buffer) -> Array:
        """The tags of the address space that a buffer is part of."""
        return self._spaces[space_of(buffer)]

    def start(self, buffer: Buffer) -> int:
        """Where a buffer starts in its space."""
        return buffer.offset if buffer.home in ("arena", "state") else 0

    def tags(self, tensor: int, low: int, high: int) -> Array:
        """The tags of bytes low..high - 1 of a tensor."""
        if tensor in self._views:
            return self._views[tensor][low:high]
        base = self._base[tensor]
        return np.arange(base + low, base + high, dtype=np.int64)

    def share(self, share: Share) -> None:
        """From now on the bytes of the result go by the tags of the source's."""
        result = share.result.tensor
        if result not in self._views:
            self._views[result] = self.tags(result, 0, self._index.tensors[result].bytes)
        source = share.source.tensor
        tags = self.tags(source, 0, self._index.tensors[source].bytes)
        part = part_window(self._index, share.result, self._views[result])
        part[...] = part_window(self._index, share.source, tags).reshape(part.shape)

    def fill(self, tensor: int) -> None:
        """Put a whole tensor at its place, as the caller does with inputs."""
        self._whole(tensor)[...] = self.tags(tensor, 0, self._index.tensors[tensor].bytes)

    def missing(self, tensor: int) -> str:
        """What is wrong with a whole tensor at its place; nothing if it is intact."""
        buffer, offset = self._buffer(tensor), self._index.tensors[tensor].offset
        wanted = self.tags(tensor, 0, self._index.tensors[tensor].bytes)
        wrong = np.flatnonzero(self._whole(tensor) != wanted)
        if not wrong.size:
            return ""
        first = int(wrong[0])
        held = int(self._whole(tensor)[first])
        return self._describe(
            wrong.size, first, space_of(buffer), buffer.offset + offset + first, held
        )

    def damage(self, touch: Touch) -> str:
        """What is wrong with the bytes of a touch; nothing if they hold what they should."""
        for region in touch.regions:
            found = region.in_space(self._spaces[touch.space])
            wrong = found != self._wanted(touch, region)
            if wrong.any():
                r, c, b = (int(k) for k in np.argwhere(wrong)[0])
                return self._describe(
                    int(wrong.sum()),
                    region.position + r * region.tensor_row + c * region.tensor_pixel + b,
                    touch.space,
                    region.start + r * region.row + c * region.pixel + b,
                    int(found[r, c, b]),
                )
        return ""

    def write(self, touch: Touch) -> None:
        """The bytes of a touch hold their tensor from now on."""
        for region in touch.regions:
            region.in_space(self._spaces[touch.space])[...] = self._wanted(touch, region)

    def poison(self, buffer: Buffer, size: int, layer: int) -> None:
        """The first `size` bytes of a scratch buffer hold nothing that anybody may read."""
        self._spaces[space_of(buffer)][buffer.offset : buffer.offset + size] = -(layer + 1)

    def poisoned(self, buffer: Buffer, size: int, layer: int) -> bool:
        """Whether a scratch buffer is as `poison` has left it."""
        found = self._spaces[space_of(buffer)][buffer.offset : buffer.offset + size]
        return bool((found == -(layer + 1)).all())

    def _wanted(self, touch: Touch, region: Region) -> Array:
        tags = self.tags(touch.tensor, region.position, region.tensor_end)
        return region.in_tensor(tags, region.position)

    def _buffer(self, tensor: int) -> Buffer:
        return self._index.buffers[self._index.tensors[tensor].buffer or ""]

    def _whole(self, tensor: int) -> Array:
        buffer = self._buffer(tensor)
        place = self._index.tensors[tensor]
        start = buffer.offset + place.offset
        return self._spaces[space_of(buffer)][start : start + place.bytes]

    def _describe(self, count: int, position: int, space: str, address: int, tag: int) -> str:
        if tag == UNCERTAIN:
            holder = "what the cache may not have written back"
        elif tag == UNDER_WAY:
            holder = "what a transfer is about to write"
        elif tag == EITHER_WAY:
            holder = "one thing or another, as control flow goes"
        elif tag < 0:
            holder = f"the scratch of layer {-tag - 1}"
        elif tag == 0:
            holder = "what nobody has written"
        else:
            t = self._ids[bisect_right(self._bases, tag) - 1]
            holder = f"byte {tag - self._base[t]} of {self._index.label(t)}"
        bytes_are = "1 byte is" if count == 1 else f"{count} bytes are"
        return f"{bytes_are} not there: byte {position}, at {space} + {address}, holds {holder}"


def _sizes(index: Index) -> dict[str, int]:
    """Bytes of every space that can be written."""
    sizes: dict[str, int] = {}
    for buffer in index.document.buffers:
        if buffer.home != "constant":
            space = space_of(buffer)
            sizes[space] = max(sizes.get(space, 0), buffer.offset + buffer.size)
    return sizes


def part_window(index: Index, part: TensorPart, values: NDArray[Any]) -> NDArray[Any]:
    """A part of a tensor as a window (n, h, w, bytes of c) into an array of all its bytes."""
    element = element_bytes(index, part.tensor, part)
    n, h, w, c = part.map
    box = values.reshape(n, h, w, c * element)
    (n0, h0, w0, c0), (dn, dh, dw, dc) = part.start, part.size
    return box[n0 : n0 + dn, h0 : h0 + dh, w0 : w0 + dw, c0 * element : (c0 + dc) * element]
