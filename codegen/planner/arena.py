"""Arena offsets: rectangles of bytes x lifetime packed into the memories of a board.

Strategies are known by name. Each takes blocks and memories in order of preference and returns a
place for every block; a block goes into the first memory where it fits. `validate` is the O(n^2)
proof that runs after every strategy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Block:
    """A buffer without an address: `size` bytes, live in layers first..last inclusive."""

    name: str
    size: int
    first: int
    last: int

    def meets(self, other: Block) -> bool:
        """Whether both are live at one moment."""
        return self.first <= other.last and other.first <= self.last


@dataclass(frozen=True)
class Region:
    """A memory to allocate from; capacity None means as much as needed."""

    name: str
    capacity: int | None
    alignment: int


@dataclass(frozen=True)
class Place:
    """Where a block lies: a region and an offset in bytes."""

    region: str
    offset: int


@dataclass(frozen=True)
class Nearness:
    """Two blocks that may share bytes: `upper` starts at least `distance` bytes above `lower`.

    Both live in one layer only, where `lower` is written while `upper` is read, or the reverse.
    """

    lower: str
    upper: str
    distance: int


class Spacing:
    """How far apart two blocks that meet have to start, by which of them lies below."""

    def __init__(self, nearness: Iterable[Nearness] = ()) -> None:
        self._near = {(n.lower, n.upper): n.distance for n in nearness}

    def apart(self, lower: Block, upper: Block) -> int:
        """Least distance from the start of `lower` to the start of `upper`."""
        return self._near.get((lower.name, upper.name), lower.size)

    def saving(self, alignment: int, blocks: Mapping[str, Block]) -> dict[int, int]:
        """Layer -> bytes that overlapping saves there at most."""
        best: dict[int, dict[tuple[str, str], int]] = {}
        for (lower, upper), distance in self._near.items():
            a, b = blocks[lower], blocks[upper]
            both = max(align_up(distance, alignment) + b.size, a.size)
            saved = align_up(a.size, alignment) + align_up(b.size, alignment)
            saved -= align_up(both, alignment)
            pairs = best.setdefault(max(a.first, b.first), {})
            key = (min(lower, upper), max(lower, upper))
            pairs[key] = max(pairs.get(key, 0), saved)
        return {layer: sum(pairs.values()) for layer, pairs in best.items()}


NO_SPACING = Spacing()


class DoesNotFit(Exception):
    """No region has room for a block."""

    def __init__(self, block: Block) -> None:
        super().__init__(block.name)
        self.block = block


ArenaStrategy = Callable[[Sequence[Block], Sequence[Region], Spacing], dict[str, Place]]


def align_up(value: int, alignment: int) -> int:
    """`value` rounded up to a multiple of `alignment`."""
    return -(-value // alignment) * alignment


def lower_bound(
    blocks: Sequence[Block], alignment: int, spacing: Spacing = NO_SPACING
) -> tuple[int, int]:
    """(most bytes live at once, the layer where that is), sizes rounded up to the alignment."""
    saving = spacing.saving(alignment, {block.name: block for block in blocks})
    live = [
        (
            sum(align_up(b.size, alignment) for b in blocks if b.first <= t <= b.last)
            - saving.get(t, 0),
            -t,
        )
        for t in sorted({block.first for block in blocks})
    ]
    size, moment = max(live, default=(0, 0))
    return size, -moment


def greedy(
    blocks: Sequence[Block], regions: Sequence[Region], spacing: Spacing = NO_SPACING
) -> dict[str, Place]:
    """First fit in several orders; the best: fewest bytes in the first region, then the second...

    Largest first packs branches well; in order of time, chains that overlap go down and up.

    Raises:
        DoesNotFit: with the first block that no region has room for.
    """
    orders: list[Callable[[Block], tuple[int, int, int, str]]] = [
        lambda b: (-b.size, b.first, b.last, b.name),
        lambda b: (b.first, -b.size, b.last, b.name),
        lambda b: (-b.last, -b.size, b.first, b.name),
        lambda b: (-b.size * (b.last - b.first + 1), b.first, b.last, b.name),
        lambda b: (b.first - b.last, -b.size, b.first, b.name),
    ]
    found, failure = [], None
    for order in orders:
        try:
            found.append(first_fit(sorted(blocks, key=order), regions, spacing))
        except DoesNotFit as error:
            failure = failure or error
    if failure is not None and not found:
        raise failure
    return min(found, key=lambda places: _cost(blocks, places, regions))


def _cost(
    blocks: Sequence[Block], places: Mapping[str, Place], regions: Sequence[Region]
) -> tuple[int, ...]:
    """Slower memories weigh more than any saving in the faster ones."""
    used = used_bytes(blocks, places)
    return tuple(used.get(region.name, 0) for region in reversed(regions))


def first_fit(
    ordered: Sequence[Block], regions: Sequence[Region], spacing: Spacing = NO_SPACING
) -> dict[str, Place]:
    """Place blocks in the given order, each as low as its already placed neighbours allow.

    Raises:
        DoesNotFit: with the first block that no region has room for.
    """
    places: dict[str, Place] = {}
    placed: dict[str, list[tuple[Block, int]]] = {region.name: [] for region in regions}
    for block in ordered:
        for region in regions:
            offset = _lowest_gap(block, placed[region.name], region.alignment, spacing)
            if region.capacity is None or offset + block.size <= region.capacity:
                places[block.name] = Place(region.name, offset)
                placed[region.name].append((block, offset))
                break
        else:
            raise DoesNotFit(block)
    return places


def _lowest_gap(
    block: Block, placed: Iterable[tuple[Block, int]], alignment: int, spacing: Spacing
) -> int:
    """The lowest aligned offset where `block` disturbs nobody."""
    forbidden = sorted(
        (start - spacing.apart(block, other), start + spacing.apart(other, block))
        for other, start in placed
        if other.meets(block)
    )
    offset, moved = 0, True
    while moved:
        moved = False
        for low, high in forbidden:
            if low < offset < high:
                offset, moved = align_up(high, alignment), True
    return offset


def used_bytes(blocks: Sequence[Block], places: Mapping[str, Place]) -> dict[str, int]:
    """Region name -> bytes from its start to the end of its highest block."""
    used: dict[str, int] = {}
    for block in blocks:
        place = places[block.name]
        used[place.region] = max(used.get(place.region, 0), place.offset + block.size)
    return used


def validate(
    blocks: Sequence[Block], places: Mapping[str, Place], spacing: Spacing = NO_SPACING
) -> None:
    """Compare all pairs of blocks.

    Raises:
        AssertionError: if two blocks are too near while both live; a bug, never the user's fault.
    """
    for i, a in enumerate(blocks):
        for b in blocks[i + 1 :]:
            pa, pb = places[a.name], places[b.name]
            apart = (
                pa.offset + spacing.apart(a, b) <= pb.offset
                or pb.offset + spacing.apart(b, a) <= pa.offset
            )
            if pa.region == pb.region and a.meets(b) and not apart:
                raise AssertionError(f"{a.name} and {b.name} overlap in {pa.region}")


STRATEGIES: dict[str, ArenaStrategy] = {"greedy": greedy}
