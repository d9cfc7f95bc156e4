"""Constant tables: stored once when equal, and shared out over the board's flash memories."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from codegen.board_schema import Board
from codegen.errors import OverBudget, Unsupported
from codegen.graph import Graph, Node, Tensor
from codegen.ops.base import Call, Table, TableKind, weights
from codegen.plan import Buffer, Constant, Home


@dataclass(frozen=True, eq=False)
class Wanted:
    """A table and the layer (or tensor) that needs it, as words for a C identifier."""

    owner: str
    table: Table


def wanted_constants(graph: Graph, calls: Sequence[tuple[Node, Call]]) -> list[Wanted]:
    """Every table of every call, the constants that calls read as tensors, constant outputs."""
    wanted: list[Wanted] = []
    for node, call in calls:
        for field, value in call.params:
            if isinstance(value, Table):
                wanted.append(Wanted(f"op{node.index:02d}_{field}", value))
    for tensor in _constant_tensors(graph, calls):
        wanted.append(Wanted(f"tensor{tensor.index}", _tensor_table(tensor)))
    return wanted


def buffers_of_constants(
    graph: Graph, calls: Sequence[tuple[Node, Call]], constants: Sequence[Constant], end: int
) -> list[Buffer]:
    """Buffers in flash for constant tensors that kernels, or the caller, read where they are."""
    by_key = {table_key(c.table): c for c in constants}
    buffers = []
    for tensor in _constant_tensors(graph, calls):
        constant = by_key[table_key(_tensor_table(tensor))]
        buffers.append(
            Buffer(
                name=f"t{tensor.index}",
                home=Home.CONSTANT,
                memory=constant.memory,
                offset=0,
                size=tensor.nbytes,
                first=-1,
                last=end,
                tensors=(tensor.index,),
                index=constant.index,
            )
        )
    return buffers


def _constant_tensors(graph: Graph, calls: Sequence[tuple[Node, Call]]) -> list[Tensor]:
    read = [access.tensor for _, call in calls for access in call.inputs]
    tensors = [graph.tensors[t] for t in dict.fromkeys([*read, *graph.outputs])]
    return [tensor for tensor in tensors if tensor.is_constant]


def _tensor_table(tensor: Tensor) -> Table:
    if tensor.raw is None or tensor.dtype.numpy is None:
        raise Unsupported(
            f"{tensor.label} is a constant of type {tensor.dtype.value}, which no C type stores; "
            "remove it from the model"
        )
    return weights(np.frombuffer(tensor.raw, tensor.dtype.numpy))


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
