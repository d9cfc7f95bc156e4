"""Decisions about a network, the program that they stand for, and what the clock says of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from codegen.npu.builder import Builder
from codegen.npu.cascade import Ends, add_cascade, row_order
from codegen.npu.issue import actions, lifetimes
from codegen.npu.network import Network
from codegen.npu.operator import add_operator
from codegen.npu.program import align
from codegen.npu.tiling import Residence, Tiling, engine
from codegen.npu.timeline import timeline
from codegen.targets.npu import Work

PER_BYTE = 0.02
"""Cycles that a byte moved counts as, on top of the time it takes: pure time wastes traffic."""


@dataclass(frozen=True)
class Where:
    """Where a map is: kept in the scratchpad, stored in memory, both, or neither (in a ring)."""

    kept: bool
    stored: bool


KEPT, STORED, BOTH = Where(True, False), Where(False, True), Where(True, True)
PASSING = Where(False, False)


@dataclass(frozen=True)
class Rowwise:
    """Steps up to `last` are one cascade, `rows` rows of the last one at a time."""

    last: int
    rows: int


@dataclass(frozen=True, eq=False)
class Schedule:
    """Decisions: a tiling or the start of a cascade by step, and where each result goes."""

    tilings: Mapping[int, Tiling]
    cascades: Mapping[int, Rowwise]
    places: Mapping[int, Where]

    def cascade_of(self, position: int) -> tuple[int, Rowwise] | None:
        """The cascade that a step belongs to, and its first step."""
        for first, found in self.cascades.items():
            if first <= position <= found.last:
                return first, found
        return None


def cascade_works(net: Network, first: int, last: int) -> list[Work]:
    """The works of steps that form a cascade."""
    works = [net.steps[i].work for i in range(first, last + 1)]
    assert all(works)
    return [w for w in works if w is not None]


def cascade_ends(
    net: Network, first: int, last: int, kept_inputs: frozenset[int], places: Mapping[int, Where]
) -> Ends:
    """Which maps a cascade streams in, keeps and stores; `kept_inputs` lie in the scratchpad."""
    made = {t for i in range(first, last + 1) for t in net.steps[i].writes}
    read = {t for i in range(first, last + 1) for t in net.steps[i].reads}
    return Ends(
        streamed=frozenset(read - made - kept_inputs),
        kept=frozenset(t for t in made if places[t].kept),
        stored=frozenset(t for t in made if places[t].stored),
    )


def program_of(net: Network, schedule: Schedule) -> Builder:
    """The program that a schedule stands for."""
    builder = Builder(net.graph, net.board, dict(net.roots))
    position = 0
    while position < len(net.steps):
        last = _add(net, schedule, builder, position)
        read = {t for i in range(position, last + 1) for t in net.steps[i].reads}
        for t in list(builder.kept):
            both = schedule.places.get(t) == BOTH and t in read
            if net.last[t] <= last or both:
                del builder.kept[t]
        position = last + 1
    return builder


def _add(net: Network, schedule: Schedule, builder: Builder, position: int) -> int:
    """Append a step, or the cascade that starts with it; returns the last step appended."""
    step = net.steps[position]
    if step.work is None:
        reads, writes = list(step.reads), list(step.writes)
        builder.cpu_command(step.node.index, reads, writes, step.cpu_cycles)
        return position
    if position in schedule.cascades:
        rowwise = schedule.cascades[position]
        works = cascade_works(net, position, rowwise.last)
        kept = frozenset(builder.kept)
        ends = cascade_ends(net, position, rowwise.last, kept, schedule.places)
        rows = row_order(works, net.roots, ends, rowwise.rows)
        add_cascade(builder, works, ends, rows)
        return rowwise.last
    inputs = tuple(builder.root(t) in builder.kept for t in step.work.inputs)
    out = schedule.places[step.work.output]
    at = Residence(inputs, out.kept, out.stored)
    add_operator(builder, step.work, schedule.tilings[position], at)
    return position


@dataclass(frozen=True, eq=False)
class Judged:
    """A schedule with its program and what it costs; infinite if it does not fit."""

    schedule: Schedule
    builder: Builder
    score: float
    total: int


def judge(net: Network, schedule: Schedule) -> Judged:
    """Score a schedule by its exact timeline, blocks having addresses of their own."""
    scratchpad = net.board.scratchpad
    assert scratchpad is not None
    _, dma = engine(net.board)
    builder = program_of(net, schedule)
    program = builder.program
    if program.peak > scratchpad.size:
        return Judged(schedule, builder, float("inf"), 0)
    offsets, end = [], 0
    for block in program.blocks:
        offsets.append(end)
        end += align(block.size)
    lives = lifetimes(program, scratchpad.size)
    clock = timeline(net.board, program, actions(program, lives, offsets, dma.queue))
    return Judged(schedule, builder, clock.total + PER_BYTE * clock.bytes, clock.total)
