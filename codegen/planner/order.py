"""Execution order: strategies by name, and the least memory that each of them can do with.

A strategy maps an `OrderProblem`, whose works stand in the order of the file, to a legal order.
`optimal` is the exact search of `order_optimal`, `auto` the best of all; on equal peaks the
strategy named first wins, so that a file's order is kept unless another one saves memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from codegen.errors import CodegenError
from codegen.graph import Graph, Node
from codegen.planner.order_cost import OrderProblem, peak, successors
from codegen.planner.order_optimal import Optimum, find_optimum

Order = tuple[int, ...]


@dataclass(frozen=True)
class OrderResult:
    """What one strategy comes to.

    Attributes:
        name: the strategy.
        nodes: a legal order of the graph's nodes.
        peak: most live bytes.
        proven: no order has a lower peak.
        note: why it is proven or not, in a few words.
    """

    name: str
    nodes: tuple[Node, ...]
    peak: int
    proven: bool
    note: str


def model_order(problem: OrderProblem) -> Order:
    """The order of the file, which the importer has made executable."""
    return tuple(range(len(problem.works)))


def dfs_order(problem: OrderProblem) -> Order:
    """Finish one branch, then the next: of the works that can run, the one that became so last.

    Of those that became so at once, the first in the file goes first.
    """
    waiting, behind = [len(work.after) for work in problem.works], successors(problem)
    stack = [i for i in reversed(range(len(waiting))) if not waiting[i]]
    order = []
    while stack:
        work = stack.pop()
        order.append(work)
        for s in behind[work]:
            waiting[s] -= 1
        stack.extend(s for s in reversed(behind[work]) if not waiting[s])
    return tuple(order)


def bfs_order(problem: OrderProblem) -> Order:
    """Level by level: a work's level is the length of the longest way to it from the start."""
    level: list[int] = []
    for work in problem.works:
        level.append(1 + max((level[a] for a in work.after), default=0))
    return tuple(sorted(range(len(level)), key=lambda i: (level[i], i)))


RULES: dict[str, Callable[[OrderProblem], Order]] = {
    "model": model_order,
    "dfs": dfs_order,
    "bfs": bfs_order,
}
STRATEGIES = (*RULES, "optimal")


def compare_orders(graph: Graph, problem: OrderProblem) -> dict[str, OrderResult]:
    """Every strategy's result by name, for a problem made of `graph`."""
    orders = {name: rule(problem) for name, rule in RULES.items()}
    best = find_optimum(problem, tuple(orders.values()))
    orders["optimal"] = best.order
    return {name: _result(graph, problem, best, name, order) for name, order in orders.items()}


def _result(
    graph: Graph, problem: OrderProblem, best: Optimum, name: str, order: Order
) -> OrderResult:
    bytes_live = peak(problem, order)
    proven = bytes_live == best.bound
    if proven:
        note = "no order needs less"
    elif best.peak == best.bound:
        note = f"the least is {best.bound:,} B"
    else:
        note = f"the least is {best.bound:,} to {best.peak:,} B (search limit reached)"
    return OrderResult(name, tuple(graph.nodes[i] for i in order), bytes_live, proven, note)


def choose_order(results: Mapping[str, OrderResult], name: str) -> OrderResult:
    """The result of strategy `name`; for `auto` the first of those with the least peak.

    Raises:
        CodegenError: if there is no such strategy.
    """
    if name == "auto":
        return min(results.values(), key=lambda r: r.peak)
    if name not in results:
        raise CodegenError(f"unknown order strategy {name!r}; choose auto or {', '.join(results)}")
    return results[name]
