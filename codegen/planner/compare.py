"""Every order with every arena strategy: what `codegen plan` shows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

from codegen.board_schema import Board
from codegen.errors import OverBudget
from codegen.plan import Plan, PlanOptions
from codegen.planner import arena
from codegen.planner.candidates import Prepared, best_candidate


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
    board: Board, options: PlanOptions, prepared: Prepared
) -> Iterator[StrategyFigures]:
    """The least size of the arena for every pair of strategies, ready one after the other."""
    for name in prepared.plain.orders:
        for strategy in arena.STRATEGIES:
            asked = replace(options, order=name, arena=strategy, memory="min")
            try:
                placed = best_candidate(board, asked, prepared).placed
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
