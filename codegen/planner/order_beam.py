"""A good order fast: the few most promising sets of executed works, level by level.

Behind every number of works done, the states with the lowest peak so far, and among these with the
fewest live bytes, go on; the others are dropped. Nothing is proven, but the effort is bounded on
graphs of any size.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

from codegen.planner.order_moves import Moves, State


@dataclass(frozen=True)
class _Way:
    """A state, the peak on the way to it, its last work and the way before that."""

    state: State
    peak: int
    work: int
    before: _Way | None


def beam_order(moves: Moves, width: int) -> tuple[tuple[int, ...], int]:
    """A legal order found with `width` states per level, and the number of moves weighed."""
    ways = [_Way(moves.start, 0, -1, None)]
    steps = 0
    while ways[0].state.done != moves.full:
        steps += sum(len(way.state.ready) for way in ways)
        ways = [
            _Way(moves.step(way.state, work, live), peak, work, way)
            for peak, live, _, work, way in _best_moves(moves, ways, width)
        ]
    order: list[int] = []
    way: _Way | None = ways[0]
    while way is not None and way.before is not None:
        order.append(way.work)
        way = way.before
    return tuple(reversed(order)), steps


_Candidate = tuple[int, int, int, int, _Way]  # peak, live bytes, works done, last work, way


def _best_moves(moves: Moves, ways: list[_Way], width: int) -> list[_Candidate]:
    """The best `width` moves that lead to different sets, in a fixed order."""
    best: dict[int, _Candidate] = {}
    for way in ways:
        for work in way.state.ready:
            most, live = moves.weigh(way.state, work)
            done, peak = way.state.done | 1 << work, max(way.peak, most)
            if done not in best or peak < best[done][0]:
                best[done] = (peak, live, done, work, way)
    return heapq.nsmallest(width, best.values(), key=lambda c: c[:3])
