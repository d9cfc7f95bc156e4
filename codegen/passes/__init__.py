"""Graph rewrites, one per file: pure functions Graph -> Graph, which `simplify` runs in order."""

from __future__ import annotations

from collections.abc import Callable

from codegen.graph import Graph

Pass = Callable[[Graph], Graph]

PASSES: tuple[Pass, ...] = ()


def simplify(graph: Graph) -> Graph:
    """Apply every pass once, in order."""
    for rewrite in PASSES:
        graph = rewrite(graph)
    return graph
