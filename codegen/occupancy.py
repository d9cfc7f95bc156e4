"""How full the arenas of a plan are, layer by layer."""

from __future__ import annotations

from dataclasses import dataclass

from codegen.plan import Buffer, Home, Plan


@dataclass(frozen=True)
class Peak:
    """The layer where most of the arena is in use, and the buffers that live there."""

    position: int
    operator: str
    buffers: tuple[Buffer, ...]


def peak_of(plan: Plan) -> Peak | None:
    """Where the arena is fullest; None for a plan without layers or arena."""
    placed = [b for b in plan.buffers if b.home is Home.ARENA]
    if not placed or not plan.layers:
        return None
    used = [occupied(live_at(placed, i)) for i in range(len(plan.layers))]
    position = used.index(max(used))
    live = sorted(live_at(placed, position), key=lambda b: -b.size)
    return Peak(position, plan.layers[position].node.label, tuple(live))


def live_at(buffers: list[Buffer], position: int) -> list[Buffer]:
    """The buffers that count in a layer."""
    return [b for b in buffers if b.first <= position <= b.last]


def occupied(buffers: list[Buffer]) -> int:
    """Bytes that at least one buffer covers; those that overlap by row lag count once."""
    total = 0
    for memory in {b.memory for b in buffers}:
        end = 0
        for b in sorted((b for b in buffers if b.memory == memory), key=lambda b: b.offset):
            total += max(0, b.offset + b.size - max(end, b.offset))
            end = max(end, b.offset + b.size)
    return total
