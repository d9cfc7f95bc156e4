"""Strategy `two-ended`: working buffers at the ends of the arena, results kept whole between them.

Blocks are placed in execution order. Those that outlive the next operator are results, and so are
those that meet such a one in their last operator. All others are working buffers: they are taken
from the lower and the upper end of the free space in turn, so that a chain of operators swings
between the two ends. When memory is allocated for an operator and the next one yields a result, the
result's place is reserved: right above the last result that still lives, so that the results of
branches that meet lie side by side.

      | w1 | w3 |  result 1  |  result 2  |   free   | w4 | w2 |
      0                                                        height
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from codegen.planner.blocks import (
    NO_SPACING,
    Block,
    Packing,
    Region,
    Spacing,
    align_up,
    lower_bound,
    packing,
)
from codegen.planner.first_fit import Shelf

HEIGHTS = 16
"""Heights tried between one that is too low and one that suffices."""


def two_ended(blocks: Sequence[Block], region: Region, spacing: Spacing = NO_SPACING) -> Packing:
    """The lowest height, found by bisection, at which the rule finds a place for every block."""
    bound, _ = lower_bound(blocks, region.alignment, spacing)
    low, high = bound - 1, bound
    best = place_between(blocks, high, region.alignment, spacing)
    while best is None:
        low, high = high, 2 * high
        best = place_between(blocks, high, region.alignment, spacing)
    for _ in range(HEIGHTS):
        if high - low <= 1:
            break
        middle = (low + high) // 2
        found = place_between(blocks, middle, region.alignment, spacing)
        if found is None:
            low = middle
        else:
            best, high = found, middle
    return packing(blocks, best, bound, "two-ended")


def place_between(
    blocks: Sequence[Block], height: int, alignment: int, spacing: Spacing = NO_SPACING
) -> dict[str, int] | None:
    """Offsets below `height` by the rule of this module, None if a block finds no room."""
    working, results = _by_birth(blocks)
    steps = sorted({b.first for b in blocks})
    state = _Ends(height, alignment, Shelf(len(blocks), alignment, spacing))
    for step, following in pairwise([*steps, max(steps, default=0) + 1]):
        for block in working.get(step, ()):
            if not state.place_working(block):
                return None
        for block in (*results.get(step, ()), *results.get(following, ())):
            if not state.place_result(block, step):
                return None
    return state.offsets


def _by_birth(blocks: Sequence[Block]) -> tuple[dict[int, list[Block]], dict[int, list[Block]]]:
    """Step -> working buffers, and results, that come into being there; the largest first."""
    steps = sorted({b.first for b in blocks})
    following = dict(pairwise([*steps, max(steps, default=0) + 1]))
    meetings = {b.last for b in blocks if b.last > following[b.first]}
    working: dict[int, list[Block]] = {}
    results: dict[int, list[Block]] = {}
    for block in sorted(blocks, key=lambda b: (-b.size, b.name)):
        kind = results if block.last in meetings and block.first < block.last else working
        kind.setdefault(block.first, []).append(block)
    return working, results


class _Ends:
    """The free space between two ends, and where the last result went."""

    def __init__(self, height: int, alignment: int, shelf: Shelf) -> None:
        self.offsets: dict[str, int] = {}
        self._shelf = shelf
        self._height = height
        self._alignment = alignment
        self._upper = False
        self._results: list[Block] = []

    def place_working(self, block: Block) -> bool:
        """Take the block from the end whose turn it is; whether there was room."""
        side = self._shelf.highest if self._upper else self._shelf.lowest
        offset = side(block, self._height)
        self._upper = not self._upper
        return self._put(block, offset)

    def place_result(self, block: Block, since: int) -> bool:
        """Reserve a place from step `since` on, or from the block's birth if only that works.

        Nothing happens where that was done a step ago.
        """
        if block.name in self.offsets:
            return True
        early = replace(block, first=min(block.first, since))
        for claim in (early, block):
            offset = self._beside_results(claim)
            if offset is None:
                offset = self._in_the_middle(claim)
            if offset is not None:
                self._results.append(block)
                return self._put(claim, offset)
        return False

    def _put(self, block: Block, offset: int | None) -> bool:
        if offset is None:
            return False
        self._shelf.add(block, offset)
        self.offsets[block.name] = offset
        return True

    def _beside_results(self, block: Block) -> int | None:
        """Right above, else right below, the latest result that lives with the block."""
        neighbour = next((r for r in reversed(self._results) if r.meets(block)), None)
        if neighbour is None:
            return None
        start = self.offsets[neighbour.name]
        above = align_up(start + neighbour.size, self._alignment)
        below = (start - block.size) // self._alignment * self._alignment
        lowest, highest = self._shelf.room(block, self._height)
        for offset in (above, below):
            if ((lowest <= offset) & (offset <= highest)).any():
                return offset
        return None

    def _in_the_middle(self, block: Block) -> int | None:
        """The lower end of the widest room: between the working buffers of the two ends."""
        lowest, highest = self._shelf.room(block, self._height)
        widest = int((highest - lowest).argmax())
        return int(lowest[widest]) if lowest[widest] <= highest[widest] else None
