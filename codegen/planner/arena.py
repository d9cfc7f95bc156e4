"""Arena offsets: blocks packed into the memories of a board by a strategy of a name.

`greedy`, `two-ended` and `pingpong` are rules, `optimal` is a search with a proof; `auto` is the
search with so little time that nobody waits, and stops at once where `greedy` already reaches the
lower bound.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence

from codegen.planner.blocks import (
    NO_SPACING,
    Block,
    Packing,
    Place,
    Region,
    Solution,
    Spacing,
    lower_bound,
    validate,
)
from codegen.planner.first_fit import greedy
from codegen.planner.memories import Packer, distribute
from codegen.planner.optimal import optimal
from codegen.planner.pingpong import pingpong
from codegen.planner.two_ended import two_ended

STRATEGIES: dict[str, Packer] = {
    "greedy": lambda blocks, region, spacing, _: greedy(blocks, region, spacing),
    "two-ended": lambda blocks, region, spacing, _: two_ended(blocks, region, spacing),
    "pingpong": lambda blocks, region, spacing, _: pingpong(blocks, region, spacing),
    "optimal": optimal,
}

SECONDS = {"auto": 1.0, "optimal": 10.0}
"""Work that the searches may do per memory: seconds of an ordinary PC, counted, not measured."""


def allocate(
    strategy: str,
    blocks: Sequence[Block],
    regions: Sequence[Region],
    spacing: Spacing = NO_SPACING,
    seconds: float | None = None,
) -> Solution:
    """Places for all blocks; the same input gives the same places.

    Args:
        strategy: "auto" or a key of STRATEGIES.
        blocks: with names of their own.
        regions: memories, the preferred one first.
        spacing: which blocks may share bytes while both live.
        seconds: work per memory instead of the strategy's own limit.

    Raises:
        DoesNotFit: if the memories have no room.
        KeyError: for an unknown strategy.
    """
    start = time.perf_counter()
    packer = STRATEGIES["optimal" if strategy == "auto" else strategy]
    limit = SECONDS.get(strategy, 0.0) if seconds is None else seconds
    packed = distribute(blocks, regions, spacing, packer, limit)
    places = {
        name: Place(region, offset)
        for region, packing in packed.items()
        for name, offset in packing.offsets.items()
    }
    validate(blocks, regions, places, spacing)
    return Solution(
        places=places,
        bytes=sum(p.bytes for p in packed.values()),
        lower_bound=sum(p.lower_bound for p in packed.values()),
        counted_bound=_counted(blocks, regions, packed, spacing),
        proven=all(p.proven for p in packed.values()),
        strategy=_came_to(packed.values()) if strategy == "auto" else strategy,
        seconds=time.perf_counter() - start,
        pairs=tuple(pair for p in packed.values() for pair in p.pairs),
    )


def _counted(
    blocks: Sequence[Block],
    regions: Sequence[Region],
    packed: Mapping[str, Packing],
    spacing: Spacing,
) -> int:
    """Most bytes live at once, summed over the memories."""
    return sum(
        lower_bound([b for b in blocks if b.name in packing.offsets], r.alignment, spacing)[0]
        for r in regions
        if (packing := packed.get(r.name))
    )


def _came_to(packed: Iterable[Packing]) -> str:
    """The strategy whose offsets `auto` kept; the search where memories differ."""
    used = {p.strategy for p in packed if p.offsets}
    return "optimal" if "optimal" in used else "greedy"
