"""Constant tables: stored once when equal, and shared out over the board's flash memories."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from codegen.board_schema import Board
from codegen.errors import OverBudget
from codegen.ops.base import Table, TableKind
from codegen.plan import Constant


@dataclass(frozen=True, eq=False)
class Wanted:
    """A table and the layer (or tensor) that needs it, as words for a C identifier."""

    owner: str
    table: Table


def table_key(item: Table) -> tuple[str, str, str]:
    """What makes two tables the same: their kind, element type and bytes."""
    digest = hashlib.sha256(item.values.tobytes()).hexdigest()
    return item.kind.value, item.values.dtype.str, digest


def place_constants(wanted: Iterable[Wanted], board: Board) -> tuple[Constant, ...]:
    """Each different table once, in the first memory of the board's order with room for it.

    Raises:
        OverBudget: when no memory has room, with all sizes.
    """
    unique: dict[tuple[str, str, str], Wanted] = {}
    for item in wanted:
        unique.setdefault(table_key(item.table), item)
    used = dict.fromkeys([m.name for m in board.memories], 0)
    constants = []
    for index, item in enumerate(unique.values()):
        order = (
            board.placement.weights
            if item.table.kind is TableKind.WEIGHTS
            else board.placement.tables
        )
        memory = _room(item, order, board, used, list(unique.values()))
        constants.append(Constant(index, item.table, memory, item.owner))
    return tuple(constants)


def _room(
    item: Wanted,
    order: Sequence[str],
    board: Board,
    used: dict[str, int],
    everything: Sequence[Wanted],
) -> str:
    """The first memory with room for `item`; its bytes are taken there."""
    size = item.table.values.nbytes
    for name in order:
        memory = board.memory(name)
        start = -(-used[name] // memory.alignment) * memory.alignment
        if start + size <= memory.usable:
            used[name] = start + size
            return name
    total = sum(w.table.values.nbytes for w in everything)
    room = ", ".join(f"{n} {board.memory(n).usable:,} B" for n in dict.fromkeys(order))
    raise OverBudget(
        f"the model's weights and tables need {total:,} B of flash and board {board.name} "
        f"has {room}; {item.owner} ({size:,} B) does not fit; choose a board with more flash"
    )
