"""Which engine of a board runs which operator, and why not the NPU, for `codegen inspect`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from codegen import ops
from codegen.board_schema import Board
from codegen.graph import Graph, Model, Node
from codegen.ops.base import Lowered, Table
from codegen.passes import simplified
from codegen.planner.control import has_control
from codegen.target import PORTABLE
from codegen.targets.npu import Assignment, partition


@dataclass(frozen=True)
class EngineRow:
    """One operator: `bytes_moved` are its constants, inputs and outputs, each once."""

    index: int
    kind: str
    engine: str
    reason: str
    macs: int
    bytes_moved: int


def engine_rows(model: Model, board: Board) -> tuple[EngineRow, ...]:
    """A row per operator that passes leave; one that no C can be written for says why.

    A board without an NPU runs everything on the CPU, and so does each with IF and WHILE.
    """
    graph = simplified(model)
    lowered, refused = ops.lower_possible(graph, PORTABLE)
    found = {a.node.index: a for a in _assignments(graph, board, lowered)}
    return tuple(
        _row(graph, node, found.get(node.index), lowered.get(node.index), refused)
        for node in graph.nodes
    )


def _assignments(graph: Graph, board: Board, lowered: dict[int, Lowered]) -> Iterator[Assignment]:
    if board.npu is None or has_control(graph):
        return
    nodes = tuple(node for node in graph.nodes if node.index in lowered)
    known = Graph(graph.name, graph.tensors, nodes, graph.inputs, graph.outputs)
    yield from partition(known, board.npu, lowered)


def _row(
    graph: Graph,
    node: Node,
    assignment: Assignment | None,
    lowered: Lowered | None,
    refused: dict[int, str],
) -> EngineRow:
    if lowered is None:
        return EngineRow(node.index, node.kind, "none", refused[node.index], 0, 0)
    engine = assignment.engine if assignment else "CPU"
    control = "models with IF or WHILE stay on the CPU" if has_control(graph) else ""
    reason = assignment.reason if assignment else control or "the board has no NPU"
    moved = 0 if engine == "view" else _bytes(graph, lowered)
    return EngineRow(node.index, node.kind, engine, reason, lowered.macs, moved)


def _bytes(graph: Graph, lowered: Lowered) -> int:
    tables = {
        value.key: value.values.nbytes
        for call in lowered.calls
        for _, value in call.params
        if isinstance(value, Table)
    }
    tensors = {a.tensor for call in lowered.calls for a in (*call.inputs, *call.outputs)}
    return sum(tables.values()) + sum(graph.tensors[t].nbytes for t in tensors)


def engine_dict(rows: tuple[EngineRow, ...], board: Board) -> dict[str, Any]:
    """The table for `--json`."""
    return {"board": board.name, "operators": [asdict(row) for row in rows]}


def engine_lines(rows: tuple[EngineRow, ...], board: Board) -> Iterator[str]:
    """The table for a terminal, with a line of sums per engine."""
    yield f"engines of {board.name}:"
    width = max((len(row.kind) for row in rows), default=4)
    yield f"{'op':>4}  {'kind':<{width}}  engine  {'MACs':>14}  {'bytes':>12}  why not the NPU"
    for row in rows:
        yield (
            f"{row.index:>4}  {row.kind:<{width}}  {row.engine:<6}  {row.macs:>14,}  "
            f"{row.bytes_moved:>12,}  {row.reason}"
        ).rstrip()
    for engine in dict.fromkeys(row.engine for row in rows):
        mine = [row for row in rows if row.engine == engine]
        macs, moved = sum(r.macs for r in mine), sum(r.bytes_moved for r in mine)
        yield f"{engine}: {len(mine)} operators, {macs:,} MACs, {moved:,} bytes"
    if board.npu is not None:
        yield "bytes: constants, inputs and outputs, each once; codegen plan shows what a run moves"
