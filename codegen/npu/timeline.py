"""When everything happens: the same clock as that of the `sim` port, computed without running.

The CPU takes no time of its own but for its operators and waits. The NPU runs one command at a
time. A transfer takes the channel that is free first: set-up, then its bytes at the rate of its
path, each contiguous run a whole number of cycles; where all channels share a rate, only one of
them moves bytes at a time.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from codegen.board_schema import Board
from codegen.npu.banks import command_banks, transfer_banks
from codegen.npu.issue import Act, Action
from codegen.npu.program import Program, Transfer, Way
from codegen.npu.tiling import engine, rates


@dataclass(frozen=True)
class Event:
    """Something that took time: `lane` is "NPU", "CPU" or a DMA channel's number as text.

    `number` is that of the command, or the ticket of the transfer; `banks` has a bit for each bank
    of the scratchpad that it touches, if that is known.
    """

    lane: str
    number: int
    start: int
    end: int
    bytes: int = 0
    banks: int = 0


@dataclass(frozen=True, eq=False)
class Timeline:
    """All events in order of their starts per lane, and what they sum up to, in cycles.

    `busy` of the NPU counts starts; `starts` is that part of it. `cpu` is the CPU's own operators.
    """

    events: tuple[Event, ...]
    total: int
    busy: int
    starts: int
    cpu: int
    dma: int
    bytes: int

    @property
    def exposed(self) -> int:
        """Cycles in which neither the NPU nor an operator of the CPU runs."""
        return self.total - self.busy - self.cpu


class Clock:
    """Times of transfers on a board's DMA channels."""

    def __init__(self, board: Board) -> None:
        _, self._dma = engine(board)
        self._rates = rates(board)
        self._free = [0] * self._dma.channels
        self._bus = 0

    def transfer(self, transfer: Transfer, now: int) -> tuple[int, int, int]:
        """Channel, start and end of a transfer that is started `now`."""
        channel = self._free.index(min(self._free))
        start = max(now, self._free[channel])
        moving = start + self._dma.setup_cycles
        if self._dma.bytes_per_cycle and self._dma.channels > 1:
            moving = max(moving, self._bus)
        end = moving + self.moving(transfer)
        self._bus = self._free[channel] = end
        return channel, start, end

    def moving(self, transfer: Transfer) -> int:
        """Cycles that its bytes take, set-up not counted."""
        load, store, weights = self._rates
        rate = store if transfer.way is Way.STORE else weights if transfer.tensor < 0 else load
        copy = transfer.copy
        return copy.rows * copy.planes * math.ceil(copy.length / rate)


def timeline(
    board: Board,
    program: Program,
    actions: Iterable[Action],
    offsets: Sequence[int] | None = None,
) -> Timeline:
    """Play the actions on the clock; where the blocks' offsets are known, banks are too."""
    npu, _ = engine(board)
    clock = Clock(board)
    now = npu_end = cpu = busy = dma = moved = started = 0
    ends: dict[int, int] = {}
    ticket = 0
    events: list[Event] = []
    for action in actions:
        number = action.number
        if action.act is Act.DMA_START:
            transfer = program.transfers[number]
            channel, start, ends[number] = clock.transfer(transfer, now)
            banks = transfer_banks(board, transfer, offsets) if offsets else 0
            span = (start, ends[number])
            events.append(Event(str(channel), ticket, *span, transfer.copy.bytes, banks))
            ticket += 1
            dma += ends[number] - start
            moved += transfer.copy.bytes
        elif action.act is Act.DMA_WAIT:
            now = max(now, ends[number])
        elif action.act is Act.NPU_WAIT:
            now = max(now, npu_end)
        elif action.act is Act.NPU_START:
            command = program.commands[number]
            npu_end = now + command.cycles
            busy += command.cycles
            started += 1
            banks = command_banks(board, command, offsets) if offsets else 0
            events.append(Event("NPU", number, now, npu_end, 0, banks))
        else:
            cycles = program.commands[number].cycles
            events.append(Event("CPU", number, now, now + cycles))
            now += cycles
            cpu += cycles
    total = max((now, npu_end, *ends.values()))
    return Timeline(tuple(events), total, busy, started * npu.start_cycles, cpu, dma, moved)
