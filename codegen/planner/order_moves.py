"""What running one work after others does, over sets of works kept as the bits of integers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from codegen.planner.order_cost import OrderProblem, Overlap, Work, successors


@dataclass(frozen=True)
class State:
    """The works that have run, the bytes live then, and the works that can run next."""

    done: int
    live: int
    ready: tuple[int, ...]


@dataclass(frozen=True)
class _Move:
    """What running one work does; sets of works are the bits of an integer.

    Attributes:
        after: works that must have run before.
        births: bytes that come to life in any case.
        deaths: bytes that die in any case.
        scratch: bytes needed only meanwhile.
        shared_births: (its works, size) of each store that this or another work brings to life.
        late_deaths: (its works, size) of each store that dies here if this is its last work.
        overlaps: (works of the source, works of the result, bytes saved).
    """

    after: int
    births: int
    deaths: int
    scratch: int
    shared_births: tuple[tuple[int, int], ...]
    late_deaths: tuple[tuple[int, int], ...]
    overlaps: tuple[tuple[int, int, int], ...]


class Moves:
    """The ways from state to state of a problem, from `start` until `full` is done."""

    def __init__(self, problem: OrderProblem) -> None:
        touched = touching_works(problem)
        before, behind = ancestors(problem), descendants(problem)
        self._moves = [
            _move(problem, touched, i, before[i], behind[i]) for i in range(len(problem.works))
        ]
        self._successors = successors(problem)
        live = sum(problem.sizes[s] for s in problem.inputs if touched[s] or s in problem.kept)
        ready = tuple(i for i, move in enumerate(self._moves) if not move.after)
        self.start = State(0, live, ready)
        self.full = (1 << len(problem.works)) - 1

    def weigh(self, state: State, work: int) -> tuple[int, int]:
        """(most bytes live while a ready `work` runs, bytes live afterwards)."""
        move, done = self._moves[work], state.done
        now = done | 1 << work
        most = state.live + move.births
        for works, size in move.shared_births:
            if not works & done:
                most += size
        after = most - move.deaths
        for works, size in move.late_deaths:
            if works & now == works:
                after -= size
        most += move.scratch
        if move.overlaps:
            most -= _saved(move, done, now)
        return most, after

    def step(self, state: State, work: int, live: int) -> State:
        """The state after a ready `work`, which leaves `live` bytes."""
        done = state.done | 1 << work
        freed = (s for s in self._successors[work] if self._moves[s].after & ~done == 0)
        return State(done, live, (*(r for r in state.ready if r != work), *freed))


def _move(
    problem: OrderProblem, touched: Sequence[int], index: int, before: int, behind: int
) -> _Move:
    """Sort the stores of one work by what is known of their births and deaths beforehand."""
    work, own = problem.works[index], 1 << index
    births = deaths = 0
    shared_births, late_deaths = [], []
    for store in work.stores:
        works, size = touched[store], problem.sizes[store]
        if store not in problem.inputs and not works & before:
            if works & ~(own | behind):
                shared_births.append((works, size))
            else:
                births += size
        if store not in problem.kept and not works & behind:
            if works & ~(own | before):
                late_deaths.append((works, size))
            else:
                deaths += size
    overlaps = tuple(
        (touched[o.source], touched[o.result], o.saved)
        for o in work.overlaps
        if o.source not in problem.kept and o.result not in problem.inputs
    )
    after = sum(1 << a for a in set(work.after))
    return _Move(
        after, births, deaths, work.scratch, tuple(shared_births), tuple(late_deaths), overlaps
    )


def _saved(move: _Move, done: int, now: int) -> int:
    """The best overlap whose source dies and whose result is born in this move."""
    saved = 0
    for source, result, size in move.overlaps:
        if size > saved and source & now == source and not result & done:
            saved = size
    return saved


def backwards(problem: OrderProblem) -> OrderProblem:
    """The same problem with time reversed and works renumbered from the end.

    An order of it, read from its end, has the same peak in `problem`: births and deaths, inputs
    and results, sources and results of overlaps change places.
    """
    last = len(problem.works) - 1
    behind = successors(problem)
    works = tuple(
        Work(
            work.stores,
            tuple(last - s for s in reversed(behind[last - i])),
            tuple(Overlap(o.result, o.source, o.saved) for o in work.overlaps),
            work.scratch,
        )
        for i, work in enumerate(reversed(problem.works))
    )
    return OrderProblem(works, problem.sizes, problem.kept, problem.inputs)


def touching_works(problem: OrderProblem) -> list[int]:
    """For each store the set of its works, as bits."""
    touched = [0] * len(problem.sizes)
    for i, work in enumerate(problem.works):
        for store in work.stores:
            touched[store] |= 1 << i
    return touched


def ancestors(problem: OrderProblem) -> list[int]:
    """For each work the set of works that run before it in every order, as bits."""
    found: list[int] = []
    for work in problem.works:
        found.append(0)
        for earlier in work.after:
            found[-1] |= found[earlier] | 1 << earlier
    return found


def descendants(problem: OrderProblem) -> list[int]:
    """For each work the set of works that run behind it in every order, as bits."""
    found = [0] * len(problem.works)
    for i in range(len(problem.works) - 1, -1, -1):
        for earlier in problem.works[i].after:
            found[earlier] |= found[i] | 1 << i
    return found
