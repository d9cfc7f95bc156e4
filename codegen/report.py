"""Plan -> what report.html and the terminal show: memories, buffers over time, layers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from codegen.picture import Picture, arena_picture
from codegen.plan import Buffer, Home, Plan


@dataclass(frozen=True)
class RowText:
    """One layer of the table."""

    operator: int
    kind: str
    summary: str
    output: str
    macs: int
    live: int
    note: str


@dataclass(frozen=True)
class Report:
    """Everything the report shows."""

    arenas: tuple[Picture, ...]
    memories: tuple[tuple[str, int, int], ...]
    rows: tuple[RowText, ...]
    lower_bound: int
    order: str
    arena: str


def report_context(plan: Plan) -> Report:
    """Gather the report of a plan."""
    return Report(
        arenas=tuple(arena_picture(plan, memory) for memory in plan.arena_bytes),
        memories=tuple((name, use.used, use.size) for name, use in plan.memories.items()),
        rows=tuple(_rows(plan)),
        lower_bound=plan.lower_bound,
        order=plan.order_strategy,
        arena=plan.arena_strategy,
    )


def _occupied(buffers: Sequence[Buffer]) -> int:
    """Bytes that at least one buffer covers; those that overlap by row lag count once."""
    total = 0
    for memory in {b.memory for b in buffers}:
        end = 0
        for b in sorted((b for b in buffers if b.memory == memory), key=lambda b: b.offset):
            total += max(0, b.offset + b.size - max(end, b.offset))
            end = max(end, b.offset + b.size)
    return total


def _rows(plan: Plan) -> list[RowText]:
    in_arena = [b for b in plan.buffers if b.home is Home.ARENA]
    return [
        RowText(
            operator=layer.node.index,
            kind=layer.node.op,
            summary=layer.lowered.summary,
            output=", ".join(plan.graph.tensors[t].describe() for t in layer.node.outputs),
            macs=layer.lowered.macs,
            live=_occupied([b for b in in_arena if b.first <= position <= b.last]),
            note=layer.note,
        )
        for position, layer in enumerate(plan.layers)
    ]
