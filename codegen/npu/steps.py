"""Actions as steps of the plan, layer by layer, with loops where they repeat."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from codegen.npu.issue import Act, Action, Issue
from codegen.npu.program import Block, Command, Program, Transfer, Way
from codegen.npu.roll import Node
from codegen.npu.weights import Slice
from codegen.plan import (
    Affine,
    CacheStep,
    DmaStart,
    DmaWait,
    NpuStart,
    NpuWait,
    ScratchView,
    Step,
)
from codegen.targets.npu import Kind, Work

WEIGHTS = "w{}"
"""Name of the buffer of an operator's packed weights."""


@dataclass(frozen=True, eq=False)
class Translation:
    """What actions are turned into steps with.

    Attributes:
        program, issue: what was scheduled.
        packed: operator -> where the blocks of its weights start in its constant.
        buffers: root -> (the buffer in memory, bytes from its start).
    """

    program: Program
    issue: Issue
    packed: Mapping[int, Mapping[Slice, int]]
    buffers: Mapping[int, tuple[str, int]]

    def tickets(self) -> dict[int, int]:
        """Transfer -> its number in the order of the starts."""
        starts = [a.number for a in self.issue.actions if a.act is Act.DMA_START]
        return {number: ticket for ticket, number in enumerate(starts)}


def nodes(t: Translation, actions: list[Action], tickets: Mapping[int, int]) -> Iterator[Node]:
    """A node per action of DMA and NPU."""
    for action in actions:
        number = action.number
        if action.act is Act.DMA_START:
            yield _start(t, t.program.transfers[number], tickets[number])
        elif action.act is Act.DMA_WAIT:
            yield Node("dma_wait", (tickets[number],), lambda v, _: DmaWait(v[0]))
        elif action.act is Act.NPU_WAIT:
            yield Node("npu_wait", (), lambda v, _: NpuWait())
        elif action.act is Act.NPU_START:
            yield _command(t, t.program.commands[number])


def cache_node(clean: bool, buffer: str) -> Node:
    """Maintenance of a whole buffer."""
    return Node(("cache", clean, buffer), (), lambda v, _: CacheStep(clean, buffer))


def _at(t: Translation, block: Block) -> int:
    return t.issue.offsets[block.index]


def _start(t: Translation, transfer: Transfer, ticket: int) -> Node:
    store = transfer.way is Way.STORE
    if transfer.tensor < 0:
        buffer, base = WEIGHTS.format(transfer.work.node.index), 0
    else:
        buffer, base = t.buffers[transfer.tensor]
    copy = transfer.copy
    scratch = _at(t, transfer.block) + transfer.offset

    def make(v: tuple[Affine, ...], _: int) -> Step:
        return DmaStart(v[0], store, buffer, v[1], v[2], copy)

    return Node(("dma", store, buffer, copy), (ticket, base + transfer.memory, scratch), make)


def _command(t: Translation, command: Command) -> Node:
    work, tile = command.work, command.tile
    assert work is not None and command.output is not None
    places = (*command.inputs, command.output)
    weights = sums = block = None
    if command.weights:
        weights = _at(t, command.weights[0]) + command.weights[1]
        block = _block_offset(t, work, command)
    if command.sums:
        sums = _at(t, command.sums)
    size = (tile.y1 - tile.y0, tile.x1 - tile.x0, tile.channels)
    depth = tile.k1 - tile.k0
    key = (
        "npu",
        work.node.index,
        tuple((p.row, p.pixel, p.ring) for p in places),
        (weights is None, sums is None, size, depth, command.first, command.last),
    )
    values = [v for p in places for v in (_at(t, p.block) + p.offset, p.row0, p.col0)]
    values += [weights or 0, block or 0, sums or 0, tile.y0, tile.x0, tile.c0, tile.k0]
    first, last, blank = command.first, command.last, (weights is None, sums is None)
    tensors = (*work.inputs, work.output)

    def make(v: tuple[Affine, ...], _: int) -> Step:
        views = [
            ScratchView(tensor, v[3 * i], p.row, p.pixel, p.ring, v[3 * i + 1], v[3 * i + 2])
            for i, (tensor, p) in enumerate(zip(tensors, places, strict=True))
        ]
        rest = v[3 * len(places) :]
        return NpuStart(
            work=work,
            inputs=tuple(views[:-1]),
            output=views[-1],
            weights=None if blank[0] else rest[0],
            block=None if blank[0] else rest[1],
            sums=None if blank[1] else rest[2],
            y0=rest[3],
            x0=rest[4],
            c0=rest[5],
            size=size,
            k0=rest[6],
            depth=depth,
            first=first,
            last=last,
        )

    return Node(key, tuple(values), make)


def _block_offset(t: Translation, work: Work, command: Command) -> int:
    """Where the block that a command reads starts in the operator's constant."""
    offsets, tile = t.packed[work.node.index], command.tile
    if len(offsets) == 1:
        return next(iter(offsets.values()))
    if work.kind is Kind.DENSE:
        return offsets[Slice(tile.c0, tile.c1, tile.k0, tile.k1, command.last)]
    return next(at for part, at in offsets.items() if part.c0 == tile.c0)
