"""The proof of cache maintenance: what transfers find behind the cache, line by line.

A cached space has two arrays of tags: the CPU's, which kernels read and write, and that of the
memory behind it, which transfers do. The cache may write a dirty line back at any time, or never:
where the two differ in a line that the CPU has written to, the memory holds nothing that anybody
may count on. Before a run every line may be dirty. Cleaning brings the CPU's bytes to memory,
invalidating those of the memory to the CPU, which loses what was not cleaned; so lines that buffers
share show as bytes that are gone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from codegen.planner.checker.document import Buffer, CacheStep
from codegen.planner.checker.index import Index
from codegen.planner.checker.memory import UNCERTAIN, TaggedMemory
from codegen.planner.checker.regions import Array, Touch, space_of


@dataclass(eq=False)
class _Lines:
    """A cached space: the CPU's tags, those of the memory behind, and a flag per line."""

    seen: Array
    behind: Array
    dirty: NDArray[np.bool_]


class Cache:
    """The caches of one execution; boards without one share the CPU's tags with transfers."""

    def __init__(self, index: Index, memory: TaggedMemory) -> None:
        self._index, self._memory = index, memory
        pad = index.document.scratchpad
        found = pad.cache if pad else None
        self._line = found.line if found else 1
        self._spaces: dict[str, _Lines] = {}
        for buffer in index.document.buffers if found else ():
            outside = buffer.home in ("caller_input", "caller_output")
            if found and (buffer.memory in found.memories or (outside and found.caller)):
                self._add(buffer)

    def _add(self, buffer: Buffer) -> None:
        """A space that can be written; constants are in memory from the start."""
        space = space_of(buffer)
        if buffer.home != "constant" and space not in self._spaces:
            seen = self._memory.space(buffer)
            dirty = np.ones(-(-seen.size // self._line), np.bool_)
            self._spaces[space] = _Lines(seen, np.full(seen.size, UNCERTAIN, np.int64), dirty)

    def memory(self, buffer: Buffer) -> Array:
        """The tags that transfers find and change in a buffer's space."""
        lines = self._spaces.get(space_of(buffer))
        return lines.behind if lines else self._memory.space(buffer)

    def is_dirty(self, buffer: Buffer, positions: Array) -> bool:
        """Whether the cache may write something back over these bytes of a buffer's space."""
        lines = self._spaces.get(space_of(buffer))
        return lines is not None and bool(lines.dirty[positions // self._line].any())

    def written(self, touch: Touch) -> None:
        """The CPU has written to the bytes of a touch."""
        for region in touch.regions if touch.space in self._spaces else ():
            flags = np.zeros(region.end - region.start, np.bool_)
            region.in_space(flags, region.start)[...] = True
            self._wrote(touch.space, np.flatnonzero(flags) + region.start)

    def written_scratch(self, buffer: Buffer, size: int) -> None:
        """The CPU has written to the first bytes of a scratch buffer."""
        if space_of(buffer) in self._spaces:
            self._wrote(space_of(buffer), np.arange(buffer.offset, buffer.offset + size))

    def _wrote(self, space: str, positions: Array) -> None:
        lines = self._spaces[space]
        lines.dirty[positions // self._line] = True
        whole = np.repeat(lines.dirty, self._line)[: lines.seen.size]
        lines.behind[whole & (lines.behind != lines.seen)] = UNCERTAIN

    def step(self, step: CacheStep) -> Iterator[str]:
        """Clean or invalidate a buffer, and with it all of its lines."""
        buffer = self._index.buffers[step.buffer]
        lines = self._spaces.get(space_of(buffer))
        if lines is None:
            yield f"{step.cache} of {buffer.name}, which is not behind the cache"
            return
        start = self._memory.start(buffer)
        first, end = start // self._line, -(-(start + buffer.size) // self._line)
        where = slice(first * self._line, end * self._line)
        if step.cache == "clean":
            lines.behind[where] = lines.seen[where]
        else:
            lines.seen[where] = lines.behind[where]
        lines.dirty[first:end] = False
