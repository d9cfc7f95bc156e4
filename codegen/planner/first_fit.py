"""Strategy `greedy`: first fit in several orders, the best of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from codegen.planner.blocks import Block, Packing, Region, align_up, lower_bound, packing

UNLIMITED = 1 << 60
"""Above every offset: the top of a memory without a capacity."""


class Shelf:
    """The blocks already placed in one memory, and the gaps between them."""

    def __init__(self, count: int, alignment: int) -> None:
        self._alignment = alignment
        self._used = 0
        # One column per block, ordered by start: first layer, last layer, start, aligned end.
        self._columns = np.zeros((4, count), np.int64)

    def gaps(self, block: Block, height: int) -> tuple[Any, Any]:
        """Starts (aligned) and ends of what is free below `height` during the block's life."""
        first, last, start, end = self._columns[:, : self._used]
        met = (first <= block.last) & (last >= block.first)
        low = np.maximum.accumulate(np.concatenate(([0], end[met])))
        return low, np.concatenate((start[met], [height]))

    def lowest(self, block: Block, height: int = UNLIMITED) -> int | None:
        """The lowest offset where the block is free of others, None if there is none."""
        low, high = self.gaps(block, height)
        fits = np.flatnonzero(low + block.size <= high)
        return int(low[fits[0]]) if len(fits) else None

    def highest(self, block: Block, height: int) -> int | None:
        """The highest such offset."""
        low, high = self.gaps(block, height)
        spot = (high - block.size) // self._alignment * self._alignment
        fits = np.flatnonzero(spot >= low)
        return int(spot[fits[-1]]) if len(fits) else None

    def add(self, block: Block, offset: int) -> None:
        """Occupy the block's bytes during its life."""
        n = self._used
        at = int(np.searchsorted(self._columns[2, :n], offset, side="right"))
        self._columns[:, at + 1 : n + 1] = self._columns[:, at:n].copy()
        end = align_up(offset + block.size, self._alignment)
        self._columns[:, at] = (block.first, block.last, offset, end)
        self._used = n + 1


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


def first_fit(ordered: Sequence[Block], alignment: int) -> dict[str, int]:
    """Offsets when each block in turn goes as low as its already placed neighbours allow."""
    shelf = Shelf(len(ordered), alignment)
    offsets: dict[str, int] = {}
    for block in ordered:
        offset = shelf.lowest(block)
        if offset is None:
            raise AssertionError("an unlimited memory has no room")
        shelf.add(block, offset)
        offsets[block.name] = offset
    return offsets


def greedy(blocks: Sequence[Block], region: Region) -> Packing:
    """The smallest of the first fits; stops at the first that reaches the lower bound."""
    bound, _ = lower_bound(blocks, region.alignment)
    best: Packing | None = None
    for order in ORDERS:
        offsets = first_fit(sorted_blocks(blocks, order), region.alignment)
        found = packing(blocks, offsets, bound, "greedy")
        if best is None or found.bytes < best.bytes:
            best = found
        if best.proven:
            break
    if best is None:
        raise AssertionError("there are no orders")
    return best
