"""Which maps stay in the scratchpad, and how each operator is split: the schedule's search.

A dynamic programme goes over the operators in order. Its state is where the live maps are: in the
scratchpad, in memory, or in both. A move is one operator with the cheapest tiling that fits beside
what passes it by, or a cascade of several operators row by row. Its costs are an estimate, so it
runs with several weights of what comes first; the exact timeline of the whole program decides
between the results, and then between changes of single decisions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

import numpy as np

from codegen.errors import OverBudget
from codegen.npu.builder import Builder
from codegen.npu.cascade import cascade_cost, row_order
from codegen.npu.issue import Issue, issue
from codegen.npu.network import Network
from codegen.npu.program import align
from codegen.npu.schedule import (
    BOTH,
    KEPT,
    PASSING,
    PER_BYTE,
    STORED,
    Judged,
    Rowwise,
    Schedule,
    Where,
    cascade_ends,
    cascade_works,
    judge,
)
from codegen.npu.tiling import Residence, Tiling, Tilings, engine, least_bytes, rates, tilings
from codegen.npu.timeline import timeline
from codegen.npu.weights import whole_bytes
from codegen.planner.blocks import DoesNotFit

_FIRST_WEIGHTS = (0.5, 0.25, 0.1, 0.03, 0.0)
"""How much of the time of an operator's first transfers is thought to be exposed."""

_MOST_EVENTS = 10_000
"""Commands and transfers that the search for one operator's best tiling plays on the clock."""

_BEAM = 24
_LONGEST_CASCADE = 6
_CASCADE_ROWS = (1, 2, 4, 8)

State = frozenset[tuple[int, Where]]


@dataclass(frozen=True)
class _Choice:
    bytes: int
    cost: float
    tiling: Tiling


@dataclass(frozen=True)
class _Move:
    """Steps up to `last` done one way: what it costs, and what it decides."""

    last: int
    cost: float
    tiling: Tiling | None
    rowwise: Rowwise | None
    outs: tuple[tuple[int, Where], ...]


@dataclass(frozen=True)
class _Trail:
    cost: float
    position: int
    before: State
    move: _Move | None


class Tables:
    """What does not depend on weights: the tilings of every step and residence, cascades."""

    def __init__(self, net: Network, capacity: int) -> None:
        self.net, self.capacity = net, capacity
        self.tilings: dict[tuple[int, Residence], Tilings] = {}
        self.cascades: dict[tuple[object, ...], tuple[int, float, float] | None] = {}

    def of(self, position: int, at: Residence) -> Tilings:
        """Every tiling of a step that fits the scratchpad alone."""
        key = (position, at)
        if key not in self.tilings:
            work = self.net.steps[position].work
            assert work is not None
            self.tilings[key] = tilings(self.net.board, work, at, self.capacity)
        return self.tilings[key]


