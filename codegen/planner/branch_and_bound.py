"""Do these rectangles fit below a height? Answered exactly, or left open when the effort runs out.

Blocks are placed one after the other in the order of their offsets, equal offsets in a fixed order
of preference. That loses nothing: any packing can be pushed down until every block rests on
another or on the floor, and is then met in exactly one sequence. Hence, at every moment of the
search, an unplaced block is either

    a candidate   it may be placed now, at its support: the top of the highest block below it;
    waiting       it was passed over. It would float at its support, so another block has to be
                  put under it first.

and a state is fully described by the supports of the unplaced blocks, with a mark for waiting ones.
What cuts the tree:

    Bounds. An unplaced block lies at its support or above; a waiting one on top of the lowest of
    the blocks that can still come under it (none left: dead end). At each moment in time, the
    lowest of these offsets plus all sizes still to come must stay below the height.

    Pairs that may share bytes have distances of their own in place of the lower one's size, and the
    sizes to come count less by what such a pair can share while both are unplaced.

    Splitting. As soon as no unplaced block crosses some moment, the two sides are independent.

    Memory. States that failed are remembered, so that stacking the same blocks in another order
    is not searched again.

    Dominance. A block that lies under nobody may be placed at once, without alternatives.

    Several preferences in turn, each with an effort that grows by the round: an order that is
    hopeless for one problem solves the next at once.
"""

from __future__ import annotations

import enum
import hashlib
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

Ints = Any
"""A numpy vector or matrix of integers."""

INFINITE = np.int32(1 << 28)
"""Support of a placed block; three of it still fit into int32."""
WAITING = -1
TALLEST = 1 << 26
"""Heights and sums of sizes stay below this, in units."""

PREFERENCES = (("load", "life", "area"), ("load", "area", "life"), ("life", "area", "load"))
FIRST_ROUND, GROWTH = 4, 4
"""Nodes per block that each preference gets in the first round, and the growth by the round."""

LIFT_ROUNDS = 2
"""How often the bounds of waiting blocks are improved by each other."""


class Verdict(enum.Enum):
    """What a search came to."""

    FITS = "fits"
    IMPOSSIBLE = "impossible"
    OPEN = "open"


@dataclass(frozen=True, eq=False)
class Rectangles:
    """Vectors with one entry per block, in units.

    Attributes:
        size: more than 0.
        first, last: moments, both inclusive.
        ceiling: the block's end may not be above this.
        pairs: blocks that may share bytes.
    """

    size: Ints
    first: Ints
    last: Ints
    ceiling: Ints
    pairs: tuple[Pair, ...] = ()


@dataclass(frozen=True)
class Pair:
    """Two blocks, by number, that live together in one moment and may share units there.

    Attributes:
        a_below, b_below: least distance between their starts, if that block is the lower one.
        saving: units that they can share at most.
    """

    a: int
    b: int
    a_below: int
    b_below: int
    saving: int


@dataclass(frozen=True, eq=False)
class Answer:
    """The verdict, offsets if it is FITS, and the effort: about microseconds."""

    verdict: Verdict
    offsets: Ints | None
    effort: int


class _Exhausted(Exception):
    """The effort granted is used up."""


def fit(rectangles: Rectangles, effort: int, deadline: float) -> Answer:
    """Search with all preferences in turn.

    `effort` counts work done, not time, so that a slow machine comes to the same result;
    `deadline` (of `time.monotonic`) is the last resort.
    """
    used, nodes = 0, FIRST_ROUND * len(rectangles.size)
    with _deep_recursion(5 * len(rectangles.size) + 100):
        while True:
            for preference in PREFERENCES:
                search = _Search(rectangles, preference, nodes, effort - used, deadline)
                try:
                    fits = search.run()
                except _Exhausted:
                    used += search.effort
                    if used >= effort or time.monotonic() > deadline:
                        return Answer(Verdict.OPEN, None, used)
                else:
                    verdict = Verdict.FITS if fits else Verdict.IMPOSSIBLE
                    return Answer(verdict, search.offsets if fits else None, used + search.effort)
            nodes *= GROWTH


