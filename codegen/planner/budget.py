"""What to say when a model does not fit: who is at the peak, and what would help."""

from __future__ import annotations

from collections.abc import Sequence

from codegen.board_schema import Board
from codegen.errors import OverBudget
from codegen.graph import Graph, Node
from codegen.plan import Buffer, Home


def kib(size: int) -> str:
    """Bytes for people: `102.0 KiB`, or `512 B` below 1 KiB."""
    return f"{size / 1024:.1f} KiB" if size >= 1024 else f"{size} B"


def over_budget(
    graph: Graph,
    board: Board,
    nodes: Sequence[Node],
    buffers: Sequence[Buffer],
    need: int,
    peak: int,
) -> OverBudget:
    """The error with needed and available bytes, the operator at the peak and what lives there."""
    live = sorted(
        (b for b in buffers if b.home is Home.ARENA and b.first <= peak <= b.last),
        key=lambda b: -b.size,
    )
    names = ", ".join(
        f"{graph.tensors[b.tensors[0]].label if b.tensors else 'scratch'} {kib(b.size)}"
        for b in live[:4]
    )
    have = ", ".join(
        f"{m.name} {kib(m.usable)}" for m in (board.memory(n) for n in board.placement.arena)
    )
    where = nodes[max(0, min(peak, len(nodes) - 1))].label if nodes else "the inputs"
    return OverBudget(
        f"the activations need {kib(need)} of RAM and board {board.name} has {have}; "
        f"peak at {where}, where {names} are live",
        ram_bytes=need,
    )


def with_advice(error: OverBudget, board: Board, shipped: Sequence[Board]) -> OverBudget:
    """The same error, ending in the smallest boards of the list whose RAM suffices."""
    fitting = [b for b in shipped if largest_ram(b) >= error.ram_bytes and b.name != board.name]
    names = ", ".join(b.name for b in sorted(fitting, key=largest_ram)[:3])
    advice = f"boards that fit: {names}" if names else "no shipped board has that much RAM"
    return OverBudget(f"{error}; {advice}", ram_bytes=error.ram_bytes)


def largest_ram(board: Board) -> int:
    """Bytes of the largest single memory that may hold the arena."""
    return max(board.memory(name).usable for name in board.placement.arena)
