"""Strategy `optimal`: the smallest arena, with a proof, or the best found and what is known of it.

Starts from `greedy` and asks `branch_and_bound` whether the blocks fit below a height: first at the
lower bound, then by bisection between what is impossible and what was found. Each refusal that is
proven raises the lower bound.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from codegen.planner.blocks import NO_SPACING, Block, Packing, Region, Spacing, align_up, packing
from codegen.planner.branch_and_bound import TALLEST, Answer, Pair, Rectangles, Verdict, fit
from codegen.planner.first_fit import greedy

SLACK = 60
"""Wall time may be this many times the seconds granted before it ends a search.

Only a last resort: a search that a clock ends gives other bytes on a slower or busier machine."""


@dataclass(frozen=True)
class Grid:
    """The blocks on a grid of units: all offsets of a pushed-down packing are multiples of one.

    Attributes:
        unit: bytes; the largest that divides every size rounded up to the alignment.
        padding: bytes between a block's end and the grid, per block.
        pairs: blocks that may share bytes, in units.
    """

    blocks: tuple[Block, ...]
    unit: int
    padding: tuple[int, ...]
    pairs: tuple[Pair, ...]

    @classmethod
    def of(cls, blocks: Sequence[Block], alignment: int, spacing: Spacing) -> Grid:
        """The grid of blocks that are not empty."""
        rounded = [align_up(b.size, alignment) for b in blocks]
        padding = tuple(r - b.size for r, b in zip(rounded, blocks, strict=True))
        number = {b.name: i for i, b in enumerate(blocks)}
        pairs = [
            Pair(
                number[a.name],
                number[b.name],
                align_up(spacing.apart(a, b), alignment),
                align_up(spacing.apart(b, a), alignment),
                spacing.saving(a, b, alignment),
            )
            for a, b in spacing.pairs(blocks)
        ]
        unit = math.gcd(*rounded, *(d for p in pairs for d in (p.a_below, p.b_below)))
        in_units = (
            replace(
                p,
                a_below=p.a_below // unit,
                b_below=p.b_below // unit,
                saving=p.saving // unit,
            )
            for p in pairs
        )
        return cls(tuple(blocks), unit, padding, tuple(in_units))

    @property
    def searchable(self) -> bool:
        """Whether all sums fit the search's integers."""
        return sum(b.size // self.unit + 1 for b in self.blocks) < TALLEST

    def below(self, height: int) -> Rectangles:
        """The question for a height in bytes.

        A block whose padding sticks out of the height, but whose bytes do not, may end one unit
        higher than the others.
        """
        whole, tail = divmod(height, self.unit)
        return Rectangles(
            size=np.array([-(-b.size // self.unit) for b in self.blocks], np.int32),
            first=np.array([b.first for b in self.blocks], np.int64),
            last=np.array([b.last for b in self.blocks], np.int64),
            ceiling=np.array([whole + (p + tail >= self.unit) for p in self.padding], np.int32),
            pairs=self.pairs,
        )

    def next_height(self, height: int) -> int:
        """The smallest height from `height` on that some packing can have."""
        return min(align_up(height + p, self.unit) - p for p in set(self.padding))


def optimal(blocks: Sequence[Block], region: Region, spacing: Spacing, seconds: float) -> Packing:
    """The least bytes for blocks in one memory, as far as `seconds` of work can tell.

    If they do not fit the region's capacity at first, that is settled before anything else.
    """
    start = greedy(blocks, region, spacing)
    solid = [b for b in blocks if b.size]
    if start.proven or not solid:
        return start
    grid = Grid.of(solid, region.alignment, spacing)
    return _Bisection(grid, start, region, seconds).run() if grid.searchable else start


def solve_below(
    blocks: Sequence[Block],
    height: int,
    alignment: int,
    seconds: float,
    spacing: Spacing = NO_SPACING,
) -> tuple[Verdict, dict[str, int]]:
    """Whether blocks fit below a height in bytes, and their offsets if so."""
    solid = [b for b in blocks if b.size]
    if not solid:
        return Verdict.FITS, dict.fromkeys((b.name for b in blocks), 0)
    grid = Grid.of(solid, alignment, spacing)
    answer = fit(grid.below(height), _effort(seconds), time.monotonic() + SLACK * seconds)
    return answer.verdict, _offsets(blocks, grid, answer)


def _effort(seconds: float) -> int:
    return round(seconds * 1e6)


def _offsets(blocks: Sequence[Block], grid: Grid, answer: Answer) -> dict[str, int]:
    """Offsets in bytes; empty blocks lie at 0."""
    if answer.offsets is None:
        return {}
    found = dict.fromkeys((b.name for b in blocks), 0)
    for block, offset in zip(grid.blocks, answer.offsets.tolist(), strict=True):
        found[block.name] = offset * grid.unit
    return found


class _Bisection:
    """Narrows the distance between the best packing and the bound until the work is used up."""

    def __init__(self, grid: Grid, start: Packing, region: Region, seconds: float) -> None:
        self._grid = grid
        self._best = start
        self._region = region
        self._effort = _effort(seconds)
        self._deadline = time.monotonic() + SLACK * seconds
        self._given_up = start.lower_bound - 1

    def run(self) -> Packing:
        """Ask at one height after the other."""
        target = self._best.lower_bound
        while target < self._best.bytes and self._effort > 0:
            self._ask(target)
            target = self._next_target()
        return self._best

    def _next_target(self) -> int:
        """The capacity while it is not met; else the middle of what is undecided."""
        best, capacity = self._best.bytes, self._region.capacity
        if capacity is not None and self._given_up < capacity < best:
            return capacity
        return max(self._grid.next_height(self._given_up + 1), (self._given_up + best) // 2)

    def _ask(self, height: int) -> None:
        """Spend up to half of what is left on one height."""
        blocks = self._grid.blocks
        answer = fit(self._grid.below(height), -(-self._effort // 2), self._deadline)
        self._effort -= answer.effort
        if answer.verdict is Verdict.FITS:
            offsets = {**self._best.offsets, **_offsets(blocks, self._grid, answer)}
            self._best = packing(blocks, offsets, self._best.lower_bound, "optimal")
            return
        self._given_up = height
        if answer.verdict is Verdict.IMPOSSIBLE:
            bound = self._grid.next_height(height + 1)
            self._best = replace(self._best, lower_bound=min(bound, self._best.bytes))
