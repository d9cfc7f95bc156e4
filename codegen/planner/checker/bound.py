"""The claim of a lower bound: the most bytes that have to live at once, counted anew.

While a layer runs, all buffers that live then need room, each from an aligned address on (only the
highest one's end need not be aligned). Two of them may share bytes: a buffer that dies in the layer
and the one that a single kernel makes from it, by as many as that kernel's order allows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from codegen.planner.checker.document import Buffer, Kernel, Layer, Memory, Read, View
from codegen.planner.checker.index import Index, loops_entered_once
from codegen.planner.checker.regions import row_bounds


def bound_fault(index: Index) -> str:
    """What is wrong with the claimed bound; nothing if it is no more than what is counted.

    A search may have proven a higher one; that is believed as far as the arenas are no smaller.
    """
    document = index.document
    claimed, used = document.lower_bound_bytes, sum(m.arena_bytes for m in document.memories)
    counted = counted_bound(index)
    if claimed > used:
        return f"lower bound: {claimed} bytes are claimed, but the arenas take {used}"
    if document.bound_by == "count" and claimed > counted:
        return f"lower bound: {claimed} bytes are claimed, but {counted} are counted"
    return ""


def counted_bound(index: Index) -> int:
    """Bytes that the buffers need at least where they are, summed over the memories."""
    return sum(_memory(index, memory) for memory in index.document.memories)


def _memory(index: Index, memory: Memory) -> int:
    """Most bytes live at once in one memory."""
    placed = [b for b in index.document.buffers if b.home == "arena" and b.memory == memory.name]
    pairs = list(_pairs(index, placed))
    most = 0
    for moment in {b.first for b in placed}:
        sizes = [_size(index, b) for b in placed if b.first <= moment <= b.last]
        rounded = [_round_up(size, memory.alignment) for size in sizes]
        ends = max(r - size for r, size in zip(rounded, sizes, strict=True))
        shared = sum(
            _shared(index, pair, memory.alignment) for pair in pairs if pair.position == moment
        )
        most = max(most, sum(rounded) - ends - shared)
    return most


def _size(index: Index, buffer: Buffer) -> int:
    """Bytes of what lies in the buffer, whole lines behind a cache; more may be kept for it."""
    held = [index.tensors[t] for t in buffer.tensors]
    size = max((t.offset + t.bytes for t in held), default=buffer.size)
    pad = index.document.scratchpad
    if pad and pad.cache and buffer.memory in pad.cache.memories:
        size = _round_up(size, pad.cache.line)
    return min(buffer.size, size)


def _round_up(size: int, alignment: int) -> int:
    return -(-size // alignment) * alignment


@dataclass(frozen=True)
class _Pair:
    """A layer's result may start `below` bytes under the source, or `above` bytes over it."""

    position: int
    source: Buffer
    result: Buffer
    below: int
    above: int | None


def _shared(index: Index, pair: _Pair, alignment: int) -> int:
    """Bytes that a pair has in common at most."""
    source, result = (_round_up(_size(index, b), alignment) for b in (pair.source, pair.result))
    below = _round_up(min(pair.below, _size(index, pair.result)), alignment)
    height = max(result, below + source)
    if pair.above is not None:
        above = _round_up(min(pair.above, _size(index, pair.source)), alignment)
        height = min(height, max(source, above + result))
    return max(0, source + result - height)


def _pairs(index: Index, placed: list[Buffer]) -> Iterator[_Pair]:
    """Per layer, the one pair that its kernel lets share bytes."""
    names = {b.name for b in placed}
    for position, layer in enumerate(index.document.layers):
        kernel = _only_kernel(layer)
        if kernel is None:
            continue
        result = index.buffers[kernel.writes[0].buffer]
        for read in kernel.reads:
            source = index.buffers[read.buffer]
            dies = source.last == position == result.first and source.name != result.name
            alone = sum(r.buffer == read.buffer for r in kernel.reads) == 1
            if not (dies and alone and {source.name, result.name} <= names):
                continue
            if read.alias != "none" and all(_is_whole(index, v) for v in (read, kernel.writes[0])):
                pair = _Pair(position, source, result, *_distances(kernel, read))
                if min(pair.below, pair.below if pair.above is None else pair.above) < _size(
                    index, result
                ):
                    yield pair
                    break


def _only_kernel(layer: Layer) -> Kernel | None:
    """The kernel of a layer that makes one output with one step, in loops or not."""
    steps = [kernel for _, kernel, _ in loops_entered_once(layer.steps)]
    return steps[0] if len(steps) == 1 and len(steps[0].writes) == 1 else None


def _is_whole(index: Index, view: View) -> bool:
    """Whether the view shows all of a tensor that lies without gaps."""
    w, c = view.box.map[2:]
    element = index.tensors[view.tensor].bytes // math.prod(view.box.map)
    dense = view.pixel == c * element and view.row == w * view.pixel and not view.ring
    shared = isinstance(view, Read) and view.box.shared
    return view.box.size == view.box.map and dense and not shared and not view.offset.constant


def _distances(kernel: Kernel, read: Read) -> tuple[int, int | None]:
    """How far below and above the source the result may start, from the kernel's promise."""
    write = kernel.writes[0]
    images, height, width, channels = write.box.size
    if read.alias != "row":
        pixels = images * height * width
        unit = 1 if read.alias == "element" else channels
        size = write.pixel_bytes // (channels // unit)
        other = read.pixel_bytes // (read.box.size[3] if read.alias == "element" else 1)
        growth = size - other
        below = max(0, growth, pixels * (channels // unit) * growth)
    else:
        below = _below(kernel, read)
    return below, _above(kernel, read) if images == 1 else None


def _rows(kernel: Kernel, read: Read) -> tuple[list[int], list[int]]:
    """For every output row, the first input row that it needs and the end of those."""
    height = kernel.writes[0].box.size[1]
    whole = kernel.model_copy(update={"range": (0, height, *kernel.range[2:])})
    first, end = row_bounds(read, whole)
    return first.tolist(), end.tolist()


def _below(kernel: Kernel, read: Read) -> int:
    write = kernel.writes[0]
    images, height = write.box.size[:2]
    first, _ = _rows(kernel, read)
    needed = np.minimum.accumulate(first[::-1])[::-1].tolist()
    furthest = 0
    for image in range(images):
        for y in range(0, height, kernel.rows_per_step):
            end = min(y + kernel.rows_per_step, height)
            written = (image * height + end) * write.row
            furthest = max(furthest, written - (image * read.height + needed[y]) * read.row)
    return furthest


def _above(kernel: Kernel, read: Read) -> int | None:
    """None for kernels that make several rows at a time or take the map as one row."""
    write = kernel.writes[0]
    height = write.box.size[1]
    if height == 1 or kernel.rows_per_step > 1:
        return None
    _, ends = _rows(kernel, read)
    needed = np.maximum.accumulate(ends).tolist()
    furthest = max(end * read.row - y * write.row for y, end in enumerate(needed))
    return max(0, int(furthest))
