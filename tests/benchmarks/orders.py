"""Measures the execution orders for docs/planner.md: `python -m tests.benchmarks.orders [FILE...]`.

For each model file and for random networks: most live bytes of every strategy, whether the best is
proven, and CPU time. Files whose operators cannot be built are measured as well, by the sizes of
their tensors; the second line of a file is with joining and splitting inside the graph for free.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

from codegen.graph import Graph
from codegen.importer import load_model
from codegen.planner.order import STRATEGIES, compare_orders
from codegen.planner.order_cost import OrderProblem
from codegen.planner.order_problem import free_movement_traits, order_problem, view_traits
from tests.planner.randwire import randwire_graph

RANDOM = ((32, 4, 0.75, 0), (32, 4, 1.0, 0), (32, 6, 0.75, 3), (48, 4, 0.75, 0), (400, 4, 0.2, 0))


def problems(files: list[Path]) -> Iterator[tuple[str, Graph, OrderProblem]]:
    """Name, graph and problem of everything that is measured."""
    for path in files:
        graph = load_model(path).main
        yield path.stem, graph, order_problem(graph, view_traits(graph))
        free = order_problem(graph, free_movement_traits(graph))
        yield f"{path.stem}, free movement", graph, free
    for nodes, neighbours, rewire, seed in RANDOM:
        graph = randwire_graph(nodes, neighbours, rewire, seed)
        name = f"random, {nodes} nodes, {neighbours} neighbours, p = {rewire}, seed {seed}"
        yield name, graph, order_problem(graph, {})


def main(files: list[Path]) -> None:
    """Print one Markdown table."""
    print(f"| graph | operators | {' | '.join(STRATEGIES)} | proven | CPU s |")
    print("|---|---|" + "---|" * (len(STRATEGIES) + 2))
    for name, graph, problem in problems(files):
        start = time.process_time()
        results = compare_orders(graph, problem)
        seconds = time.process_time() - start
        peaks = " | ".join(f"{results[s].peak:,}" for s in STRATEGIES)
        proven = "yes" if results["optimal"].proven else results["optimal"].note
        print(f"| {name} | {len(graph.nodes)} | {peaks} | {proven} | {seconds:.2f} |")


if __name__ == "__main__":
    main([Path(arg) for arg in sys.argv[1:]])
