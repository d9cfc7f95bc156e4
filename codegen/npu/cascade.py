"""Several operators row by row: each makes just the rows that the next one needs.

Between the operators there are rings of a few rows instead of whole maps, and nothing is computed
twice. All weights of the operators are in the scratchpad at the same time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from codegen.board_schema import Board
from codegen.npu.builder import Builder, memory_offset
from codegen.npu.program import NEVER, Block, Place, Tile, align, copy_of
from codegen.npu.tiling import engine
from codegen.npu.weights import Slice, whole_bytes
from codegen.targets.npu import Work, compute_cycles


@dataclass(frozen=True)
class RowStep:
    """Rows [y0, y1) of a map: computed by operator `work` of the cascade, or loaded (-1)."""

    work: int
    t: int
    y0: int
    y1: int


@dataclass(frozen=True, eq=False)
class Rows:
    """The order of a cascade, and how many rows of each map there are at a time.

    Attributes:
        steps: in order; a load stands before the first step that needs its rows.
        lines: map -> rows of its ring.
    """

    steps: tuple[RowStep, ...]
    lines: Mapping[int, int]


@dataclass(frozen=True)
class Ends:
    """How a cascade's maps leave it and come in.

    Attributes:
        streamed: inputs that come from memory; the others lie in the scratchpad.
        kept, stored: results that stay in the scratchpad whole, that go to memory.
    """

    streamed: frozenset[int]
    kept: frozenset[int]
    stored: frozenset[int]


def row_order(works: Sequence[Work], roots: Mapping[int, int], ends: Ends, rows: int) -> Rows:
    """Make `rows` rows of the last operator at a time, and of the others what these need."""
    planner = _RowOrder(works, roots, ends)
    height = works[-1].result.h
    for y in range(0, height, rows):
        planner.produce(len(works) - 1, min(height, y + rows))
    for number, work in enumerate(works):
        planner.produce(number, work.result.h)
    return Rows(tuple(planner.steps), planner.lines())


class _RowOrder:
    """Works out which rows are made when, from the last operator backwards."""

    def __init__(self, works: Sequence[Work], roots: Mapping[int, int], ends: Ends) -> None:
        self._works, self._ends = works, ends
        self._reads = [tuple(dict.fromkeys(roots.get(t, t) for t in w.inputs)) for w in works]
        self._maker = {w.output: i for i, w in enumerate(works)}
        self._height = {w.output: w.result.h for w in works}
        self._done: dict[int, int] = {}
        self.steps: list[RowStep] = []

    def produce(self, number: int, upto: int) -> None:
        """Rows of an operator's result up to (not including) `upto`."""
        work = self._works[number]
        first = self._done.get(work.output, 0)
        if first >= upto:
            return
        _, high = work.rows.needs(first, upto, work.source.h)
        for t in self._reads[number]:
            if t in self._maker and self._maker[t] < number:
                self.produce(self._maker[t], high)
            elif t in self._ends.streamed and self._done.get(t, 0) < high:
                self.steps.append(RowStep(-1, t, self._done.get(t, 0), high))
                self._done[t] = high
        self.steps.append(RowStep(number, work.output, first, upto))
        self._done[work.output] = upto

    def lines(self) -> dict[int, int]:
        """Rows from the last one made to the first one that somebody still needs, at most."""
        later: dict[int, int] = {}
        needs: list[dict[int, int]] = []
        for step in reversed(self.steps):
            if step.work >= 0:
                work = self._works[step.work]
                low, _ = work.rows.needs(step.y0, step.y1, work.source.h)
                for t in self._reads[step.work]:
                    later[t] = min(later.get(t, low), low)
            needs.append(dict(later))
        most: dict[int, int] = {}
        made: dict[int, int] = {}
        for step, need in zip(self.steps, reversed(needs), strict=True):
            made[step.t] = step.y1
            low = min(need.get(step.t, step.y0), step.y0)
            most[step.t] = max(most.get(step.t, 0), step.y1 - low)
        return most


@dataclass(frozen=True)
class CascadeCost:
    """What a cascade takes: bytes of the scratchpad, cycles with starts, and its traffic."""

    bytes: int
    compute: int
    moved: int
    transfers: int
    first: int


def cascade_cost(
    board: Board, works: Sequence[Work], roots: Mapping[int, int], ends: Ends, rows: Rows
) -> CascadeCost:
    """Sums over the steps; rings, weights and whole maps count all at the same time."""
    npu, _ = engine(board)
    compute = moved = transfers = 0
    for step in rows.steps:
        if step.work < 0:
            transfers += 1
            continue
        work = works[step.work]
        pixels = (step.y1 - step.y0) * work.result.w
        compute += npu.start_cycles + compute_cycles(
            npu, work, pixels, work.result.c, work.source.c
        )
        if work.output in ends.stored:
            transfers += 1
    weights = [whole_bytes(w) for w in works]
    sizes = _sources(works, roots)
    rings = sum(
        align(ring_lines(rows, t, sizes, ends) * sizes[t][1])
        for t in rows.lines
        if t not in ends.kept
    )
    for t in ends.streamed:
        moved += sizes[t][0] * sizes[t][1]
    for t in ends.stored:
        moved += sizes[t][0] * sizes[t][1]
    kept = sum(align(sizes[t][0] * sizes[t][1]) for t in ends.kept)
    resident = {
        roots.get(t, t): align(w.source.bytes)
        for w in works
        for t in w.inputs
        if roots.get(t, t) not in rows.lines
    }
    return CascadeCost(
        bytes=rings + kept + sum(map(align, weights)) + sum(resident.values()),
        compute=compute,
        moved=moved + sum(weights),
        transfers=transfers + sum(w > 0 for w in weights),
        first=sum(weights),
    )