class Planner:
    """The dynamic programme with one weight of first transfers."""

    def __init__(self, tables: Tables, weight: float) -> None:
        self.net, self.capacity, self._tables = tables.net, tables.capacity, tables
        self._weight = weight
        self._fronts: dict[tuple[int, Residence], tuple[_Choice, ...]] = {}

    def front(self, position: int, at: Residence) -> tuple[_Choice, ...]:
        """Tilings of a step that no other beats in both memory and cost, least memory first."""
        key = (position, at)
        if key not in self._fronts:
            weight = max(self._weight, 0.5) if position == 0 else self._weight
            found = self._tables.of(position, at)
            self._fronts[key] = tuple(_pareto(self.net, found, weight))
        return self._fronts[key]

    def best(self, position: int, at: Residence, free: int) -> _Choice | None:
        """The cheapest tiling in `free` bytes."""
        fitting = [c for c in self.front(position, at) if c.bytes <= free]
        return fitting[-1] if fitting else None

    def schedule(self) -> Schedule:
        """The cheapest way through all steps.

        Raises:
            OverBudget: if an operator fits no tile into the scratchpad.
        """
        net = self.net
        start: State = frozenset((t, STORED) for t in net.inputs if net.last[t] >= 0)
        reached: list[dict[State, _Trail]] = [{} for _ in range(len(net.steps) + 1)]
        reached[0][start] = _Trail(0.0, 0, start, None)
        for position in range(len(net.steps)):
            best = sorted(reached[position].items(), key=lambda item: item[1].cost)[:_BEAM]
            for state, trail in best:
                for move in self._moves(position, dict(state)):
                    after = self._after(position, move, dict(state))
                    total = trail.cost + move.cost
                    known = reached[move.last + 1].get(after)
                    if known is None or total < known.cost - 1e-9:
                        reached[move.last + 1][after] = _Trail(total, position, state, move)
            if not any(reached[position + 1 :]):
                raise self._no_tile(position)
        return self._trace(reached)

    def _moves(self, position: int, where: dict[int, Where]) -> Iterator[_Move]:
        """The ways to go on from a state."""
        step = self.net.steps[position]
        if step.work is None:
            if all(where[t].stored for t in step.reads):
                outs = tuple((t, STORED) for t in step.writes)
                yield _Move(position, float(step.cpu_cycles), None, None, outs)
            return
        passing = self._passing(position, position, where)
        inputs = tuple(where[self.net.roots.get(t, t)].kept for t in step.work.inputs)
        for out in self._outcomes(step.writes[0], position):
            at = Residence(inputs, out.kept, out.stored)
            choice = self.best(position, at, self.capacity - passing)
            if choice is not None:
                outs = ((step.work.output, out),)
                yield _Move(position, choice.cost, choice.tiling, None, outs)
        for last in range(position + 1, min(len(self.net.steps), position + _LONGEST_CASCADE)):
            if self.net.steps[last].work is None:
                return
            if self._is_tight(position, last):
                yield from self._cascades(position, last, where)

    def _is_tight(self, first: int, last: int) -> bool:
        """Whether some map between the steps cannot just stay in the scratchpad."""
        for i in range(first, last + 1):
            work = self.net.steps[i].work
            assert work is not None
            size = work.source.bytes * len(set(work.inputs)) + work.result.bytes
            if size + whole_bytes(work) > self.capacity * 3 // 4:
                return True
        return False

    def _cascades(self, first: int, last: int, where: dict[int, Where]) -> Iterator[_Move]:
        """Steps `first` to `last` row by row, for every outcome of the maps that leave them."""
        net = self.net
        free = self.capacity - self._passing(first, last, where)
        made = [t for i in range(first, last + 1) for t in net.steps[i].writes]
        leaving = [t for t in made if net.last[t] > last or t in net.outputs]
        if len(leaving) > 2 or any(net.viewed.get(t, last + 1) <= last for t in made):
            return  # what is seen under another shape has to be complete by then
        inside = [(t, PASSING) for t in made if t not in leaving]
        for outcome in product(*(self._outcomes(t, last) for t in leaving)):
            outs = (*inside, *zip(leaving, outcome, strict=True))
            best: _Move | None = None
            for rows in _CASCADE_ROWS:
                cost = self._cascade(first, last, where, outs, rows)
                if cost is None or cost[0] > free:
                    continue
                total = cost[1] + self._weight * cost[2]
                if best is None or total < best.cost:
                    best = _Move(last, total, None, Rowwise(last, rows), tuple(outs))
            if best is not None:
                yield best

    def _cascade(
        self,
        first: int,
        last: int,
        where: dict[int, Where],
        outs: tuple[tuple[int, Where], ...],
        rows: int,
    ) -> tuple[int, float, float] | None:
        """Bytes, cost, and the time of first transfers of a cascade; None if rows are too many."""
        net = self.net
        reads = {t for i in range(first, last + 1) for t in net.steps[i].reads}
        kept = frozenset(t for t in reads if t in where and where[t].kept)
        key = (first, last, kept, outs, rows)
        cascades = self._tables.cascades
        if key not in cascades:
            works = cascade_works(net, first, last)
            if rows > 1 and rows >= works[-1].result.h:
                cascades[key] = None
                return None
            ends = cascade_ends(net, first, last, kept, dict(outs))
            order = row_order(works, net.roots, ends, rows)
            cost = cascade_cost(net.board, works, net.roots, ends, order)
            load, _, _ = rates(net.board)
            _, dma = engine(net.board)
            transfer = cost.moved / load + cost.transfers * dma.setup_cycles
            longer, shorter = max(cost.compute, transfer), min(cost.compute, transfer)
            total = longer + 0.05 * shorter + PER_BYTE * cost.moved
            cascades[key] = cost.bytes, total, cost.first / load
        return cascades[key]

    def _passing(self, first: int, last: int, where: Mapping[int, Where]) -> int:
        """Bytes of maps in the scratchpad that steps `first` to `last` do not read."""
        reads = {t for i in range(first, last + 1) for t in self.net.steps[i].reads}
        return sum(align(self.net.bytes[t]) for t, w in where.items() if w.kept and t not in reads)

    def _outcomes(self, t: int, position: int) -> list[Where]:
        """Where a result may go that is read after `position`."""
        net = self.net
        readers = [i for i, s in enumerate(net.steps) if t in s.reads and i > position]
        by_npu = any(net.steps[i].work for i in readers)
        by_cpu = any(net.steps[i].work is None for i in readers)
        if t in net.outputs or by_cpu or not readers:
            return [BOTH, STORED] if by_npu else [STORED]
        return [KEPT, STORED, BOTH] if len(readers) > 1 else [KEPT, STORED]

    def _after(self, position: int, move: _Move, where: Mapping[int, Where]) -> State:
        """The state behind a move; a map in both places leaves the scratchpad once it is read."""
        net, last = self.net, move.last
        reads = {t for i in range(position, last + 1) for t in net.steps[i].reads}
        after = {t: w for t, w in where.items() if net.last[t] > last}
        for t in reads & after.keys():
            if after[t] == BOTH:
                after[t] = STORED
        after.update((t, w) for t, w in move.outs if net.last[t] > last)
        return frozenset(after.items())

    def _trace(self, reached: list[dict[State, _Trail]]) -> Schedule:
        final = reached[-1]
        trail = min(final.values(), key=lambda t: t.cost)
        chosen: dict[int, Tiling] = {}
        cascades: dict[int, Rowwise] = {}
        places: dict[int, Where] = {}
        while trail.move is not None:
            if trail.move.tiling is not None:
                chosen[trail.position] = trail.move.tiling
            if trail.move.rowwise is not None:
                cascades[trail.position] = trail.move.rowwise
            places.update(trail.move.outs)
            trail = reached[trail.position][trail.before]
        return Schedule(chosen, cascades, places)

    def _no_tile(self, position: int) -> OverBudget:
        step = self.net.steps[position]
        assert step.work is not None
        at = Residence(tuple(False for _ in step.work.inputs), False, True)
        need = least_bytes(self.net.board, step.work, at)
        return OverBudget(
            f"{step.node.label} fits no tile into the scratchpad of {self.net.board.name}: the "
            f"smallest needs {need:,} bytes, available are {self.capacity:,}; take {step.node.op} "
            "out of [[npu.operator]] or enlarge [scratchpad]"
        )


