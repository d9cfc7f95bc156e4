"""Who lies in which memory, when one does not hold everything.

Memories are in order of preference, the fast ones first. Each takes from what is left the blocks
with the most accesses per byte, as long as their live bytes stay below a limit: the highest limit,
by bisection, whose choice the strategy can pack (offsets fragment, so it may be below the
capacity). Blocks too large for every later memory go first. Should a memory of the end be too
small for what is left, plain first fit over all memories is tried instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from codegen.planner.blocks import (
    Block,
    DoesNotFit,
    Packing,
    Region,
    Spacing,
    align_up,
    lower_bound,
    packing,
)
from codegen.planner.first_fit import ORDERS, UNLIMITED, Shelf, sorted_blocks

Packer = Callable[[Sequence[Block], Region, Spacing, float], Packing]
"""Offsets in one memory with so many seconds of work; may exceed the capacity."""

LIMITS = 10
"""Limits tried per memory that cannot take all."""


def distribute(
    blocks: Sequence[Block],
    regions: Sequence[Region],
    spacing: Spacing,
    packer: Packer,
    seconds: float,
) -> dict[str, Packing]:
    """Region name -> the blocks that lie there, packed within the capacity.

    Raises:
        DoesNotFit: if no way was found.
    """
    found = _by_heat(blocks, regions, spacing, packer, seconds)
    if found is None:
        found = _by_first_fit(blocks, regions, spacing, packer, seconds)
    if found is None:
        raise DoesNotFit
    return found


def _by_heat(
    blocks: Sequence[Block],
    regions: Sequence[Region],
    spacing: Spacing,
    packer: Packer,
    seconds: float,
) -> dict[str, Packing] | None:
    """Fill one memory after the other with the hottest blocks of what is left."""
    left, found = list(blocks), {}
    for number, region in enumerate(regions):
        later = regions[number + 1 :]
        packed = _fill(
            _by_urgency(left, later), region, spacing, packer, seconds, partly=bool(later)
        )
        if packed is None:
            return None
        found[region.name] = packed
        left = [b for b in left if b.name not in packed.offsets]
    return found


def _by_urgency(blocks: Sequence[Block], later: Sequence[Region]) -> list[Block]:
    """Blocks that fit in no later memory, then by accesses per byte, the smaller one first."""

    def urgency(block: Block) -> tuple[bool, float, int, int, str]:
        can_wait = any(region.holds(block.size) for region in later)
        return (can_wait, -block.heat, block.size, block.first, block.name)

    return sorted(blocks, key=urgency)


def _fill(
    ordered: Sequence[Block],
    region: Region,
    spacing: Spacing,
    packer: Packer,
    seconds: float,
    *,
    partly: bool,
) -> Packing | None:
    """All blocks if they fit, else, where that is allowed, the first of them that do."""
    if region.holds(lower_bound(ordered, region.alignment, spacing)[0]):
        packed = packer(ordered, region, spacing, seconds)
        if region.holds(packed.bytes):
            return packed
    if not partly or region.capacity is None:
        return None
    best = packer((), region, spacing, 0.0)
    low, high = 0, 2 * region.capacity
    for _ in range(LIMITS):
        limit = (low + high) // 2
        chosen = _within(ordered, limit, region)
        packed = packer(chosen, region, spacing, seconds / LIMITS)
        if region.holds(packed.bytes):
            best, low = packed, limit
        else:
            high = limit
    return best


def _within(ordered: Sequence[Block], limit: int, region: Region) -> list[Block]:
    """Blocks taken in turn unless the bytes live at one moment would exceed the limit."""
    moments = np.array(sorted({b.first for b in ordered}))
    live = np.zeros(len(moments), np.int64)
    chosen = []
    for block in ordered:
        span = slice(*np.searchsorted(moments, (block.first, block.last + 1)))
        size = align_up(block.size, region.alignment)
        if live[span].max(initial=0) + size <= limit:
            live[span] += size
            chosen.append(block)
    return chosen


def _by_first_fit(
    blocks: Sequence[Block],
    regions: Sequence[Region],
    spacing: Spacing,
    packer: Packer,
    seconds: float,
) -> dict[str, Packing] | None:
    """Each block into the first memory with room, for several orders of blocks and memories."""
    largest_first = sorted(regions, key=lambda r: -UNLIMITED if r.capacity is None else -r.capacity)
    for memories in (regions, largest_first):
        for order in ORDERS:
            spread = _spread(sorted_blocks(blocks, order), memories, spacing)
            if spread is not None:
                return {
                    region.name: _repack(spread[region.name], region, spacing, packer, seconds)
                    for region in regions
                }
    return None


def _spread(
    ordered: Sequence[Block], regions: Sequence[Region], spacing: Spacing
) -> dict[str, list[tuple[Block, int]]] | None:
    """Region name -> blocks and their offsets, None if a block finds no room."""
    shelves = [(region, Shelf(len(ordered), region.alignment, spacing)) for region in regions]
    spread: dict[str, list[tuple[Block, int]]] = {region.name: [] for region in regions}
    for block in ordered:
        for region, shelf in shelves:
            height = UNLIMITED if region.capacity is None else region.capacity
            offset = shelf.lowest(block, height)
            if offset is not None:
                shelf.add(block, offset)
                spread[region.name].append((block, offset))
                break
        else:
            return None
    return spread


def _repack(
    placed: Sequence[tuple[Block, int]],
    region: Region,
    spacing: Spacing,
    packer: Packer,
    seconds: float,
) -> Packing:
    """The strategy's offsets for the same blocks, or the present ones if those do not fit."""
    blocks = [block for block, _ in placed]
    packed = packer(blocks, region, spacing, seconds)
    if region.holds(packed.bytes):
        return packed
    bound, _ = lower_bound(blocks, region.alignment, spacing)
    return packing(blocks, {block.name: offset for block, offset in placed}, bound, "greedy")
