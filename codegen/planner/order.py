"""Execution order: strategies by name. Each maps a graph to a permutation of its nodes."""

from __future__ import annotations

from collections.abc import Callable

from codegen.graph import Graph, Node

OrderStrategy = Callable[[Graph], tuple[Node, ...]]


def model_order(graph: Graph) -> tuple[Node, ...]:
    """The order of the file, which the importer has made executable."""
    return graph.nodes


STRATEGIES: dict[str, OrderStrategy] = {"model": model_order}
