"""A program for NPU and DMA before it has addresses: blocks, transfers and commands.

Commands stand in the order in which they run, and time is counted in commands: a block of the
scratchpad lives from one command to another, a transfer is needed by a command and may start when
another one has finished. `codegen.npu.issue` turns this into a list of calls.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass, field

from codegen.targets.npu import Work

NEVER = -1


@dataclass(frozen=True)
class Copy:
    """The shape of a transfer: `planes` x `rows` runs of `length` bytes; strides in bytes."""

    length: int
    rows: int = 1
    planes: int = 1
    memory_row: int = 0
    memory_plane: int = 0
    scratch_row: int = 0
    scratch_plane: int = 0

    @property
    def bytes(self) -> int:
        return self.length * self.rows * self.planes

    @property
    def rank(self) -> int:
        return 3 if self.planes > 1 else 2 if self.rows > 1 else 1

    @property
    def scratch_extent(self) -> int:
        """Bytes from the first to the last one in the scratchpad."""
        steps = (self.planes - 1) * self.scratch_plane + (self.rows - 1) * self.scratch_row
        return steps + self.length


def copy_of(length: int, *dims: tuple[int, int, int]) -> Copy:
    """The copy of runs of `length` bytes, repeated along dims (count, memory and scratch stride).

    Dims stand from the innermost to the outermost; runs that touch on both sides become one.
    """
    kept: list[tuple[int, int, int]] = []
    for count, memory, scratch in dims:
        if count == 1:
            continue
        if not kept and memory == scratch == length:
            length *= count
        elif kept and (memory, scratch) == (kept[-1][0] * kept[-1][1], kept[-1][0] * kept[-1][2]):
            kept[-1] = (kept[-1][0] * count, kept[-1][1], kept[-1][2])
        else:
            kept.append((count, memory, scratch))
    kept += [(1, 0, 0)] * (2 - len(kept))
    (rows, memory_row, scratch_row), (planes, memory_plane, scratch_plane) = kept
    return Copy(length, rows, planes, memory_row, memory_plane, scratch_row, scratch_plane)


class Way(enum.Enum):
    """The direction of a transfer."""

    LOAD = "load"
    STORE = "store"


@dataclass(eq=False)
class Block:
    """Bytes of the scratchpad that are allocated together.

    Attributes:
        index: position in the program.
        name: for people.
        size: bytes.
        first: the first command that needs it, or whose result it takes.
        last: the last command that uses it.
        loaded: whether a transfer fills it, so that it may be taken earlier than needed.
    """

    index: int
    name: str
    size: int
    first: int = 1 << 60
    last: int = NEVER
    loaded: bool = False

    def use(self, command: int) -> None:
        self.first = min(self.first, command)
        self.last = max(self.last, command)


@dataclass(eq=False)
class Transfer:
    """One DMA transfer.

    Attributes:
        way: into or out of the scratchpad.
        tensor: the tensor in memory, or -1 for the packed weights of `work`.
        work: whose weights, and whose traffic it counts as.
        memory: byte offset within the tensor or the packed weights.
        block, offset: where in the scratchpad.
        copy: its shape.
        command: that needs what a load brings, or whose result a store takes.
        after: the command that must have finished before a load may start (`NEVER`: none).
        stores: positions in the program of stores that must be done before.
    """

    way: Way
    tensor: int
    work: Work
    memory: int
    block: Block
    offset: int
    copy: Copy
    command: int
    after: int = NEVER
    stores: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class Place:
    """A map, or a part of it, in a block: row r, column c at
    offset + ((r - row0) mod ring) * row + (c - col0) * pixel."""

    block: Block
    offset: int
    row: int
    pixel: int
    ring: int = 0
    row0: int = 0
    col0: int = 0


@dataclass(frozen=True)
class Tile:
    """The part of the output that a command computes, from input channels [k0, k1)."""

    y0: int
    y1: int
    x0: int
    x1: int
    c0: int
    c1: int
    k0: int
    k1: int

    @property
    def pixels(self) -> int:
        return (self.y1 - self.y0) * (self.x1 - self.x0)

    @property
    def channels(self) -> int:
        return self.c1 - self.c0


@dataclass(eq=False)
class Command:
    """One command of the NPU, or (`work` None) an operator that the CPU runs from memory.

    Attributes:
        node: index of the operator.
        work, tile: what it computes.
        inputs, output: where the maps' channels `tile` start.
        weights: the block with the packed weights, and the offset in it.
        sums: the block of int32 partial sums between slices of the input channels.
        first, last: whether its slice of the input channels is the first, the last one.
        cycles: of the engine, start included.
        loads: positions of the loads that must be there.
        stores: positions of the stores that must be done (memory that the CPU reads or writes).
    """

    node: int
    work: Work | None
    tile: Tile
    inputs: tuple[Place, ...]
    output: Place | None
    weights: tuple[Block, int] | None
    sums: Block | None
    first: bool
    last: bool
    cycles: int
    loads: list[int] = field(default_factory=list)
    stores: list[int] = field(default_factory=list)

    @property
    def blocks(self) -> Iterator[Block]:
        """Every block that it reads or writes."""
        yield from (place.block for place in self.inputs)
        if self.output:
            yield self.output.block
        if self.weights:
            yield self.weights[0]
        if self.sums:
            yield self.sums


@dataclass(eq=False)
class Program:
    """Blocks, transfers and commands in program order."""

    blocks: list[Block] = field(default_factory=list)
    transfers: list[Transfer] = field(default_factory=list)
    commands: list[Command] = field(default_factory=list)

    def block(self, name: str, size: int) -> Block:
        self.blocks.append(Block(len(self.blocks), name, size))
        return self.blocks[-1]

    def transfer(self, transfer: Transfer) -> int:
        self.transfers.append(transfer)
        if transfer.way is Way.LOAD:
            transfer.block.loaded = True
        return len(self.transfers) - 1

    def command(self, command: Command) -> int:
        """Append a command; its blocks live at least until it has run."""
        number = len(self.commands)
        self.commands.append(command)
        for block in command.blocks:
            block.use(number)
        return number

    @property
    def peak(self) -> int:
        """Most bytes of blocks that are in use during one command."""
        change = [0] * (len(self.commands) + 1)
        for block in self.blocks:
            change[block.first] += align(block.size)
            change[block.last + 1] -= align(block.size)
        most = live = 0
        for step in change:
            live += step
            most = max(most, live)
        return most


ALIGNMENT = 16


def align(size: int) -> int:
    """Bytes that a block takes: blocks start at multiples of `ALIGNMENT`."""
    return -(-size // ALIGNMENT) * ALIGNMENT
