"""The order with the least peak, and the proof that there is no better one.

A work that every other work must run before or behind runs at a known point with a known set of
works done: there the problem falls into independent parts, whose peaks are proven one by one.
In each part the peak is enclosed between a lower bound and the best order found, by searches
within budgets between the two (see `order_search`), forwards and backwards, behind a first try with
`order_beam`. Searches start with few steps and get more from round to round, so that no hard part
starves an easy one. Steps are
counted, not timed: the result is the same on every machine.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from codegen.planner.order_beam import beam_order
from codegen.planner.order_cost import OrderProblem, Overlap, Work, peak
from codegen.planner.order_moves import (
    Moves,
    ancestors,
    backwards,
    descendants,
    touching_works,
)
from codegen.planner.order_search import Outcome, search_within

TOTAL_STEPS = 600_000
_FIRST_EFFORT = 30  # moves per work in one search of the first round
_MORE_EFFORT = 4  # times as many in each further round
_BEAM_WIDTH = 8


@dataclass(frozen=True)
class Optimum:
    """The best order found.

    Attributes:
        order: works of the problem.
        peak: its most live bytes.
        bound: no order has a lower peak; equal to `peak` if that is proven to be optimal.
        steps: moves weighed by all searches.
    """

    order: tuple[int, ...]
    peak: int
    bound: int
    steps: int


def find_optimum(
    problem: OrderProblem, known: Sequence[Sequence[int]], total: int = TOTAL_STEPS
) -> Optimum:
    """Search for the least peak, starting from `known` legal orders (one at least).

    Weighs about `total` moves at most; beyond that the best order so far is the result.
    """
    segments = [_Segment(part, known) for part in parts_of(problem)]
    steps, effort, bound = 0, _FIRST_EFFORT, max((s.low for s in segments), default=0)
    while steps < total and any(s.high > bound for s in segments):
        for segment in sorted(segments, key=lambda s: -s.low):
            if segment.high > bound and steps < total:
                steps += segment.improve(bound, effort, total - steps)
                bound = max(bound, segment.low)
        effort *= _MORE_EFFORT
    order = tuple(work for segment in segments for work in segment.order)
    return Optimum(order, peak(problem, order), bound, steps)


class _Segment:
    """The search in one part: `low` <= least peak <= `high`, the peak of the best order."""

    def __init__(self, part: Part, known: Sequence[Sequence[int]]) -> None:
        self._part, self._problem = part, part.problem
        number = {work: i for i, work in enumerate(part.works)}
        orders = [tuple(number[w] for w in order if w in number) for order in known]
        self._best = min(orders, key=lambda order: peak(self._problem, order))
        self.high = peak(self._problem, self._best)
        self.low = lower_bound(self._problem)
        self._directions: list[_Direction] = []

    @property
    def order(self) -> tuple[int, ...]:
        """The best order, as works of the whole problem."""
        return tuple(self._part.works[i] for i in self._best)

    def improve(self, floor: int, effort: int, total: int) -> int:
        """Bisect between the bounds; peaks below `floor` are worth nothing.

        Each search weighs about `effort` moves per work, all together about `total` at most.
        Returns the moves weighed.
        """
        steps = 0 if self._directions else self._prepare()
        budget = untried = max(self.low, floor)
        while untried < self.high and steps < total:
            limit = min(effort * len(self._part.works), total - steps)
            outcome = self._search(budget, limit)
            steps += outcome.steps
            if outcome.order is not None:
                self._take(outcome.order)
            elif outcome.complete:
                self.low = untried = outcome.bound
            else:
                untried = budget + 1
            budget = (untried + self.high) // 2
        return steps

    def _prepare(self) -> int:
        """Get ready for searches in both directions and look where a beam leads in each."""
        self._directions = [
            _Direction(Moves(backwards(self._problem)), backwards=True),
            _Direction(Moves(self._problem), backwards=False),
        ]
        total = 0
        for direction in self._directions:
            order, steps = beam_order(direction.moves, _BEAM_WIDTH)
            self._take(direction.forward(order))
            total += steps
        return total

    def _take(self, order: tuple[int, ...]) -> None:
        """Keep `order` if it is better than the best one so far."""
        high = peak(self._problem, order)
        if high < self.high:
            self._best, self.high = order, high

    def _search(self, budget: int, limit: int) -> Outcome:
        """Search in the direction that worked last, and in the other if that comes to no end."""
        steps = 0
        for direction in tuple(self._directions):
            outcome = search_within(direction.moves, budget, limit)
            steps += outcome.steps
            if outcome.complete:
                self._directions.sort(key=lambda d: d is not direction)
                break
        order = None if outcome.order is None else direction.forward(outcome.order)
        return replace(outcome, order=order, steps=steps)


@dataclass(frozen=True)
class _Direction:
    """The moves of a problem, or of the same problem backwards."""

    moves: Moves
    backwards: bool

    def forward(self, order: tuple[int, ...]) -> tuple[int, ...]:
        """An order of `moves` as one of the problem itself."""
        return tuple(len(order) - 1 - w for w in reversed(order)) if self.backwards else order


@dataclass(frozen=True)
class Part:
    """Works of a problem that run without interruption, as a problem of their own.

    `problem` has the works renumbered from 0, and the same peaks as the whole has in this part.
    """

    works: tuple[int, ...]
    problem: OrderProblem


def parts_of(problem: OrderProblem) -> list[Part]:
    """Split at the works that all others run before or behind; runs of these stay together."""
    full = (1 << len(problem.works)) - 1
    before, behind = ancestors(problem), descendants(problem)
    cut = [before[i] | behind[i] | 1 << i == full for i in range(len(problem.works))]
    parts = []
    for _, run in itertools.groupby(range(len(problem.works)), key=cut.__getitem__):
        works = tuple(run)
        parts.append(Part(works, _restricted(problem, works)))
    return parts


def _restricted(problem: OrderProblem, works: tuple[int, ...]) -> OrderProblem:
    """The problem of consecutive `works` when all earlier ones have run.

    Stores that are live throughout and touched by none of them become one store.
    """
    start, end = works[0], works[-1] + 1
    sizes, inputs, kept, number = [0], [0], [0], {}
    for store, touched in enumerate(touching_works(problem)):
        early = store in problem.inputs or bool(touched & ((1 << start) - 1))
        late = store in problem.kept or bool(touched >> end)
        if touched >> start & ((1 << end - start) - 1):
            number[store] = len(sizes)
            inputs += [len(sizes)] * early
            kept += [len(sizes)] * late
            sizes.append(problem.sizes[store])
        elif early and late:
            sizes[0] += problem.sizes[store]
    renumbered = tuple(_renumbered(problem.works[w], start, number) for w in works)
    return OrderProblem(renumbered, tuple(sizes), frozenset(inputs), frozenset(kept))


def _renumbered(work: Work, start: int, number: Mapping[int, int]) -> Work:
    return Work(
        tuple(number[s] for s in work.stores),
        tuple(a - start for a in work.after if a >= start),
        tuple(Overlap(number[o.source], number[o.result], o.saved) for o in work.overlaps),
        work.scratch,
    )


def lower_bound(problem: OrderProblem) -> int:
    """The most that any work needs in every order.

    While a work runs its own stores are live, and those that some work has to touch before it and
    some other one behind it.
    """
    touched, before, behind = touching_works(problem), ancestors(problem), descendants(problem)
    bound = 0
    for i, work in enumerate(problem.works):
        live = sum(
            size
            for store, size in enumerate(problem.sizes)
            if touched[store] >> i & 1
            or (
                (touched[store] & before[i] or store in problem.inputs)
                and (touched[store] & behind[i] or store in problem.kept)
            )
        )
        saved = max((o.saved for o in work.overlaps), default=0)
        bound = max(bound, live + work.scratch - saved)
    return bound
