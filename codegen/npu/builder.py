"""What a program under construction knows: where maps are, and how transfers are cut to size."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from codegen.board_schema import Board
from codegen.graph import Graph
from codegen.npu.program import NEVER, Block, Command, Copy, Place, Program, Tile, Transfer, Way
from codegen.npu.tiling import engine
from codegen.npu.weights import Slice, pack
from codegen.targets.npu import Kind, Size, Work, compute_cycles

NOTHING = Tile(0, 0, 0, 0, 0, 0, 0, 0)


@dataclass(eq=False)
class Stored:
    """Rows [y0, y1) of a tensor that a store brings to memory."""

    y0: int
    y1: int
    transfer: int


@dataclass(eq=False)
class Builder:
    """A program and the state after its last command.

    Attributes:
        roots: tensor -> the tensor whose bytes it repeats (views of views resolved).
        kept: root -> the block that holds its whole map.
        stored: root -> the stores of its rows, in order.
        by_cpu: root -> the command of the CPU that has written it to memory.
        packed: operator -> where the blocks of its weights start in its constant.
    """

    graph: Graph
    board: Board
    roots: dict[int, int]
    program: Program = field(default_factory=Program)
    kept: dict[int, Block] = field(default_factory=dict)
    stored: dict[int, list[Stored]] = field(default_factory=dict)
    by_cpu: dict[int, int] = field(default_factory=dict)
    packed: dict[int, dict[Slice, int]] = field(default_factory=dict)

    def root(self, t: int) -> int:
        return self.roots.get(t, t)

    @property
    def next(self) -> int:
        """The number of the next command."""
        return len(self.program.commands)

    def offsets(self, work: Work, slices: list[Slice]) -> dict[Slice, int]:
        """Where the blocks of an operator's weights start in its constant."""
        if work.node.index not in self.packed:
            _, offsets = pack(work, slices)
            self.packed[work.node.index] = offsets
        return self.packed[work.node.index]

    def load_weights(
        self, work: Work, memory: int, size: int, block: Block, after: int = NEVER
    ) -> list[int]:
        """Start and number of the loads of `size` bytes of packed weights for the next command."""
        return self._transfer(
            Transfer(Way.LOAD, -1, work, memory, block, 0, Copy(size), self.next, after)
        )

    def load_rows(
        self,
        work: Work,
        t: int,
        rows: tuple[int, int],
        memory: int,
        block: Block,
        offset: int,
        copy: Copy,
        after: int,
    ) -> list[int]:
        """Loads of rows [y0, y1) of a tensor in memory, for the next command."""
        root = self.root(t)
        stores = tuple(
            s.transfer for s in self.stored.get(root, ()) if s.y0 < rows[1] and rows[0] < s.y1
        )
        ready = max(after, self.by_cpu.get(root, NEVER))
        return self._transfer(
            Transfer(Way.LOAD, root, work, memory, block, offset, copy, self.next, ready, stores)
        )

    def store(
        self, work: Work, tile: Tile, place: Place, command: int, memory: int, copy: Copy
    ) -> None:
        """The transfer of a command's result to memory."""
        first = (tile.y0 - place.row0) % place.ring if place.ring else tile.y0 - place.row0
        offset = place.offset + first * place.row + (tile.x0 - place.col0) * place.pixel
        root = self.root(work.output)
        for number in self._transfer(
            Transfer(Way.STORE, root, work, memory, place.block, offset, copy, command)
        ):
            self.stored.setdefault(root, []).append(Stored(tile.y0, tile.y1, number))

    def command(
        self,
        work: Work,
        tile: Tile,
        inputs: list[Place],
        output: Place,
        weights: tuple[Block, int] | None,
        sums: Block | None,
        loads: list[int],
    ) -> int:
        """Append the command that computes a tile."""
        npu, _ = engine(self.board)
        cycles = compute_cycles(npu, work, tile.pixels, tile.channels, tile.k1 - tile.k0)
        return self.program.command(
            Command(
                node=work.node.index,
                work=work,
                tile=tile,
                inputs=tuple(inputs),
                output=output,
                weights=weights,
                sums=sums,
                first=work.kind is not Kind.DENSE or tile.k0 == 0,
                last=work.kind is not Kind.DENSE or tile.k1 == work.source.c,
                cycles=cycles + npu.start_cycles,
                loads=loads,
            )
        )

    def cpu_command(self, node: int, reads: list[int], writes: list[int], cycles: int) -> None:
        """An operator of the CPU, which works in memory."""
        needed = [s.transfer for t in reads for s in self.stored.get(self.root(t), ())]
        command = Command(node, None, NOTHING, (), None, None, None, True, True, cycles)
        command.stores = needed
        number = self.program.command(command)
        for t in writes:
            self.by_cpu[self.root(t)] = number

    def _transfer(self, transfer: Transfer) -> list[int]:
        """Add a transfer as one or more that the DMA can do."""
        _, dma = engine(self.board)
        numbers = []
        for memory, scratch, copy in cut(transfer.copy, dma.ranks, dma.max_length or 1 << 30):
            moved = replace_place(transfer, memory, scratch, copy)
            numbers.append(self.program.transfer(moved))
        return numbers


def replace_place(transfer: Transfer, memory: int, scratch: int, copy: Copy) -> Transfer:
    """The transfer of a part of its bytes."""
    return replace(
        transfer, memory=transfer.memory + memory, offset=transfer.offset + scratch, copy=copy
    )


def cut(copy: Copy, ranks: int, longest: int) -> list[tuple[int, int, Copy]]:
    """A copy as (memory offset, scratchpad offset, copy), of at most so many ranks and bytes."""
    if copy.rank > ranks:
        pieces = []
        outer = copy.planes if copy.rank == 3 else copy.rows
        if copy.rank == 3:
            inner = replace(copy, planes=1, memory_plane=0, scratch_plane=0)
            steps = (copy.memory_plane, copy.scratch_plane)
        else:
            inner = Copy(copy.length)
            steps = (copy.memory_row, copy.scratch_row)
        for i in range(outer):
            for memory, scratch, part in cut(inner, ranks, longest):
                pieces.append((memory + i * steps[0], scratch + i * steps[1], part))
        return pieces
    if copy.length > longest:
        return [
            (at, at, replace(copy, length=min(longest, copy.length - at)))
            for at in range(0, copy.length, longest)
        ]
    return [(0, 0, copy)]


def memory_offset(size: Size, y: int, x: int, c: int) -> int:
    """Bytes from the start of a dense map to an element of it."""
    return (y * size.w + x) * size.c + c
