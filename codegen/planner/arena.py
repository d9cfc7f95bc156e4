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


class DoesNotFit(Exception):
    """No region has room for a block."""

    def __init__(self, block: Block) -> None:
        super().__init__(block.name)
        self.block = block


ArenaStrategy = Callable[[Sequence[Block], Sequence[Region]], dict[str, Place]]


def align_up(value: int, alignment: int) -> int:
    """`value` rounded up to a multiple of `alignment`."""
    return -(-value // alignment) * alignment


def lower_bound(blocks: Sequence[Block], alignment: int) -> tuple[int, int]:
    """(most bytes live at once, the layer where that is), sizes rounded up to the alignment."""
    moments = sorted({block.first for block in blocks})
    live = [
        (sum(align_up(b.size, alignment) for b in blocks if b.first <= t <= b.last), -t)
        for t in moments
    ]
    size, moment = max(live, default=(0, 0))
    return size, -moment


def greedy(blocks: Sequence[Block], regions: Sequence[Region]) -> dict[str, Place]:
    """Largest first, each at the lowest offset that is free during its whole life.

    Raises:
        DoesNotFit: with the first block that no region has room for.
    """
    by_size = sorted(blocks, key=lambda b: (-b.size, b.first, b.name))
    return first_fit(by_size, regions)


def first_fit(ordered: Sequence[Block], regions: Sequence[Region]) -> dict[str, Place]:
    """Place blocks in the given order, each as low as its already placed neighbours allow.

    Raises:
        DoesNotFit: with the first block that no region has room for.
    """
    places: dict[str, Place] = {}
    placed: dict[str, list[tuple[Block, int]]] = {region.name: [] for region in regions}
    for block in ordered:
        for region in regions:
            offset = _lowest_gap(block, placed[region.name], region.alignment)
            if region.capacity is None or offset + block.size <= region.capacity:
                places[block.name] = Place(region.name, offset)
                placed[region.name].append((block, offset))
                break
        else:
            raise DoesNotFit(block)
    return places


def _lowest_gap(block: Block, placed: Iterable[tuple[Block, int]], alignment: int) -> int:
    """The lowest aligned offset where `block` meets nobody."""
    offset = 0
    for other, start in sorted(
        ((o, s) for o, s in placed if o.meets(block)), key=lambda item: item[1]
    ):
        if offset + block.size <= start:
            break
        offset = max(offset, align_up(start + other.size, alignment))
    return offset


def used_bytes(blocks: Sequence[Block], places: Mapping[str, Place]) -> dict[str, int]:
    """Region name -> bytes from its start to the end of its highest block."""
    used: dict[str, int] = {}
    for block in blocks:
        place = places[block.name]
        used[place.region] = max(used.get(place.region, 0), place.offset + block.size)
    return used


def validate(blocks: Sequence[Block], places: Mapping[str, Place]) -> None:
    """Compare all pairs of blocks.

    Raises:
        AssertionError: if two blocks share bytes while both live; a bug, never the user's fault.
    """
    for i, a in enumerate(blocks):
        for b in blocks[i + 1 :]:
            pa, pb = places[a.name], places[b.name]
            apart = pa.offset + a.size <= pb.offset or pb.offset + b.size <= pa.offset
            if pa.region == pb.region and a.meets(b) and not apart:
                raise AssertionError(f"{a.name} and {b.name} overlap in {pa.region}")


STRATEGIES: dict[str, ArenaStrategy] = {"greedy": greedy}
