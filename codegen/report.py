"""Plan -> what report.html and the terminal show: memories, buffers over time, layers."""

from __future__ import annotations

from dataclasses import dataclass

from codegen.plan import Buffer, Home, Plan


@dataclass(frozen=True)
class BarText:
    """One buffer in the picture of the arena: layers to the right, bytes upwards."""

    name: str
    memory: str
    offset: int
    size: int
    first: int
    last: int
    hue: int


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

    layer_count: int
    arenas: tuple[tuple[str, int, tuple[BarText, ...]], ...]
    memories: tuple[tuple[str, int, int], ...]
    rows: tuple[RowText, ...]
    lower_bound: int
    order: str
    arena: str


def buffer_label(plan: Plan, buffer: Buffer) -> str:
    """The names of what lies in a buffer."""
    names = [plan.graph.tensors[t].name for t in buffer.tensors]
    return ", ".join(names) or f"{buffer.name} (kernel scratch)"


def report_context(plan: Plan) -> Report:
    """Gather the report of a plan."""
    count = len(plan.layers)
    arenas = tuple(
        (memory, size, tuple(_bars(plan, memory))) for memory, size in plan.arena_bytes.items()
    )
    return Report(
        layer_count=count,
        arenas=arenas,
        memories=tuple((name, use.used, use.size) for name, use in plan.memories.items()),
        rows=tuple(_rows(plan)),
        lower_bound=plan.lower_bound,
        order=plan.order_strategy,
        arena=plan.arena_strategy,
    )


def _bars(plan: Plan, memory: str) -> list[BarText]:
    placed = [b for b in plan.buffers if b.home is Home.ARENA and b.memory == memory]
    return [
        BarText(buffer_label(plan, b), memory, b.offset, b.size, b.first, b.last, i * 47 % 360)
        for i, b in enumerate(placed)
    ]


def _rows(plan: Plan) -> list[RowText]:
    in_arena = [b for b in plan.buffers if b.home is Home.ARENA]
    return [
        RowText(
            operator=layer.node.index,
            kind=layer.node.op,
            summary=layer.lowered.summary,
            output=", ".join(plan.graph.tensors[t].describe() for t in layer.node.outputs),
            macs=layer.lowered.macs,
            live=sum(b.size for b in in_arena if b.first <= position <= b.last),
            note=layer.note,
        )
        for position, layer in enumerate(plan.layers)
    ]
