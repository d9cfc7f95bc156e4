"""Blocks, memories and places: what every way of finding arena offsets takes and gives.

A block is a rectangle of bytes x lifetime. Two blocks that live at one moment must not share bytes
of one memory, unless a `Nearness` allows it; `validate` is the O(n^2) proof of that, and runs after
every strategy.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Block:
    """A buffer without an address: `size` bytes, live in layers first..last inclusive.

    Attributes:
        weight: bytes that a run of the model reads and writes here; decides who gets the fast
            memory. None counts as `size`: touched once.
        follows: the block that an operator of a chain reads to make this one, where that is all it
            reads and nothing else reads it; None where no chain goes on.
    """

    name: str
    size: int
    first: int
    last: int
    weight: int | None = None
    follows: str | None = None

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
        self._partners: dict[str, set[str]] = {}
        for lower, upper in self._near:
            self._partners.setdefault(lower, set()).add(upper)
            self._partners.setdefault(upper, set()).add(lower)

    def apart(self, lower: Block, upper: Block) -> int:
        """Least distance from the start of `lower` to the start of `upper`."""
        return min(self._near.get((lower.name, upper.name), lower.size), lower.size)

    def partners(self, block: Block) -> set[str]:
        """Names of the blocks that may share bytes with this one."""
        return self._partners.get(block.name, set())

    def pairs(self, blocks: Sequence[Block]) -> list[tuple[Block, Block]]:
        """All pairs of these blocks that may share bytes, each once."""
        by_name = {b.name: b for b in blocks}
        return [
            (a, by_name[name])
            for a in blocks
            for name in sorted(self.partners(a))
            if a.name < name and name in by_name
        ]

    def saving(self, a: Block, b: Block, alignment: int) -> int:
        """Bytes that a pair can share at most, on a grid of the alignment."""
        size_a, size_b = align_up(a.size, alignment), align_up(b.size, alignment)
        return max(
            0,
            min(size_b, size_a - align_up(self.apart(a, b), alignment)),
            min(size_a, size_b - align_up(self.apart(b, a), alignment)),
        )


NO_SPACING = Spacing()


@dataclass(frozen=True)
class Shared:
    """A piece of memory that is kept for several blocks, which lie at its start in turn.

    Attributes:
        blocks: their names, in the order of their lives.
    """

    offset: int
    size: int
    blocks: tuple[str, ...]


Pair = tuple[Shared, Shared]
"""The two buffers of a branch, M1 before M2."""


@dataclass(frozen=True)
class Packing:
    """Offsets of blocks in one memory.

    Attributes:
        offsets: block name -> bytes from the start.
        bytes: from the start to the end of the highest block.
        lower_bound: bytes that no packing of these blocks can be below.
        strategy: the one that found it.
        pairs: the two buffers of every branch, where the strategy makes such.
    """

    offsets: Mapping[str, int]
    bytes: int
    lower_bound: int
    strategy: str
    pairs: tuple[Pair, ...] = ()

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
        counted_bound: most bytes live at once; a search may have raised the bound above that.
        proven: whether `bytes` is known to be the least.
        strategy: the one whose offsets these are; with `auto`, the one it came to.
        seconds: what the search took.
        pairs: the two buffers of every branch, each pair in the memory of its blocks.
    """

    places: Mapping[str, Place]
    bytes: int
    lower_bound: int
    counted_bound: int
    proven: bool
    strategy: str
    seconds: float = field(default=0.0, compare=False)
    pairs: tuple[Pair, ...] = ()

    @property
    def gap(self) -> int:
        """Bytes between what was found and what is known to be necessary."""
        return self.bytes - self.lower_bound


class DoesNotFit(Exception):
    """The memories have no room for the blocks, as far as the strategy found."""


def align_up(value: int, alignment: int) -> int:
    """`value` rounded up to a multiple of `alignment`."""
    return -(-value // alignment) * alignment


def lower_bound(
    blocks: Sequence[Block], alignment: int, spacing: Spacing = NO_SPACING
) -> tuple[int, int]:
    """(most bytes live at once, the layer where that is).

    Blocks take their size rounded up to the alignment, but for the highest one, whose end need not
    be aligned; the bound lets the one with most rounding be the highest. Pairs that may share
    bytes are taken to share as many as they can.
    """
    saving: dict[int, int] = {}
    for a, b in spacing.pairs(blocks):
        both = max(a.first, b.first)
        saving[both] = saving.get(both, 0) + spacing.saving(a, b, alignment)
    best = (0, 0)
    for moment in sorted({block.first for block in blocks if block.size}):
        sizes = [b.size for b in blocks if b.first <= moment <= b.last]
        rounded = [align_up(size, alignment) for size in sizes]
        padding = max(r - size for r, size in zip(rounded, sizes, strict=True))
        best = max(best, (sum(rounded) - saving.get(moment, 0) - padding, -moment))
    return best[0], -best[1]


def packing(
    blocks: Sequence[Block], offsets: Mapping[str, int], bound: int, strategy: str
) -> Packing:
    """The figures of offsets in one memory."""
    used = max((offsets[b.name] + b.size for b in blocks), default=0)
    return Packing(offsets, used, bound, strategy)


def validate(
    blocks: Sequence[Block],
    regions: Sequence[Region],
    places: Mapping[str, Place],
    spacing: Spacing = NO_SPACING,
) -> None:
    """Compare all pairs of blocks, and each block with its memory.

    Raises:
        AssertionError: if two blocks are too near while both live, or one is misaligned or outside
            its memory; a bug, never the user's fault.
    """
    by_name = {region.name: region for region in regions}
    for i, a in enumerate(blocks):
        pa = places[a.name]
        region = by_name[pa.region]
        if pa.offset < 0 or pa.offset % region.alignment or not region.holds(pa.offset + a.size):
            raise AssertionError(f"{a.name} is misplaced in {pa.region}")
        for b in blocks[i + 1 :]:
            pb = places[b.name]
            if pa.region != pb.region or not a.meets(b):
                continue
            if -spacing.apart(b, a) < pb.offset - pa.offset < spacing.apart(a, b):
                raise AssertionError(f"{a.name} and {b.name} overlap in {pa.region}")
