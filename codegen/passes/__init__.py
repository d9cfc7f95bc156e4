"""Graph rewrites, one per file: pure functions Graph -> Graph, which `simplify` runs in order."""

from __future__ import annotations

from collections.abc import Callable

from codegen.graph import Graph
from codegen.passes.drop_noops import drop_noops
from codegen.passes.fold_constants import fold_constants
from codegen.passes.fuse_pad import fuse_pad

Pass = Callable[[Graph], Graph]

PASSES: tuple[Pass, ...] = (fold_constants, drop_noops, fuse_pad)


def simplify(graph: Graph) -> Graph:
    """Apply every pass once, in order."""
    for rewrite in PASSES:
        graph = rewrite(graph)
    return graph