def _sources(works: Sequence[Work], roots: Mapping[int, int]) -> dict[int, tuple[int, int]]:
    """Map -> (rows, bytes per row)."""
    sizes = {roots.get(t, t): (w.source.h, w.source.row) for w in works for t in w.inputs}
    return sizes | {w.output: (w.result.h, w.result.row) for w in works}


def ring_lines(rows: Rows, t: int, sizes: Mapping[int, tuple[int, int]], ends: Ends) -> int:
    """Lines of a map's ring; loads and stores get room to run ahead of the commands."""
    lines = rows.lines[t]
    if t in ends.streamed or t in ends.stored:
        lines += max((s.y1 - s.y0 for s in rows.steps if s.t == t and s.y0 > 0), default=0)
    return min(sizes[t][0], lines)


def add_cascade(builder: Builder, works: Sequence[Work], ends: Ends, rows: Rows) -> None:
    """Append the commands and transfers of a cascade."""
    _Emitter(builder, works, ends, rows).run()


class _Emitter:
    """Turns row steps into commands on rings."""

    def __init__(self, builder: Builder, works: Sequence[Work], ends: Ends, rows: Rows) -> None:
        self._builder, self._works, self._ends, self._rows = builder, works, ends, rows
        self._sizes = _sources(works, builder.roots)
        self._places: dict[int, Place] = {}
        self._weights: dict[int, Block] = {}
        self._readers: dict[int, list[int]] = {}
        self._loads: list[int] = []
        for t in rows.lines:
            self._places[t] = self._new_place(t)

    def _new_place(self, t: int) -> Place:
        height, row = self._sizes[t]
        program = self._builder.program
        if t in self._ends.kept:
            block = program.block(f"t{t}", height * row)
            self._builder.kept[t] = block
            return Place(block, 0, row, 0)
        lines = ring_lines(self._rows, t, self._sizes, self._ends)
        block = program.block(f"t{t} rows", lines * row)
        self._readers[t] = [NEVER] * lines
        return Place(block, 0, row, 0, lines if lines < height else 0)

    def run(self) -> None:
        for step in self._rows.steps:
            if step.work < 0:
                self._load(step)
            else:
                self._compute(step)

    def _load(self, step: RowStep) -> None:
        place, row = self._places[step.t], self._sizes[step.t][1]
        reader = next(w for w in self._works if step.t in map(self._builder.root, w.inputs))
        lines = place.ring or self._sizes[step.t][0]
        first = step.y0
        while first < step.y1:
            line = first % lines
            stop = min(step.y1, first + lines - line)
            after = max(self._readers[step.t][line : line + stop - first])
            copy = copy_of(row, (stop - first, row, row))
            memory = memory_offset(reader.source, first, 0, 0)
            self._loads += self._builder.load_rows(
                reader, step.t, (first, stop), memory, place.block, line * row, copy, after
            )
            first = stop

    def _view(self, t: int, work: Work, *, output: bool) -> Place:
        size = work.result if output else work.source
        root = self._builder.root(t)
        if root not in self._places:
            return Place(self._builder.kept[root], 0, size.row, size.c)
        place = self._places[root]
        return Place(place.block, 0, size.row, size.c, place.ring)

    def _compute(self, step: RowStep) -> None:
        work = self._works[step.work]
        size = work.result
        tile = Tile(step.y0, step.y1, 0, size.w, 0, size.c, 0, work.source.c)
        loads, self._loads = self._loads, []
        weights = self._weight_block(step.work, loads)
        inputs = [self._view(t, work, output=False) for t in work.inputs]
        output = self._view(work.output, work, output=True)
        command = self._builder.command(work, tile, inputs, output, weights, None, loads)
        self._mark(work, step, command)
        if work.output in self._ends.stored:
            self._store(work, step, output, command)

    def _mark(self, work: Work, step: RowStep, command: int) -> None:
        """Who has read the lines of the rings last."""
        low, high = work.rows.needs(step.y0, step.y1, work.source.h)
        for t in map(self._builder.root, work.inputs):
            readers = self._readers.get(t)
            for y in range(low, high) if readers else ():
                readers[y % len(readers)] = command  # type: ignore[index, arg-type]

    def _store(self, work: Work, step: RowStep, place: Place, command: int) -> None:
        """Store rows, in pieces where they wrap in the ring."""
        size = work.result
        first = step.y0
        while first < step.y1:
            line = first % place.ring if place.ring else first
            stop = min(step.y1, first + (place.ring or size.h) - line)
            tile = Tile(first, stop, 0, size.w, 0, size.c, 0, work.source.c)
            copy = copy_of(size.row, (stop - first, size.row, size.row))
            memory = memory_offset(size, first, 0, 0)
            self._builder.store(work, tile, place, command, memory, copy)
            first = stop

    def _weight_block(self, number: int, loads: list[int]) -> tuple[Block, int] | None:
        work = self._works[number]
        size = whole_bytes(work)
        if not size:
            return None
        if number not in self._weights:
            part = Slice(0, work.result.c, 0, work.source.c, True)
            self._builder.offsets(work, [part])
            block = self._builder.program.block(f"w{work.node.index}", size)
            loads += self._builder.load_weights(work, 0, size, block)
            self._weights[number] = block
        return self._weights[number], 0
