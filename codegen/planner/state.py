"""Addresses for state: one behind the other, apart from the arena, in the first memory with room.

All of it lives always, so there is nothing to overlap. It goes before the arena, whose strategies
can spread over several memories.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from codegen.board_schema import Board
from codegen.errors import OverBudget
from codegen.graph import Graph
from codegen.plan import Buffer, Home
from codegen.planner.blocks import align_up


def place_state(graph: Graph, board: Board, buffers: Sequence[Buffer]) -> list[Buffer]:
    """The buffers with an address for those that hold state.

    Raises:
        OverBudget: if no memory has room for one of them.
    """
    memories = [board.memory(name) for name in board.placement.arena]
    ends = {m.name: 0 for m in memories}
    placed = []
    for buffer in buffers:
        if buffer.home is not Home.STATE:
            placed.append(buffer)
            continue
        for memory in memories:
            offset = align_up(ends[memory.name], memory.alignment)
            if offset + buffer.size <= memory.usable:
                ends[memory.name] = offset + buffer.size
                placed.append(replace(buffer, memory=memory.name, offset=offset))
                break
        else:
            raise _over(graph, board, buffer, buffers)
    return placed


def _over(graph: Graph, board: Board, last: Buffer, buffers: Sequence[Buffer]) -> OverBudget:
    need = sum(b.size for b in buffers if b.home is Home.STATE)
    have = ", ".join(f"{n} {board.memory(n).usable:,} B" for n in board.placement.arena)
    return OverBudget(
        f"the state between runs needs {need:,} B of RAM and board {board.name} has {have}; "
        f"{graph.tensors[last.tensors[0]].label} with {last.size:,} B finds no room",
        ram_bytes=need,
    )