@contextmanager
def _deep_recursion(levels: int) -> Iterator[None]:
    """Room for a search that recurses once per block."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(before + levels)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


@dataclass(frozen=True, eq=False)
class _Part:
    """Blocks to be placed that are independent of all others; vectors in order of preference.

    Attributes:
        ids: numbers of the blocks.
        by_first: positions of the blocks, the earliest first.
        meets: matrix; whether two different blocks share a moment.
        lift: matrix; least distance from a block to another above it, far below zero if they do
            not meet.
        rest: the same from the other block's view, INFINITE if they do not meet.
        crossing: moments x blocks; 0 where the block lives at the moment, else INFINITE.
        lives: the same as booleans.
        ceiling: of the blocks.
        limit: of the moments: the highest ceiling of the blocks that live there.
        shared: position -> (position of a partner, moments x saving) for pairs of the part.
        cost: effort of one bound.
    """

    ids: Ints
    size: Ints
    first: Ints
    last: Ints
    by_first: Ints
    meets: Ints
    lift: Ints
    rest: Ints
    crossing: Ints
    lives: Ints
    ceiling: Ints
    limit: Ints
    shared: dict[int, list[tuple[int, Ints]]]
    cost: int


class _Search:
    """One run with one preference. `offsets` is valid once `run` has returned True."""

    def __init__(
        self,
        rectangles: Rectangles,
        preference: Sequence[str],
        nodes: int,
        effort: int,
        deadline: float,
    ) -> None:
        self.offsets = np.zeros(len(rectangles.size), np.int64)
        self.effort = 0
        self._r = rectangles
        self._preference = preference
        self._nodes_left = nodes
        self._effort_left = effort
        self._deadline = deadline
        self._failed: set[bytes] = set()

    def run(self) -> bool:
        """Whether everything fits.

        Raises:
            _Exhausted: if the effort did not suffice to tell.
        """
        count = len(self._r.size)
        return self._place_parts(np.arange(count), np.zeros(count, np.int32))

    def _place_parts(self, ids: Ints, support: Ints) -> bool:
        """Place blocks of which some may be independent of others."""
        order = np.argsort(self._r.first[ids], kind="stable")
        borders = np.flatnonzero(_gaps(self._r.first[ids][order], self._r.last[ids][order])) + 1
        for members in np.split(order, borders):
            if not self._place_part(ids[members], support[members]):
                return False
        return True

    def _place_part(self, ids: Ints, support: Ints) -> bool:
        """Sort the blocks by preference anew and search."""
        part, order, load = self._make_part(ids)
        self.effort += 4 * part.cost
        return self._search_once(part, support[order], load)

    def _make_part(self, ids: Ints) -> tuple[_Part, Ints, Ints]:
        """The part, the order of `ids` in it, and the sizes to come at each of its moments."""
        r = self._r
        moments = self._moments(ids)[:, None]
        lives = (r.first[ids] <= moments) & (moments <= r.last[ids])
        load = (lives * r.size[ids]).sum(1).astype(np.int32)
        order = _preferred(ids, r, self._preference, np.where(lives, load[:, None], 0).max(0))
        ids, lives = ids[order], lives[:, order]
        first, last = r.first[ids], r.last[ids]
        meets = (first[:, None] <= last) & (first <= last[:, None])
        np.fill_diagonal(meets, False)
        distance = np.broadcast_to(r.size[ids][:, None], meets.shape).copy()
        shared = self._share(ids, lives, distance)
        for at, partners in shared.items():
            load -= sum(saving for partner, saving in partners if partner > at)
        part = _Part(
            ids=ids,
            size=r.size[ids],
            first=first,
            last=last,
            by_first=np.argsort(first, kind="stable"),
            meets=meets,
            lift=np.where(meets, distance, -INFINITE),
            rest=np.where(meets, distance, INFINITE).T.copy(),
            crossing=np.where(lives, np.int32(0), INFINITE),
            lives=lives,
            ceiling=r.ceiling[ids],
            limit=np.where(lives, r.ceiling[ids], 0).max(1),
            shared=shared,
            cost=60 + lives.size // 900,
        )
        return part, order, load

    def _moments(self, ids: Ints) -> Ints:
        """Moments to check. With pairs, a set of live blocks may need less than a part of it."""
        first = self._r.first[ids]
        return np.unique(first) if self._r.pairs else _densest_moments(first, self._r.last[ids])

    def _share(self, ids: Ints, lives: Ints, distance: Ints) -> dict[int, list[tuple[int, Ints]]]:
        """Enter the pairs of a part into `distance`; what is returned see `_Part.shared`."""
        shared: dict[int, list[tuple[int, Ints]]] = {}
        if not self._r.pairs:
            return shared
        position = {number: at for at, number in enumerate(ids.tolist())}
        for pair in self._r.pairs:
            if pair.a in position and pair.b in position:
                a, b = position[pair.a], position[pair.b]
                distance[a, b], distance[b, a] = pair.a_below, pair.b_below
                saving = (lives[:, a] & lives[:, b]) * np.int32(pair.saving)
                shared.setdefault(a, []).append((b, saving))
                shared.setdefault(b, []).append((a, saving))
        return shared

    def _search_once(self, part: _Part, support: Ints, load: Ints) -> bool:
        """As `_search`, unless the same state is known to fail."""
        key = _key(part, support)
        if key in self._failed:
            return False
        if self._search(part, support, load):
            return True
        self._failed.add(key)
        return False

    def _search(self, part: _Part, support: Ints, load: Ints) -> bool:
        """Place all blocks of a part that are not placed yet.

        Args:
            part: the blocks.
            support: offset where each candidate would rest; WAITING; INFINITE when placed.
            load: sizes still to come at each moment.
        """
        self._count_node()
        highest = int((part.limit - load).min())
        candidates = np.flatnonzero((support >= 0) & (support <= highest))
        offsets = support[candidates]
        order = np.argsort(offsets, kind="stable")
        support = support.copy()
        passed_over = False
        for offset, row in zip(offsets[order].tolist(), candidates[order].tolist(), strict=True):
            if passed_over and not self._possible(part, support, load, offset):
                return False
            if offset + int(part.size[row]) > part.ceiling[row]:
                return False
            raised = np.maximum(support, part.lift[row] + np.int32(offset))
            raised[row] = INFINITE
            to_come = load - part.lives[:, row] * part.size[row]
            for partner, saving in part.shared.get(row, ()):
                if support[partner] < INFINITE:
                    to_come += saving
            if self._complete(part, raised, to_come, offset):
                self.offsets[part.ids[row]] = offset
                return True
            if not (part.meets[row] & (raised < INFINITE)).any():
                return False
            support[row] = WAITING
            passed_over = True
        return False

    def _complete(self, part: _Part, support: Ints, load: Ints, floor: int) -> bool:
        """Place what is left after a block was placed at offset `floor`."""
        left = support < INFINITE
        count = int(left.sum())
        if not count:
            return True
        if not self._possible(part, support, load, floor):
            return False
        in_time = part.by_first[left[part.by_first]]
        if _gaps(part.first[in_time], part.last[in_time]).any():
            return self._place_parts(part.ids[left], support[left])
        if 10 * count < 7 * len(left):
            return self._place_part(part.ids[left], support[left])
        return self._search_once(part, support, load)

    def _possible(self, part: _Part, support: Ints, load: Ints, floor: int) -> bool:
        """Whether the bounds leave hope, when no block may be placed below `floor` any more."""
        self.effort += part.cost
        low = np.maximum(support, np.int32(floor))
        waiting = np.flatnonzero(support < 0)
        if len(waiting):
            rest = part.rest[waiting]
            for _ in range(LIFT_ROUNDS):
                lifted = (rest + low).min(1)
                if lifted.max() >= INFINITE:
                    return False
                low[waiting] = lifted
        lowest = (part.crossing + low).min(1)
        return not ((lowest + load > part.limit) & (load > 0)).any()

    def _count_node(self) -> None:
        self._nodes_left -= 1
        if self._nodes_left < 0 or self.effort >= self._effort_left:
            raise _Exhausted
        if self._nodes_left % 64 == 0 and time.monotonic() > self._deadline:
            raise _Exhausted


def _gaps(first: Ints, last: Ints) -> Ints:
    """For blocks sorted by `first`: whether none crosses from before to after each but the last."""
    return first[1:] > np.maximum.accumulate(last)[:-1]


def _densest_moments(first: Ints, last: Ints) -> Ints:
    """Moments whose set of live blocks is not part of another's: where one ends after a start."""
    starts = np.unique(first)
    ends = np.sort(last)
    ended = np.append(np.searchsorted(ends, starts), len(ends))
    return starts[ended[1:] > ended[:-1]]


def _preferred(ids: Ints, r: Rectangles, preference: Sequence[str], load: Ints) -> Ints:
    """Positions of `ids`, the most difficult block first; numbers break ties."""
    life = r.last[ids] - r.first[ids] + 1
    keys = {"load": load, "life": life, "area": life * r.size[ids].astype(np.int64)}
    return np.lexsort([ids, *(-keys[name] for name in reversed(preference))])


def _key(part: _Part, support: Ints) -> bytes:
    """What determines the outcome of a search: the blocks and their supports."""
    return hashlib.blake2b(part.ids.tobytes() + support.tobytes(), digest_size=16).digest()
