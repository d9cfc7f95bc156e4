"""Strategy `two-ended`: working buffers at the ends of the arena, results kept whole between them.

Blocks are placed in execution order. Those that the next operator but one no longer needs are
working buffers: they are taken from the lower and the upper end of the free space in turn, so that
a chain of operators swings between the two ends. All others are results. When memory is
allocated for an operator and the next one yields a result, the result's place is reserved: right
above the last result that still lives, so that results of one block of branches lie side by side.

      | w1 | w3 |  result 1  |  result 2  |   free   | w4 | w2 |
      0                                                        height
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from codegen.planner.blocks import Block, Packing, Region, align_up, lower_bound, packing
from codegen.planner.first_fit import Shelf

HEIGHTS = 16
"""Heights tried between one that is too low and one that suffices."""


def two_ended(blocks: Sequence[Block], region: Region) -> Packing:
    """The lowest height, found by bisection, at which the rule finds a place for every block."""
    bound, _ = lower_bound(blocks, region.alignment)
    low, high = bound - 1, bound
    best = place_between(blocks, high, region.alignment)
    while best is None:
        low, high = high, 2 * high
        best = place_between(blocks, high, region.alignment)
    for _ in range(HEIGHTS):
        if high - low <= 1:
            break
        middle = (low + high) // 2
        found = place_between(blocks, middle, region.alignment)
        if found is None:
            low = middle
        else:
            best, high = found, middle
    return packing(blocks, best, bound, "two-ended")


def place_between(
    blocks: Sequence[Block], height: int, alignment: int
) -> dict[str, int] | None:
    """Offsets below `height` by the rule of this module, None if a block finds no room."""
    steps = sorted({b.first for b in blocks})
    following = dict(zip(steps, [*steps[1:], steps[-1] + 1 if steps else 0], strict=True))
    results = {b.name for b in blocks if b.last > following[b.first]}
    state = _Ends(len(blocks), height, alignment)
    due = {step: _due(blocks, step, results) for step in steps}
    for step in steps:
        working = [b for b in blocks if b.first == step and b.name not in results]
        for block in sorted(working, key=lambda b: (-b.size, b.name)):
            if not state.place_working(block):
                return None
        reserved = due.get(following[step], [])
        for block, since in [(b, step) for b in due[step]] + [(b, step) for b in reserved]:
            if block.name not in state.offsets and not state.place_result(block, since):
                return None
    return state.offsets


def _due(blocks: Sequence[Block], step: int, results: set[str]) -> list[Block]:
    """Results that come into being at a step, largest first."""
    found = [b for b in blocks if b.first == step and b.name in results]
    return sorted(found, key=lambda b: (-b.size, b.name))


class _Ends:
    """The free space between two ends, and where the last result went."""

    def __init__(self, count: int, height: int, alignment: int) -> None:
        self.offsets: dict[str, int] = {}
        self._shelf = Shelf(count, alignment)
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
        """Reserve a place from step `since` on, or from the block's birth if only that works."""
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
        low, high = self._shelf.gaps(block, self._height)
        for offset in (above, below):
            if ((low <= offset) & (offset + block.size <= high)).any():
                return offset
        return None

    def _in_the_middle(self, block: Block) -> int | None:
        """The lower end of the largest gap: between the working buffers of the two ends."""
        low, high = self._shelf.gaps(block, self._height)
        largest = int((high - low).argmax())
        return int(low[largest]) if low[largest] + block.size <= high[largest] else None

