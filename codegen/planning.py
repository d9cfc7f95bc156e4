"""`codegen plan`: figures of every strategy, the plan that is chosen, and its picture.

Works on every valid model by shapes and sizes alone; operators that no C can be written for are
planned as opaque ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from codegen import ops
from codegen.board_schema import Board
from codegen.boards import load_board
from codegen.emit.files import environment
from codegen.errors import CodegenError, OverBudget
from codegen.graph import Graph, Model
from codegen.memory_map import memory_map
from codegen.occupancy import peak_of
from codegen.ops.base import Lowered
from codegen.ops.opaque import SUMMARY as OPAQUE
from codegen.ops.opaque import opaque, with_plain_types
from codegen.passes import simplified
from codegen.picture import arena_picture, buffer_label, short_label
from codegen.plan import Layer, Plan, PlanOptions
from codegen.planner.budget import with_advice
from codegen.planner.build import plan_prepared
from codegen.planner.candidates import Prepared
from codegen.planner.compare import StrategyFigures, chosen_figures, compare_strategies
from codegen.planner.control import prepare_all
from codegen.planner.order import OrderResult
from codegen.target import Target, target_of


@dataclass(frozen=True, eq=False)
class Planning:
    """What `codegen plan` found.

    `orders` are those of the graph with every concatenation stored; `refused` is why operators
    cannot be built, by index.
    """

    plan: Plan
    orders: tuple[OrderResult, ...]
    strategies: tuple[StrategyFigures, ...]
    refused: dict[int, str]

    @property
    def chosen(self) -> StrategyFigures:
        return chosen_figures(self.plan)

    def to_json(self) -> dict[str, Any]:
        """What `codegen plan --json` prints."""
        peak = peak_of(self.plan)
        return {
            "strategies": [figures.to_json() for figures in self.strategies],
            "orders": [
                {"order": o.name, "peak": o.peak, "proven": o.proven, "note": o.note}
                for o in self.orders
            ],
            "chosen": self.chosen.to_json(),
            "peak": peak
            and {
                "op": peak.operator,
                "tensors": [
                    {"name": buffer_label(self.plan, b), "bytes": b.size} for b in peak.buffers
                ],
            },
            "unsupported": self.refused,
        }

    def lines(self, width: int) -> Iterator[str]:
        """The table of strategies, the peak and the memory map, for a terminal of this width."""
        yield f"{'order':<9}{'arena':<11}{'bytes':>12}{'bound':>12}{'gap':>9}{'seconds':>9}"
        chosen = self.chosen
        for f in self.strategies:
            star = "  <- chosen" if (f.order, f.arena) == (chosen.order, chosen.arena) else ""
            state = "proven" if f.proven else "" if f.fits else "does not fit"
            gap = f"{f.bytes - f.lower_bound:,}" if f.fits else ""
            bound = f"{f.lower_bound:,}" if f.fits else ""
            yield (
                f"{f.order:<9}{f.arena:<11}{f.bytes:>12,}{bound:>12}{gap:>9}{f.seconds:>9.3f}"
                f"  {state}{star}"
            ).rstrip()
        yield ""
        for o in self.orders:
            yield f"order {o.name:<8} {o.peak:>12,} B live at most; {o.note}"
        yield ""
        yield f"chosen with --memory {self.plan.options.memory}: {chosen.bytes:,} B"
        if peak := peak_of(self.plan):
            names = ", ".join(f"{short_label(self.plan, b)} {b.size:,} B" for b in peak.buffers[:4])
            yield f"peak at {peak.operator}: {names}"
            yield ""
        yield memory_map(self.plan, width)
        if self.refused:
            yield ""
            yield f"{len(self.refused)} operators cannot be built and are planned as opaque:"
            yield from (f"  {reason}" for reason in self.refused.values())


def plan_model(
    model: Model,
    board: Board,
    options: PlanOptions,
    progress: Callable[[str], None],
    others: Sequence[Board] = (),
) -> Planning:
    """Plan the main graph with every strategy. `others` are named if the board is too small.

    Raises:
        OverBudget: if not even the best plan fits the board.
    """
    graph = _plannable(model)
    progress("finding orders")
    prepared, refused = _prepared(graph, board, options)
    strategies = []
    for figures in compare_strategies(board, options, prepared):
        progress(f"{figures.order}, {figures.arena}: {figures.bytes:,} B")
        strategies.append(figures)
    try:
        plan = plan_prepared(board, options, prepared)
    except OverBudget as error:
        raise with_advice(
            error,
            board,
            others,
            options,
            lambda b, asked: plan_prepared(b, asked, _prepared(graph, b, asked)[0]),
        ) from None
    orders = tuple(prepared.plain.orders.values())
    return Planning(plan, orders, tuple(strategies), refused)


def chosen_plan(model: Model, board: Board, options: PlanOptions) -> Plan:
    """The plan alone, of any valid model.

    Raises:
        OverBudget: if it does not fit the board.
    """
    prepared, _ = _prepared(_plannable(model), board, options)
    return plan_prepared(board, options, prepared)


def concatenations(model: Model) -> dict[int, str]:
    """Operator index -> what becomes of a concatenation on the host: copied, in place, virtual.

    None if the model is too large even for that.
    """
    try:
        plan = chosen_plan(model, load_board("host"), PlanOptions())
    except CodegenError:
        return {}
    joins = (layer for layer in plan.layers if layer.node.op == "CONCATENATION")
    return {layer.node.index: _way(layer) for layer in joins}


def _way(layer: Layer) -> str:
    if layer.note or layer.lowered.summary == OPAQUE:
        return layer.note or layer.lowered.summary
    return "copied"


def _plannable(model: Model) -> Graph:
    """The main graph after the passes, if they take it, with sizes for all tensors."""
    return with_plain_types(simplified(model))


def _prepared(graph: Graph, board: Board, options: PlanOptions) -> tuple[Prepared, dict[int, str]]:
    """All orders, and why operators cannot be built."""
    target = target_of(
        board.cpu, options.kernels, options.reference, options.optimize, options.weights_growth
    )
    lowered, refused = _lower_or_opaque(graph, target)
    return prepare_all(graph, board, options, lowered), refused


def _lower_or_opaque(graph: Graph, target: Target) -> tuple[dict[int, Lowered], dict[int, str]]:
    lowered, refused = ops.lower_possible(graph, target)
    computed = {*graph.inputs, *graph.producers()}
    for node in graph.nodes:
        if node.index in refused:
            lowered[node.index] = opaque(graph, node, computed)
    return lowered, refused


def svg(plan: Plan) -> str:
    """The arena over time as an SVG document, one picture per memory below the other."""
    pictures = [arena_picture(plan, memory) for memory in plan.arena_bytes]
    return (
        environment()
        .get_template("arenas.svg.j2")
        .render(
            pictures=pictures,
            width=max((p.width for p in pictures), default=100.0),
            height=sum(p.height for p in pictures),
        )
    )
