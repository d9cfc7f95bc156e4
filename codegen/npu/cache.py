"""Cache maintenance: which buffers in cacheable memory are cleaned or invalidated before whom.

* Before the first load of what the CPU (or the caller) has written: clean.
* Before the first store to a buffer some line of which may be dirty: invalidate. Lines are dirty
  unless they were cleaned or invalidated in this run and not written by the CPU since.
* Before the CPU (or the caller) reads what was stored: invalidate.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from codegen.board_schema import Board, Memory
from codegen.npu.network import Network, Step
from codegen.npu.program import Transfer, Way
from codegen.npu.roll import Node
from codegen.npu.steps import cache_node
from codegen.plan import Buffer, Home


def cached_memories(board: Board) -> list[Memory]:
    """The RAM that the CPU sees through a cache; a write-through one is treated like the others.

    What lies in flash never changes, so that its cache is of no concern.
    """
    return [m for m in board.memories if m.cacheable and m.kind == "ram"]


class CacheKeeper:
    """Follows the run of a program and says what has to be done; all calls in order of the run."""

    def __init__(self, board: Board, net: Network, buffers: Sequence[Buffer]) -> None:
        self._line = board.cache.line if board.cache else 1
        memories = {m.name for m in cached_memories(board)}
        self._buffers = {b.name: b for b in buffers}
        self._of = {
            t: b
            for b in buffers
            for t in b.tensors
            if (b.memory or board.placement.arena[0]) in memories
        }
        by_npu = {s.writes[0] for s in net.steps if s.work is not None}
        stored = {t for t in by_npu if t in self._of}
        self._uncleaned = {t for t in self._of if t not in by_npu}
        self._unstored = set(stored)
        self._stale = set(stored)
        self._outputs = [t for t in net.outputs if t in stored]
        self._tidy: set[tuple[str, int]] = set()

    def before_transfer(self, transfer: Transfer) -> Iterator[Node]:
        """What has to be done before a transfer starts."""
        t = transfer.tensor
        if transfer.way is Way.STORE and t in self._unstored:
            self._unstored.discard(t)
            lines = self._lines(self._of[t])
            if not lines or not lines <= self._tidy:
                yield self._done(False, self._of[t])
        if transfer.way is Way.LOAD and t in self._uncleaned:
            self._uncleaned.discard(t)
            yield self._done(True, self._of[t])

    def before_cpu(self, step: Step) -> list[Node]:
        """What has to be done before the CPU's kernels of a step run."""
        stale = [t for t in step.reads if t in self._stale]
        self._stale -= set(stale)
        return [self._done(False, self._of[t]) for t in stale]

    def after_cpu(self, step: Step, scratch: str) -> None:
        """The CPU has written the step's results and its scratch."""
        written = [self._of[t] for t in step.writes if t in self._of]
        if scratch in self._buffers:
            written.append(self._buffers[scratch])
        for buffer in written:
            self._tidy -= self._lines(buffer)

    def at_end(self) -> list[Node]:
        """What has to be done before the caller reads the outputs."""
        return [self._done(False, self._of[t]) for t in self._outputs if t in self._stale]

    def _done(self, clean: bool, buffer: Buffer) -> Node:
        self._tidy |= self._lines(buffer)
        return cache_node(clean, buffer.name)

    def _lines(self, buffer: Buffer) -> set[tuple[str, int]]:
        """The lines of a buffer in an arena; the caller's memory has none that are known."""
        if buffer.home is not Home.ARENA:
            return set()
        first, end = buffer.offset, buffer.offset + buffer.size
        numbers = range(first // self._line, -(-end // self._line))
        return {(buffer.memory, number) for number in numbers}
