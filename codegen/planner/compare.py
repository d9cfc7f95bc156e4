"""Every order with every arena strategy: what `codegen plan` shows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

from codegen.board_schema import Board
from codegen.errors import OverBudget
from codegen.graph import Graph
from codegen.plan import Buffer, Home, Plan, PlanOptions
from codegen.planner import arena
from codegen.planner.build import Prepared
from codegen.planner.place import place_tensors


@dataclass(frozen=True)
class StrategyFigures:
    """One order with one arena strategy; `fits` is whether the board has that much memory."""

    order: str
    arena: str
    bytes: int
    lower_bound: int
    proven: bool
    seconds: float
    fits: bool = True

    def to_json(self) -> dict[str, Any]:
        """The entry in `codegen plan --json`."""
        figures = asdict(self)
        del figures["fits"]
        return figures | {"seconds": round(self.seconds, 4)}


def compare_strategies(
    graph: Graph, board: Board, options: PlanOptions, prepared: Prepared
) -> Iterator[StrategyFigures]:
    """The size of the arena for every pair of strategies, ready one after the other."""
    for name, result in prepared.orders.items():
        for strategy in arena.STRATEGIES:
            asked = replace(options, order=name, arena=strategy)
            try:
                placed = place_tensors(graph, board, asked, result.nodes, prepared.lowered)
            except OverBudget as error:
                yield StrategyFigures(name, strategy, error.ram_bytes, 0, False, 0.0, fits=False)
                continue
            found = placed.solution
            yield StrategyFigures(
                name, strategy, found.bytes, found.lower_bound, found.proven, found.seconds
            )


def chosen_figures(plan: Plan) -> StrategyFigures:
    """What the plan itself came to."""
    return StrategyFigures(
        order=plan.order_strategy,
        arena=plan.arena_strategy,
        bytes=plan.total_arena,
        lower_bound=plan.lower_bound,
        proven=plan.proven,
        seconds=plan.arena_seconds,
    )


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
