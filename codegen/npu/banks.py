"""Banks of the scratchpad: which ones are touched, and when a transfer meets a command in one.

Banks are equal parts of the scratchpad, one after the other, each with a port of its own. A command
and a transfer in different banks never disturb each other; in the same bank they take turns. The
clock lets them go on together; the cycles in which they meet are counted, and hardware whose banks
serve one access at a time takes at most so many cycles more.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence

from codegen.board_schema import Board
from codegen.npu.program import Command, Place, Transfer
from codegen.npu.weights import block_bytes
from codegen.targets.npu import Axis

Span = tuple[int, int]


def command_banks(board: Board, command: Command, offsets: Sequence[int]) -> int:
    """A bit for each bank that a command of the NPU reads or writes.

    `offsets` are those of the blocks in the scratchpad.
    """
    return _mask(board, _command_spans(command, offsets))


def transfer_banks(board: Board, transfer: Transfer, offsets: Sequence[int]) -> int:
    """A bit for each bank that a transfer moves bytes into or out of."""
    copy = transfer.copy
    start = offsets[transfer.block.index] + transfer.offset
    firsts = (
        start + plane * copy.scratch_plane + row * copy.scratch_row
        for plane in range(copy.planes)
        for row in range(copy.rows)
    )
    return _mask(board, ((first, first + copy.length) for first in firsts))


def meeting_cycles(commands: Sequence[tuple[int, int, int]], transfer: tuple[int, int, int]) -> int:
    """Cycles in which a transfer is in a bank of a command.

    Args:
        commands: (start, end, banks) of all commands, one after the other.
        transfer: the same of a transfer, from its first byte on.
    """
    start, end, banks = transfer
    at = max(0, bisect_right(commands, (start, 0, 0)) - 1)
    cycles = 0
    while at < len(commands) and commands[at][0] < end:
        first, last, theirs = commands[at]
        cycles += max(0, min(end, last) - max(start, first)) if theirs & banks else 0
        at += 1
    return cycles


def _mask(board: Board, spans: Iterator[Span]) -> int:
    assert board.scratchpad is not None
    size = board.scratchpad.size // board.scratchpad.banks
    mask = 0
    for low, high in spans:
        for bank in range(low // size, (high - 1) // size + 1):
            mask |= 1 << bank
    return mask


def _command_spans(command: Command, offsets: Sequence[int]) -> Iterator[Span]:
    """[low, high) of every row and block that a command touches."""
    work, tile = command.work, command.tile
    assert work is not None and command.output is not None
    rows = _inside(work.rows, tile.y0, tile.y1, work.source.h)
    columns = _inside(work.columns, tile.x0, tile.x1, work.source.w)
    for place in command.inputs:
        yield from _rows(place, offsets, rows, columns, tile.k1 - tile.k0)
    if command.weights is not None:
        block, offset = command.weights
        start = offsets[block.index] + offset
        size = block_bytes(work, tile.channels, tile.k1 - tile.k0, command.last)
        yield start, start + size
    if command.sums is not None:
        start = offsets[command.sums.index]
        yield start, start + 4 * tile.pixels * tile.channels
    if command.last:
        area = (tile.y0, tile.y1), (tile.x0, tile.x1)
        yield from _rows(command.output, offsets, *area, tile.channels)


def _inside(axis: Axis, first: int, end: int, size: int) -> Span:
    """[low, high) of the input for outputs [first, end), without what lies in the padding."""
    low = first * axis.stride - axis.pad
    high = (end - 1) * axis.stride - axis.pad + axis.span
    return min(max(low, 0), size), min(max(high, 0), size)


def _rows(
    place: Place, offsets: Sequence[int], rows: Span, columns: Span, channels: int
) -> Iterator[Span]:
    """[low, high) of every row of an area of a map."""
    if columns[0] == columns[1]:
        return
    for y in range(*rows):
        line = (y - place.row0) % place.ring if place.ring else y - place.row0
        start = offsets[place.block.index] + place.offset + line * place.row
        first = start + (columns[0] - place.col0) * place.pixel
        yield first, start + (columns[1] - 1 - place.col0) * place.pixel + channels
