"""Strategy `greedy`: first fit in several orders, the best of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

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

UNLIMITED = 1 << 60
"""Above every offset: the top of a memory without a capacity."""


class Shelf:
    """The blocks already placed in one memory, and where between them there is room."""

    def __init__(self, count: int, alignment: int, spacing: Spacing = NO_SPACING) -> None:
        self._alignment = alignment
        self._spacing = spacing
        self._placed: dict[str, tuple[int, Block, int]] = {}
        # One column per placed block: first layer, last layer, start, aligned end.
        self._columns = np.zeros((4, count), np.int64)

    def room(self, block: Block, height: int) -> tuple[Any, Any]:
        """Lowest (aligned) and highest offset of each range that is free for the block.

        Ranges are in rising order; some are empty: their lowest offset is above the highest one.
        """
        first, last, start, end = self._columns[:, : len(self._placed)]
        met = (first <= block.last) & (last >= block.first)
        below, above = start - block.size, end.copy()
        for name in self._spacing.partners(block) & self._placed.keys():
            column, other, offset = self._placed[name]
            below[column] = offset - self._spacing.apart(block, other)
            above[column] = align_up(offset + self._spacing.apart(other, block), self._alignment)
        below, above = below[met], above[met]
        order = np.argsort(below, kind="stable")
        lowest = np.maximum.accumulate(np.concatenate(([0], above[order])))
        highest = np.minimum(np.concatenate((below[order], [height])), height - block.size)
        return lowest, highest

    def lowest(self, block: Block, height: int = UNLIMITED) -> int | None:
        """The lowest offset where the block disturbs nobody, None if there is none."""
        lowest, highest = self.room(block, height)
        fits = np.flatnonzero(lowest <= highest)
        return int(lowest[fits[0]]) if len(fits) else None

    def highest(self, block: Block, height: int) -> int | None:
        """The highest such offset."""
        lowest, highest = self.room(block, height)
        spot = highest // self._alignment * self._alignment
        fits = np.flatnonzero(lowest <= spot)
        return int(spot[fits[-1]]) if len(fits) else None

    def add(self, block: Block, offset: int) -> None:
        """Occupy the block's bytes during its life."""
        column = len(self._placed)
        end = align_up(offset + block.size, self._alignment)
        self._columns[:, column] = (block.first, block.last, offset, end)
        self._placed[block.name] = (column, block, offset)


Order = Callable[[Block], tuple[int, ...]]

ORDERS: tuple[Order, ...] = (
    lambda b: (-b.size, b.first),
    lambda b: (-b.size * (b.last - b.first + 1), -b.size),
    lambda b: (-(b.last - b.first), -b.size),
    lambda b: (b.first, -b.size),
    lambda b: (b.first, -(b.last - b.first), -b.size),
    lambda b: (-b.last, -b.size),
)
"""By size; by area; by lifetime; by start, larger or longer-lived first; backwards in time."""


def sorted_blocks(blocks: Sequence[Block], order: Order) -> list[Block]:
    """Blocks in one of the orders; names break ties, so that equal input gives equal plans."""
    return sorted(blocks, key=lambda b: (*order(b), b.name))


def first_fit(
    ordered: Sequence[Block], alignment: int, spacing: Spacing = NO_SPACING
) -> dict[str, int]:
    """Offsets when each block in turn goes as low as its already placed neighbours allow."""
    shelf = Shelf(len(ordered), alignment, spacing)
    offsets: dict[str, int] = {}
    for block in ordered:
        offset = shelf.lowest(block)
        if offset is None:
            raise AssertionError("an unlimited memory has no room")
        shelf.add(block, offset)
        offsets[block.name] = offset
    return offsets


def greedy(blocks: Sequence[Block], region: Region, spacing: Spacing = NO_SPACING) -> Packing:
    """The smallest of the first fits; stops at the first that reaches the lower bound.

    Largest first packs branches well; in order of time, chains that overlap go down and up.
    """
    bound, _ = lower_bound(blocks, region.alignment, spacing)
    best: Packing | None = None
    for order in ORDERS:
        offsets = first_fit(sorted_blocks(blocks, order), region.alignment, spacing)
        found = packing(blocks, offsets, bound, "greedy")
        if best is None or found.bytes < best.bytes:
            best = found
        if best.proven:
            break
    if best is None:
        raise AssertionError("there are no orders")
    return best
