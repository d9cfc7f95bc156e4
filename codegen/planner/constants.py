"""Constant tables: stored once when equal, and shared out over the board's flash memories."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from codegen.board_schema import Board, Memory
from codegen.errors import Unsupported
from codegen.graph import Graph, Node, State, Tensor
from codegen.ops.base import Call, Table, TableKind, table, weights
from codegen.plan import Buffer, Constant, Home
from codegen.planner.blocks import align_up
from codegen.planner.budget import over_flash


@dataclass(frozen=True, eq=False)
class Wanted:
    """A table and who needs it: as words for a C identifier, and as words for people."""

    owner: str
    table: Table
    label: str


def wanted_constants(graph: Graph, calls: Sequence[tuple[Node, Call]]) -> list[Wanted]:
    """Every table of every call, the constants that calls read as tensors, constant outputs."""
    wanted: list[Wanted] = []
    tables: dict[str, list[tuple[str, str, str]]] = {}  # of calls of one operator that differ
    for node, call in calls:
        for field, value in call.params:
            if isinstance(value, Table):
                name = field.replace(".", "_")  # of a struct inside the arguments
                keys = tables.setdefault(f"op{node.index:02d}_{name}", [])
                if value.key not in keys:
                    keys.append(value.key)
                number = keys.index(value.key)
                owner = f"op{node.index:02d}_{name}" + (f"_{number}" if number else "")
                wanted.append(Wanted(owner, value, f"{name} of {node.label}"))
    for tensor in _constant_tensors(graph, calls):
        wanted.append(Wanted(f"tensor{tensor.index}", _tensor_table(tensor), tensor.label))
    for state in graph.states:
        if (values := initial_table(state)) is not None:
            label = f"the first value of {graph.tensors[state.start].label}"
            wanted.append(Wanted(f"state{state.start}", values, label))
    return wanted


def initial_table(state: State) -> Table | None:
    """What a state starts with, as bytes; None where all of them are equal."""
    if len(set(state.initial)) <= 1:
        return None
    return table(np.frombuffer(state.initial, np.uint8))


def buffers_of_constants(
    graph: Graph, calls: Sequence[tuple[Node, Call]], constants: Sequence[Constant], end: int
) -> list[Buffer]:
    """Buffers in flash for constant tensors that kernels, or the caller, read where they are."""
    by_key = {c.table.key: c for c in constants}
    buffers = []
    for tensor in _constant_tensors(graph, calls):
        constant = by_key[_tensor_table(tensor).key]
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
    read = [access.tensor for _, call in calls for access in call.sources]
    tensors = [graph.tensors[t] for t in dict.fromkeys([*read, *graph.outputs])]
    return [tensor for tensor in tensors if tensor.is_constant]


def _tensor_table(tensor: Tensor) -> Table:
    if tensor.raw is None or tensor.dtype.numpy is None:
        raise Unsupported(
            f"{tensor.label} is a constant of type {tensor.dtype.value}, which no C type stores; "
            "remove it from the model"
        )
    return weights(np.frombuffer(tensor.raw, tensor.dtype.numpy))


def place_constants(
    wanted: Iterable[Wanted], board: Board, arena_bytes: Mapping[str, int]
) -> tuple[Constant, ...]:
    """Each different table once, in the first memory of the board's order with room for it.

    `arena_bytes` are taken already, by memory.

    Raises:
        OverBudget: when no memory has room, with all sizes.
    """
    unique: dict[tuple[str, str, str], Wanted] = {}
    for item in wanted:
        unique.setdefault(item.table.key, item)
    ends = _start(board, arena_bytes)
    constants = []
    for index, item in enumerate(unique.values()):
        order = (
            board.placement.weights
            if item.table.kind is TableKind.WEIGHTS
            else board.placement.tables
        )
        size = item.table.values.nbytes
        room = (m for m in map(board.memory, order) if _end(ends, m, size) <= m.usable)
        memory = next(room, None)
        if memory is None:
            sizes = [(w.label, w.table.values.nbytes) for w in unique.values()]
            raise over_flash(board, order, sizes)
        ends[memory.name] = _end(ends, memory, size)
        constants.append(Constant(index, item.table, memory.name, item.owner))
    return tuple(constants)


def used_bytes(
    constants: Iterable[Constant], board: Board, arena_bytes: Mapping[str, int]
) -> dict[str, int]:
    """Memory -> bytes of its arena and constants, gaps of alignment included."""
    ends = _start(board, arena_bytes)
    for constant in constants:
        ends[constant.memory] = _end(ends, board.memory(constant.memory), constant.nbytes)
    return ends


def _start(board: Board, arena_bytes: Mapping[str, int]) -> dict[str, int]:
    return {m.name: arena_bytes.get(m.name, 0) for m in board.memories}


def _end(ends: Mapping[str, int], memory: Memory, size: int) -> int:
    """Where a constant of `size` bytes would end, put behind what the memory holds."""
    return align_up(ends[memory.name], memory.alignment) + size
