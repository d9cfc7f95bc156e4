"""What an execution order costs: the most bytes that are live at once.

`OrderProblem` is the small model that every search over orders works on. It knows nothing of
tensors or kernels, only of works (operators) and stores (pieces of memory that operators touch).
A store may hold one tensor or several views of the same bytes; a tensor may be spread over several
stores. A store is live from the first to the last work that touches it, both inclusive.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Overlap:
    """Bytes of store `result` that may lie on store `source` during one work.

    It counts only if that work is the last to touch `source` and the first to touch `result`.
    `saved` is at most the size of either.
    """

    source: int
    result: int
    saved: int


@dataclass(frozen=True)
class Work:
    """One operator.

    Attributes:
        stores: what it reads and writes, each once.
        after: the works that must have run before.
        overlaps: ways to save memory while it runs, of which the best one counts.
        scratch: bytes that are live only while it runs.
    """

    stores: tuple[int, ...]
    after: tuple[int, ...]
    overlaps: tuple[Overlap, ...] = ()
    scratch: int = 0


@dataclass(frozen=True)
class OrderProblem:
    """Works and stores by index; `sizes` in bytes.

    Works are numbered in a legal order: each stands behind all those in its `after`.
    Stores in `inputs` are live from the start to their last work, those in `kept` from their first
    work to the end; a store in both is live all the time.
    """

    works: tuple[Work, ...]
    sizes: tuple[int, ...]
    inputs: frozenset[int] = frozenset()
    kept: frozenset[int] = frozenset()


def successors(problem: OrderProblem) -> list[list[int]]:
    """For each work those that have it in their `after`, in rising order."""
    found: list[list[int]] = [[] for _ in problem.works]
    for i, work in enumerate(problem.works):
        for earlier in work.after:
            found[earlier].append(i)
    return found


def live_bytes(problem: OrderProblem, order: Sequence[int]) -> list[int]:
    """Live bytes while each work of a legal `order` runs, in that order."""
    first, last = _lifetimes(problem, order)
    change = [0] * (len(order) + 2)
    for store in first.keys() & last.keys():
        change[max(first[store], 0)] += problem.sizes[store]
        change[last[store] + 1] -= problem.sizes[store]
    live, result = 0, []
    for position, index in enumerate(order):
        work = problem.works[index]
        live += change[position]
        saved = (
            o.saved
            for o in work.overlaps
            if last[o.source] == position and first[o.result] == position
        )
        result.append(live + work.scratch - max(saved, default=0))
    return result


def _lifetimes(
    problem: OrderProblem, order: Sequence[int]
) -> tuple[dict[int, int], dict[int, int]]:
    """Store -> position of its birth (-1: before the start) and of its last need.

    An input that nothing needs has no last need, and a result that nothing writes no birth.
    """
    first = dict.fromkeys(problem.inputs, -1)
    last: dict[int, int] = {}
    for position, work in enumerate(order):
        for store in problem.works[work].stores:
            first.setdefault(store, position)
            last[store] = position
    last.update(dict.fromkeys(problem.kept, len(order)))
    return first, last


def peak(problem: OrderProblem, order: Sequence[int]) -> int:
    """The most live bytes of a legal `order`; 0 without works."""
    return max(live_bytes(problem, order), default=0)
