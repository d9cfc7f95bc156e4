"""Blocks, memories and places: what every way of finding arena offsets takes and gives.

A block is a rectangle of bytes x lifetime. Two blocks that live at one moment must not share bytes
of one memory; `validate` is the O(n^2) proof of that, and runs after every strategy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Block:
    """A buffer without an address: `size` bytes, live in layers first..last inclusive.

    Attributes:
        weight: bytes that a run of the model reads and writes here; decides who gets the fast
            memory. None counts as `size`: touched once.
    """

    name: str
    size: int
    first: int
    last: int
    weight: int | None = None

    def meets(self, other: Block) -> bool:
        """Whether both are live at one moment."""
        return self.first <= other.last and other.first <= self.last

    @property
    def heat(self) -> float:
        """Accesses per byte held."""
        if self.weight is None or self.size == 0:
            return 1.0
        return self.weight / self.size


@dataclass(frozen=True)
class Region:
    """A memory to allocate from; capacity None means as much as needed."""

    name: str
    capacity: int | None
    alignment: int

    def holds(self, size: int) -> bool:
        """Whether `size` bytes are not more than the capacity."""
        return self.capacity is None or size <= self.capacity


@dataclass(frozen=True)
class Place:
    """Where a block lies: a region and an offset in bytes."""

    region: str
    offset: int


@dataclass(frozen=True)
class Packing:
    """Offsets of blocks in one memory.

    Attributes:
        offsets: block name -> bytes from the start.
        bytes: from the start to the end of the highest block.
        lower_bound: bytes that no packing of these blocks can be below.
        strategy: the one that found it.
    """

    offsets: Mapping[str, int]
    bytes: int
    lower_bound: int
    strategy: str

    @property
    def proven(self) -> bool:
        """Whether nothing smaller exists."""
        return self.bytes == self.lower_bound


@dataclass(frozen=True)
class Solution:
    """Places for all blocks. Figures are sums over the memories, given who lies in which.

    Attributes:
        bytes: from the start of each memory to the end of its highest block.
        lower_bound: below which no offsets in the same memories can come.
        proven: whether `bytes` is known to be the least.
        strategy: the one whose offsets these are; with `auto`, the one it came to.
        seconds: what the search took.
    """

    places: Mapping[str, Place]
    bytes: int
    lower_bound: int
    proven: bool
    strategy: str
    seconds: float = field(default=0.0, compare=False)

    @property
    def gap(self) -> int:
        """Bytes between what was found and what is known to be necessary."""
        return self.bytes - self.lower_bound


class DoesNotFit(Exception):
    """The memories have no room for the blocks, as far as the strategy found."""


def align_up(value: int, alignment: int) -> int:
    """`value` rounded up to a multiple of `alignment`."""
    return -(-value // alignment) * alignment


def lower_bound(blocks: Sequence[Block], alignment: int) -> tuple[int, int]:
    """(most bytes live at once, the layer where that is).

    Blocks take their size rounded up to the alignment, but for the highest one, whose end need not
    be aligned; the bound lets the one with most rounding be the highest.
    """
    best = (0, 0)
    for moment in sorted({block.first for block in blocks if block.size}):
        sizes = [b.size for b in blocks if b.first <= moment <= b.last]
        padding = [align_up(size, alignment) - size for size in sizes]
        best = max(best, (sum(sizes) + sum(padding) - max(padding), -moment))
    return best[0], -best[1]


def packing(
    blocks: Sequence[Block], offsets: Mapping[str, int], bound: int, strategy: str
) -> Packing:
    """The figures of offsets in one memory."""
    used = max((offsets[b.name] + b.size for b in blocks), default=0)
    return Packing(offsets, used, bound, strategy)


def validate(
    blocks: Sequence[Block], regions: Sequence[Region], places: Mapping[str, Place]
) -> None:
    """Compare all pairs of blocks, and each block with its memory.

    Raises:
        AssertionError: if two blocks share bytes while both live, or one is misaligned or outside
            its memory; a bug, never the user's fault.
    """
    by_name = {region.name: region for region in regions}
    for i, a in enumerate(blocks):
        pa = places[a.name]
        region = by_name[pa.region]
        if pa.offset < 0 or pa.offset % region.alignment or not region.holds(pa.offset + a.size):
            raise AssertionError(f"{a.name} is misplaced in {pa.region}")
        for b in blocks[i + 1 :]:
            if not a.meets(b) or pa.region != places[b.name].region:
                continue
            start = places[b.name].offset
            if pa.offset < start + b.size and start < pa.offset + a.size:
                raise AssertionError(f"{a.name} and {b.name} overlap in {pa.region}")
