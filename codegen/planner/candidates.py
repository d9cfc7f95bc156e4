"""What to try: execution orders, each with concatenations stored or virtual; the smallest wins.

Which order is best depends on how concatenations are stored, and the reverse. So orders are found
for three ways: each concatenation copied together (whatever storage then spares), each written in
place by its branches, and each virtual that can be. The real placement decides between them. Of a
plan with virtual ones as few stay virtual as its size allows: to gather rows takes time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from codegen.board_schema import Board
from codegen.errors import OverBudget, Unsupported
from codegen.graph import Graph
from codegen.ops.base import Lowered
from codegen.ops.copy import is_copy
from codegen.plan import PlanOptions
from codegen.planner import order
from codegen.planner.joins import in_place_traits, possible_joins, with_virtual
from codegen.planner.memory_modes import granted
from codegen.planner.order import OrderResult
from codegen.planner.order_cost import peak
from codegen.planner.order_problem import (
    callers_tensors,
    lowered_problem,
    lowered_traits,
    order_problem,
)
from codegen.planner.place import OverLimit, Placement, Trial, place_tensors

if TYPE_CHECKING:
    from codegen.planner.control import ControlPlan

PRUNED_NODES = 1500  # nodes placed while virtual concatenations are taken back: well below a second


TRY_SECONDS = 0.05  # of work for the arena strategy in each try
_UNTRIED = "stored, it needs more memory"


@dataclass(frozen=True, eq=False)
class Variant:
    """A lowered graph, some of its joins virtual, and orders for it by the name of the strategy.

    `exact` tells that no placement is smaller than the peak of its order.
    """

    graph: Graph
    lowered: Mapping[int, Lowered]
    orders: Mapping[str, OrderResult]
    virtual: frozenset[int] = frozenset()
    exact: bool = True


@dataclass(frozen=True, eq=False)
class Prepared:
    """What no strategy changes: operators lowered, in variants, with orders and their peaks.

    `controls` are the plans of what stands inside of control operators, by node index.
    """

    variants: tuple[Variant, ...]
    controls: Mapping[int, ControlPlan] = field(default_factory=dict)

    @property
    def plain(self) -> Variant:
        """The graph as it is, and every order strategy."""
        return self.variants[0]


@dataclass(frozen=True, eq=False)
class Candidate:
    """A placement with all forms leanest, and the order that it follows.

    `virtual` tells of every join that is, by node index, why: what storing it would come to.
    `limit` is what the arenas may take in all, if not everything that the board has; up to `room`
    the peak may grow for the sake of fewer copies.
    """

    order: OrderResult
    placed: Placement
    virtual: Mapping[int, str]
    limit: int | None = None
    room: int = 0

    @property
    def bytes(self) -> int:
        """Of all arenas."""
        return self.placed.solution.bytes


def prepare(
    graph: Graph, options: PlanOptions, lowered: Mapping[int, Lowered], *, virtual: bool = True
) -> Prepared:
    """Find every order of a graph whose operators are lowered; `virtual`: joins may be.

    Raises:
        Unsupported: if outputs cannot be written to buffers of the caller's, as is asked.
    """
    if options.caller_io:
        _check_caller_io(graph)
    orders = order.compare_orders(graph, lowered_problem(graph, lowered, options))
    variants = [Variant(graph, lowered, orders)]
    variants += _in_place(graph, lowered, options)
    joins = possible_joins(graph, lowered) if virtual else ()
    if joins:
        variants.append(_virtual(graph, lowered, options, joins))
    return Prepared(tuple(variants))


def _in_place(
    graph: Graph, lowered: Mapping[int, Lowered], options: PlanOptions
) -> Iterator[Variant]:
    """The order that is best if branches write right into what joins them; no bound on others."""
    external = callers_tensors(graph, options)
    traits = in_place_traits(graph, lowered, lowered_traits(graph, lowered, external))
    if traits:
        problem = order_problem(graph, traits, external=external, keep_inputs=options.keep_input)
        best = order.compare_orders(graph, problem)["optimal"]
        yield Variant(graph, lowered, {best.name: best}, exact=False)


def _virtual(
    graph: Graph, lowered: Mapping[int, Lowered], options: PlanOptions, joins: Sequence[int]
) -> Variant:
    """The graph with all these joins virtual, in orders that are legal if some are not."""
    changed = with_virtual(graph, lowered, joins)
    problem = lowered_problem(changed.graph, changed.lowered, options)
    orders = order.compare_orders(changed.graph, problem)
    place = {node.index: i for i, node in enumerate(graph.nodes)}
    legal = {
        name: replace(
            result, nodes=tuple(changed.graph.nodes[place[i]] for i in _late(graph, result, joins))
        )
        for name, result in orders.items()
    }
    return Variant(changed.graph, changed.lowered, legal, frozenset(joins))


def _late(graph: Graph, result: OrderResult, joins: Collection[int]) -> Iterator[int]:
    """Node indices in the order of `result`, each join right before what first needs it."""
    by_index = {node.index: node for node in graph.nodes}
    producer = {t: node.index for node in graph.nodes for t in node.outputs}
    waiting = set(joins)

    def needed(index: int) -> Iterator[int]:
        for t in by_index[index].inputs:
            if producer.get(t) in waiting:
                yield from needed(producer[t])
        waiting.discard(index)
        yield index

    for node in result.nodes:
        if node.index not in joins:
            yield from needed(node.index)


def best_candidate(board: Board, options: PlanOptions, prepared: Prepared) -> Candidate:
    """The placement in the order that was asked for, or in the best one for `auto`.

    It is the smallest of all, or one with fewer virtual joins within the memory that is granted.

    Raises:
        OverBudget: if none fits the board.
        CodegenError: for an unknown strategy or memory mode.
    """
    found = list(_improving(board, options, prepared))
    limit = granted(options.memory, found[-1].bytes)
    enough = (c for c in found if not c.virtual and (limit is None or c.bytes <= limit))
    best = min(enough, key=lambda c: c.bytes, default=found[-1])
    if best.virtual:
        best = _Pruning(board, options, prepared.plain, best, limit).run()
    return _with_fewer_copies(board, options, replace(best, limit=limit))


def _with_fewer_copies(board: Board, options: PlanOptions, best: Candidate) -> Candidate:
    """The candidate with copies dropped that only memory beyond the least allows."""
    granted_all = sum(board.memory(name).usable for name in board.placement.arena)
    room = granted_all if best.limit is None else best.limit
    if not any(is_copy(c) for calls in best.placed.calls.values() for c in calls):
        return replace(best, room=room)
    try:
        placed = place_tensors(
            best.placed.graph,
            board,
            options,
            best.placed.nodes,
            best.placed.lowered,
            Trial(best.limit, TRY_SECONDS, room),
        )
    except (OverBudget, OverLimit):
        return best
    if len(placed.storage.dropped) <= len(best.placed.storage.dropped):
        return best
    return replace(best, placed=placed, room=room)


def _improving(board: Board, options: PlanOptions, prepared: Prepared) -> Iterator[Candidate]:
    """Placements in all orders that may be used, each smaller than the ones before."""
    best: Candidate | None = None
    refused: OverBudget | None = None
    for variant, result in _tries(prepared, options.order):
        if best and variant.exact and result.peak >= best.bytes:
            continue
        try:
            placed = place_tensors(variant.graph, board, options, result.nodes, variant.lowered)
        except OverBudget as error:
            refused = refused or error
            continue
        if best is None or placed.solution.bytes < best.bytes:
            best = Candidate(result, placed, dict.fromkeys(variant.virtual, _UNTRIED))
            yield best
    if best is None:
        raise refused or AssertionError("there is no order to try")


def _tries(prepared: Prepared, name: str) -> Iterator[tuple[Variant, OrderResult]]:
    """Variants with the orders that may be used, no sequence twice, the most hopeful first."""
    tried: set[tuple[int, tuple[int, ...]]] = set()
    for variant in prepared.variants:
        if variant is not prepared.plain and name not in ("auto", *variant.orders):
            continue
        first = order.choose_order(variant.orders, name)
        others = sorted(variant.orders.values(), key=lambda result: result.peak)
        for result in (first, *(others if name == "auto" else ())):
            sequence = (id(variant.graph), tuple(node.index for node in result.nodes))
            if sequence not in tried:
                tried.add(sequence)
                yield variant, result


class _Pruning:
    """Takes virtual joins back, one after the other, as long as the arena stays in the limit."""

    def __init__(
        self,
        board: Board,
        options: PlanOptions,
        plain: Variant,
        best: Candidate,
        limit: int | None,
    ) -> None:
        self._board, self._options, self._plain, self._best = board, options, plain, best
        self._limit = limit
        self._sequence = [node.index for node in best.order.nodes]
        self._tries = 2 + PRUNED_NODES // len(self._sequence)
        self._why: dict[int, str] = {}

    def run(self) -> Candidate:
        """First by the peak of the order, which counts no sharing; then by real placements."""
        few = set(self._best.virtual)
        for join in sorted(self._best.virtual):
            if self._limit is None or self._peak(few - {join}) <= self._limit:
                few.discard(join)
        self._try(few, None)
        for join in sorted(self._best.virtual):
            if join in self._best.virtual and self._tries > 0:
                self._why[join] = self._try(self._best.virtual.keys() - {join}, TRY_SECONDS)
        return replace(
            self._best, virtual={join: self._why.get(join, _UNTRIED) for join in self._best.virtual}
        )

    def _peak(self, virtual: Collection[int]) -> int:
        changed = with_virtual(self._plain.graph, self._plain.lowered, virtual)
        problem = lowered_problem(changed.graph, changed.lowered, self._options)
        place = {node.index: i for i, node in enumerate(changed.graph.nodes)}
        return peak(problem, [place[index] for index in self._sequence])

    def _try(self, virtual: Collection[int], seconds: float | None) -> str:
        """Make only these virtual if the arena stays in the limit; if not, what it came to."""
        if virtual == self._best.virtual.keys():
            return _UNTRIED
        self._tries -= 1
        changed = with_virtual(self._plain.graph, self._plain.lowered, virtual)
        by_index = {node.index: node for node in changed.graph.nodes}
        nodes = tuple(by_index[index] for index in self._sequence)
        trial = Trial(self._limit, seconds)
        try:
            placed = place_tensors(
                changed.graph, self._board, self._options, nodes, changed.lowered, trial
            )
        except OverBudget:
            return "stored, it does not fit the board"
        except OverLimit as error:
            return f"stored, it makes the arena {error.bytes:,} B"
        result = replace(self._best.order, nodes=nodes)
        self._best = Candidate(result, placed, dict.fromkeys(virtual, _UNTRIED))
        return _UNTRIED


def _check_caller_io(graph: Graph) -> None:
    """The caller's output buffers must each have an operator that fills them."""
    produced = graph.producers()
    for t in graph.outputs:
        if t not in produced or graph.outputs.count(t) > 1:
            raise Unsupported(
                f"output {graph.tensors[t].label} is no operator's result of its own, so it cannot "
                "be written to a buffer of the caller's; build with --io-buffers arena"
            )
