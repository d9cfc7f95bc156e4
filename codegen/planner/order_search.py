"""Search for an order whose peak stays within a budget, over sets of executed works.

What is live after some works have run depends on their set alone, never on their order. The search
therefore walks from the empty set to the full one, work by work, depth first and never twice
through the same set. Three facts keep it small:

- Forced moves. Live bytes f(S) after the set S are a submodular function: a store counts from the
  first of its works in S until S holds all of them. So if a work within the budget leads from S to
  S' with f(S') <= f(S), running it now is as good as anything: with it moved to the front of any
  order behind S, every other work finds as many live bytes as before or fewer. The other ways out
  of S are dropped. This alone contracts chains inside branches.
- Read backwards, last work first, a problem has the same peaks, and often by far the smaller search
  (see `backwards`).
- A failed search names the cheapest move that it had to refuse: no order has a peak below that.
"""

from __future__ import annotations

from dataclasses import dataclass

from codegen.planner.order_moves import Moves, State

_NEVER = 1 << 62


@dataclass(frozen=True)
class Outcome:
    """The end of one search.

    Attributes:
        order: an order within the budget, or None.
        bound: if the search is complete but found none: no order has a peak below this.
        complete: False if the steps ran out first.
        steps: moves weighed.
    """

    order: tuple[int, ...] | None
    bound: int
    complete: bool
    steps: int


@dataclass
class _Frame:
    """A state on the current way, how long the way to it is, and what is still to be tried."""

    state: State
    depth: int
    choices: list[tuple[int, int]]


def search_within(moves: Moves, budget: int, limit: int) -> Outcome:
    """Look for an order with a peak of at most `budget` bytes, weighing about `limit` moves."""
    state, steps, bound = moves.start, 0, _NEVER
    path: list[int] = []
    frames: list[_Frame] = []
    seen: set[int] = set()
    while state.done != moves.full:
        if state.done not in seen:
            seen.add(state.done)
            choices, refused = _choices(moves, state, budget)
            frames.append(_Frame(state, len(path), choices))
            bound = min(bound, refused)
            steps += len(state.ready)
        while frames and not frames[-1].choices:
            frames.pop()
        if not frames or steps > limit:
            return Outcome(None, bound, not frames, steps)
        frame = frames[-1]
        live, work = frame.choices.pop()
        del path[frame.depth :]
        path.append(work)
        state = moves.step(frame.state, work, live)
    return Outcome(tuple(path), budget, True, steps)


def _choices(moves: Moves, state: State, budget: int) -> tuple[list[tuple[int, int]], int]:
    """(live bytes afterwards, work) for each move within the budget, the best one last.

    A move that leaves no more live than before stands alone. Also the least that a refused move
    would have needed.
    """
    choices, refused = [], _NEVER
    for work in state.ready:
        most, after = moves.weigh(state, work)
        if most > budget:
            refused = min(refused, most)
        elif after <= state.live:
            return [(after, work)], refused
        else:
            choices.append((after, work))
    choices.sort(reverse=True)
    return choices, refused