def _pareto(net: Network, found: Tilings, weight: float) -> Iterator[_Choice]:
    """The undominated tilings, least memory first."""
    if not found.options:
        return
    load, _, _ = rates(net.board)
    longer = np.maximum(found.compute, found.dma)
    shorter = np.minimum(found.compute, found.dma)
    cost = longer + 0.05 * shorter + weight * found.first / load + PER_BYTE * found.moved
    best = np.inf
    for i in np.lexsort((cost, found.bytes)).tolist():
        if cost[i] < best:
            best = float(cost[i])
            yield _Choice(int(found.bytes[i]), best, found.options[i])


def best_alone(net: Network, tables: Tables) -> Judged | None:
    """The best schedule of a network that is one operator of the NPU, from memory to memory.

    Exact over the space of tilings: they are judged by the timeline in the order of their bounds,
    until no bound is better than the best; of huge spaces, as many as `_MOST_EVENTS` allow. None
    for other networks, and where nothing fits.
    """
    work = net.steps[0].work if len(net.steps) == 1 else None
    if work is None:
        return None
    at = Residence(tuple(False for _ in work.inputs), False, True)
    found = tables.of(0, at)
    best: Judged | None = None
    played = 0
    for i in np.argsort(found.least, kind="stable").tolist():
        if best is not None and (found.least[i] >= best.score or played > _MOST_EVENTS):
            break
        judged = judge(net, Schedule({0: found.options[i]}, {}, {work.output: STORED}))
        played += len(judged.builder.program.commands) + len(judged.builder.program.transfers)
        if best is None or judged.score < best.score:
            best = judged
    return best


def candidates(net: Network, part: float) -> list[Judged]:
    """Schedules that leave a part of the scratchpad free, best first."""
    assert net.board.scratchpad is not None
    tables = Tables(net, int(part * net.board.scratchpad.size))
    alone = best_alone(net, tables)
    if alone is not None:
        return [alone]
    judged = [judge(net, Planner(tables, weight).schedule()) for weight in _FIRST_WEIGHTS]
    return sorted(judged, key=lambda j: j.score)


def best_schedule(net: Network) -> tuple[Schedule, Builder, Issue]:
    """The schedule, its program, and its addresses and actions.

    Raises:
        OverBudget: if an operator fits no tile into the scratchpad.
    """
    scratchpad, dma = net.board.scratchpad, net.board.dma
    assert scratchpad is not None and dma is not None
    for part in (1.0, 0.9, 0.8, 0.7, 0.6, 0.5):
        placed = []
        for judged in candidates(net, part)[:3]:
            program = judged.builder.program
            try:
                issued = issue(program, scratchpad.size, dma.queue)
            except DoesNotFit:
                continue
            clock = timeline(net.board, program, issued.actions)
            placed.append((clock.total + PER_BYTE * clock.bytes, judged, issued))
        if placed:
            _, judged, issued = min(placed, key=lambda p: p[0])
            return judged.schedule, judged.builder, issued
    raise OverBudget(
        f"the maps of {net.graph.name or 'the model'} find no places in the scratchpad of "
        f"{net.board.name} ({scratchpad.size:,} bytes); enlarge [scratchpad]"
    )
