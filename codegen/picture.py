"""The arena over time as a picture: layers to the right, addresses upwards, one box per buffer."""

from __future__ import annotations

import math
from dataclasses import dataclass

from codegen.plan import Buffer, Home, Plan

LEFT, TOP, RIGHT, BOTTOM = 84.0, 34.0, 20.0, 110.0
PLOT_HEIGHT = 420.0
MIN_WIDTH, PER_LAYER = 560.0, 26.0
LETTER = 6.2
"""Width of a character of a label, in units of the picture."""
MAX_TICKS = 60


@dataclass(frozen=True)
class Bar:
    """One buffer; `label` is empty where it would not fit."""

    x: float
    y: float
    width: float
    height: float
    hue: int
    label: str
    title: str


@dataclass(frozen=True)
class Tick:
    """A mark on an axis: where, and what it says."""

    at: float
    text: str


@dataclass(frozen=True)
class Picture:
    """Everything that templates/arena.svg.j2 draws; sizes in units of the picture."""

    width: float
    height: float
    left: float
    top: float
    right: float
    bottom: float
    title: str
    bars: tuple[Bar, ...]
    layers: tuple[Tick, ...]
    addresses: tuple[Tick, ...]
    bound: float
    bound_text: str


def buffer_label(plan: Plan, buffer: Buffer) -> str:
    """The names of what lies in a buffer."""
    names = [plan.graph.tensors[t].name for t in buffer.tensors]
    return ", ".join(names) or f"{buffer.name} (kernel scratch)"


def short_label(plan: Plan, buffer: Buffer, length: int = 60) -> str:
    """The same for a line of text: converters join the names of fused tensors with semicolons."""
    names = [plan.graph.tensors[t].name.split(";")[0] for t in buffer.tensors]
    text = ", ".join(names) or buffer_label(plan, buffer)
    # The tensors of a model share the beginning of their names.
    return text if len(text) <= length else "…" + text[len(text) - max(0, length - 1) :]


def arena_picture(plan: Plan, memory: str) -> Picture:
    """The buffers in one memory's arena."""
    columns = len(plan.layers) + 2
    plot_width = max(MIN_WIDTH, PER_LAYER * columns)
    size = max(1, plan.arena_bytes[memory])
    column, unit = plot_width / columns, PLOT_HEIGHT / size
    base = TOP + PLOT_HEIGHT
    placed = [b for b in plan.buffers if b.home is Home.ARENA and b.memory == memory]
    return Picture(
        width=LEFT + plot_width + RIGHT,
        height=base + BOTTOM,
        left=LEFT,
        top=TOP,
        right=LEFT + plot_width,
        bottom=base,
        title=f"{memory}: {size:,} bytes over {len(plan.layers)} layers",
        bars=tuple(_bar(plan, b, i, column, unit, base) for i, b in enumerate(placed)),
        layers=tuple(_layer_ticks(plan, column)),
        addresses=tuple(
            Tick(base - address * unit, f"{address:,}") for address in _round_steps(size)
        ),
        bound=base - min(plan.lower_bound, size) * unit,
        bound_text=f"lower bound {plan.lower_bound:,}",
    )


def _bar(plan: Plan, buffer: Buffer, index: int, column: float, unit: float, base: float) -> Bar:
    name = buffer_label(plan, buffer)
    width = (buffer.last - buffer.first + 1) * column
    height = buffer.size * unit
    room = int((width - 6) / LETTER)
    label = short_label(plan, buffer, room)
    return Bar(
        x=LEFT + (buffer.first + 1) * column,
        y=base - (buffer.offset + buffer.size) * unit,
        width=width,
        height=height,
        hue=index * 137 % 360,
        label=label if height >= 12 and room >= 3 else "",
        title=(
            f"{name}: {buffer.size:,} bytes at {buffer.offset:,}, "
            f"layers {buffer.first} to {buffer.last}"
        ),
    )


def _layer_ticks(plan: Plan, column: float) -> list[Tick]:
    """Operators under their columns, every k-th where they are many."""
    step = math.ceil(len(plan.layers) / MAX_TICKS)
    return [
        Tick(LEFT + (i + 1.5) * column, f"{layer.node.index} {layer.node.op}")
        for i, layer in enumerate(plan.layers)
        if i % max(1, step) == 0
    ]


def _round_steps(size: int) -> list[int]:
    """Multiples of 1, 2 or 5 times a power of ten, four to ten of them up to `size`."""
    magnitude = 10 ** max(0, len(str(size)) - 1)
    candidates = [s for s in (magnitude, magnitude // 2, magnitude // 5) if s and size // s >= 4]
    step = candidates[0] if candidates else 1
    return list(range(0, size + 1, step))
