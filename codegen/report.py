"""Plan -> what report.html and the terminal show: memories, buffers over time, layers."""

from __future__ import annotations

from dataclasses import dataclass

from codegen.occupancy import live_at, occupied
from codegen.picture import Picture, arena_picture
from codegen.plan import Home, Plan, layer_numbers


@dataclass(frozen=True)
class RowText:
    """One layer of the table; `number` is its place in the C code, None where it needs no code."""

    number: str | None
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


def _rows(plan: Plan) -> list[RowText]:
    in_arena = [b for b in plan.buffers if b.home is Home.ARENA]
    numbers = layer_numbers(plan)
    return [
        RowText(
            number=numbers.get(position),
            operator=layer.node.index,
            kind=layer.node.op,
            summary=layer.lowered.summary,
            output=", ".join(plan.graph.tensors[t].describe() for t in layer.node.outputs),
            macs=layer.lowered.macs,
            live=occupied(live_at(in_arena, position)),
            note=layer.note,
        )
        for position, layer in enumerate(plan.layers)
    ]
