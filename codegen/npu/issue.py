"""From a program to a list of actions: when transfers start, where blocks lie, what waits for what.

Transfers are started in program order, each as far ahead of its command as free scratchpad and the
DMA's queue allow; so prefetching reaches across operators, and nothing can wait for itself. A wait
stands before the first use of what it waits for, and nowhere else.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from codegen.npu.program import ALIGNMENT, Block, Program, Transfer, Way, align
from codegen.planner import arena, blocks
from codegen.planner.blocks import DoesNotFit


class Act(enum.Enum):
    """What the CPU does; `number` of an action is that of a transfer or a command."""

    DMA_START = "dma_start"
    DMA_WAIT = "dma_wait"
    NPU_START = "npu_start"
    NPU_WAIT = "npu_wait"
    CPU = "cpu"


@dataclass(frozen=True)
class Action:
    """One call, and the command in whose turn it is made."""

    act: Act
    number: int
    turn: int


@dataclass(frozen=True, eq=False)
class Issue:
    """Lives and addresses of all blocks, and all calls in order.

    Attributes:
        lives: by block, the first and last command while which its bytes are taken.
        offsets: by block, bytes from the start of the scratchpad.
        actions: in order of execution.
    """

    lives: tuple[tuple[int, int], ...]
    offsets: tuple[int, ...]
    actions: tuple[Action, ...]

    def used(self, program: Program) -> int:
        """Bytes of the scratchpad from its start to the end of the last block."""
        return max((self.offsets[b.index] + b.size for b in program.blocks), default=0)


_MOST_SEARCHED = 150
_SECONDS = 0.1
"""Of counted work (see `codegen.planner.arena`) for blocks that no simple rule has placed."""

_POOLS = (1.0, 0.97, 0.94, 0.9, 0.85, 0.8, 0.7, 0.6, 0.5, 0.0)
"""Parts of the scratchpad that prefetching may fill, until the blocks find places."""


def issue(program: Program, capacity: int, queue: int) -> Issue:
    """Addresses and actions of a program.

    Raises:
        DoesNotFit: if its blocks find no places.
    """
    for part in _POOLS:
        lives = lifetimes(program, int(part * capacity))
        try:
            offsets = addresses(program.blocks, lives, capacity)
        except DoesNotFit:
            if part == _POOLS[-1]:
                raise
            continue
        return Issue(lives, offsets, tuple(actions(program, lives, offsets, queue)))
    raise AssertionError("the last part either fits or raises")


def lifetimes(program: Program, pool: int) -> tuple[tuple[int, int], ...]:
    """When each block's bytes are taken, prefetching within `pool` bytes at any time.

    What is needed is taken while it is needed. On top of that, in program order, blocks that are
    stored stay for one more command, and blocks that are loaded are taken earlier.
    """
    count = len(program.commands)
    taken = np.zeros(count + 1, np.int64)
    for block in program.blocks:
        taken[block.first : block.last + 1] += align(block.size)
    stored = {t.block.index for t in program.transfers if t.way is Way.STORE}
    lives = []
    for block in sorted(program.blocks, key=lambda b: b.first):
        first, last, size = block.first, block.last, align(block.size)
        if block.index in stored and last + 1 < count and taken[last + 1] + size <= pool:
            last += 1
            taken[last] += size
        if block.loaded:
            full = np.flatnonzero(taken[:first] + size > pool)
            start = int(full[-1]) + 1 if full.size else 0
            taken[start:first] += size
            first = start
        lives.append((block.index, first, last))
    return tuple((first, last) for _, first, last in sorted(lives))


def addresses(
    program_blocks: Sequence[Block], lives: Sequence[tuple[int, int]], capacity: int
) -> tuple[int, ...]:
    """Offsets in the scratchpad for blocks with these lives.

    Raises:
        DoesNotFit: if no strategy finds room.
    """
    wanted = [blocks.Block(str(b.index), b.size, *lives[b.index]) for b in program_blocks if b.size]
    region = blocks.Region("scratchpad", capacity, ALIGNMENT)
    try:
        solution = arena.allocate("greedy", wanted, [region])
    except DoesNotFit:
        if len(wanted) > _MOST_SEARCHED:
            raise
        solution = arena.allocate("optimal", wanted, [region], seconds=_SECONDS)
    return tuple(solution.places[str(b.index)].offset if b.size else 0 for b in program_blocks)


class _Writer:
    """Writes the actions; knows which transfers are under way."""

    def __init__(
        self,
        program: Program,
        lives: Sequence[tuple[int, int]],
        offsets: Sequence[int],
        queue: int,
    ) -> None:
        self._program, self._offsets, self._queue = program, offsets, queue
        self._out: list[Action] = []
        self._pending: dict[int, None] = {}
        self._loads = _in_order(program, lives)
        self._next = 0
        self._turn = 0
        self._started: set[int] = set()
        self._stores: dict[int, list[int]] = {}
        for number, transfer in enumerate(program.transfers):
            if transfer.way is Way.STORE:
                self._stores.setdefault(transfer.command, []).append(number)

    def write(self) -> list[Action]:
        commands = self._program.commands
        for turn, command in enumerate(commands):
            self._turn = turn
            self._finish(turn - 1)
            self._start_needed(turn)
            for number in (*command.loads, *command.stores):
                self._wait(number)
            if command.work is None:
                self._prefetch(turn)
                self._act(Act.CPU, turn)
                continue
            for span in self._written(turn):
                self._wait_for_bytes(*span)
            self._act(Act.NPU_START, turn)
            self._prefetch(turn)
        self._finish(len(commands) - 1)
        for number in list(self._pending):
            self._wait(number)
        return self._out

    def _act(self, act: Act, number: int) -> None:
        self._out.append(Action(act, number, self._turn))

    def _finish(self, number: int) -> None:
        """Wait for a command and start the stores of its results."""
        if number < 0:
            return
        if self._program.commands[number].work is not None:
            self._act(Act.NPU_WAIT, number)
        for store in self._stores.get(number, ()):
            self._start(store)

    def _start_needed(self, turn: int) -> None:
        """Loads of this command that no earlier turn had room for."""
        while self._next < len(self._loads) and self._loads[self._next][1] <= turn:
            self._start_load(self._loads[self._next][2])

    def _prefetch(self, turn: int) -> None:
        """Loads whose bytes are free by now, in order, up to the first one that has to wait."""
        while self._next < len(self._loads):
            slot, needed, number = self._loads[self._next]
            full = len(self._pending) >= self._queue - 1
            waits = needed > turn + 1 and any(
                self._program.transfers[s].command >= turn - 1 for s in self._blocking(number)
            )
            if slot > turn or full or waits:
                return
            self._start_load(number)

    def _blocking(self, number: int) -> list[int]:
        """Stores that a load waits for: of what it reads, and of what lies where it writes."""
        transfer = self._program.transfers[number]
        return [
            store
            for store in self._pending
            if store in transfer.stores
            or (self._is_store(store) and self._meet(self._span(transfer), store))
        ]

    def _start_load(self, number: int) -> None:
        for store in self._blocking(number):
            self._wait(store)
        self._start(number)
        self._next += 1

    def _start(self, number: int) -> None:
        while len(self._pending) >= self._queue:
            oldest = next(filter(self._is_store, self._pending), next(iter(self._pending)))
            self._wait(oldest)
        self._act(Act.DMA_START, number)
        self._pending[number] = None
        self._started.add(number)

    def _wait(self, number: int) -> None:
        if number in self._pending:
            del self._pending[number]
            self._act(Act.DMA_WAIT, number)

    def _wait_for_bytes(self, low: int, high: int) -> None:
        for store in list(self._pending):
            if self._is_store(store) and self._meet((low, high), store):
                self._wait(store)

    def _is_store(self, number: int) -> bool:
        return self._program.transfers[number].way is Way.STORE

    def _meet(self, span: tuple[int, int], store: int) -> bool:
        low, high = self._span(self._program.transfers[store])
        return low < span[1] and span[0] < high

    def _span(self, transfer: Transfer) -> tuple[int, int]:
        start = self._offsets[transfer.block.index] + transfer.offset
        return start, start + transfer.copy.scratch_extent

    def _written(self, turn: int) -> Iterator[tuple[int, int]]:
        """The bytes that a command writes, as [low, high)."""
        command = self._program.commands[turn]
        if command.sums is not None:
            start = self._offsets[command.sums.index]
            yield start, start + command.sums.size
        place, tile = command.output, command.tile
        if place is None or not command.last:
            return
        base = self._offsets[place.block.index]
        if place.ring:
            for y in range(tile.y0, tile.y1):
                start = base + place.offset + (y - place.row0) % place.ring * place.row
                yield start, start + place.row
            return
        first = (tile.y0 - place.row0) * place.row + (tile.x0 - place.col0) * place.pixel
        last = (tile.y1 - 1 - place.row0) * place.row + (tile.x1 - 1 - place.col0) * place.pixel
        yield base + place.offset + first, base + place.offset + last + tile.channels


def _in_order(program: Program, lives: Sequence[tuple[int, int]]) -> list[tuple[int, int, int]]:
    """Loads as (turn from which they may start, command, number), in the order of their starts."""
    found = [(t.command, number) for number, t in enumerate(program.transfers) if t.way is Way.LOAD]
    found.sort()
    loads, slot = [], 0
    for command, number in found:
        transfer = program.transfers[number]
        written = (program.transfers[s].command + 1 for s in transfer.stores)
        slot = max(slot, lives[transfer.block.index][0], transfer.after + 1, *written)
        loads.append((min(slot, command), command, number))
    return loads


def actions(
    program: Program,
    lives: Sequence[tuple[int, int]],
    offsets: Sequence[int],
    queue: int,
) -> list[Action]:
    """All calls of a program in order."""
    return _Writer(program, lives, offsets, queue).write()
