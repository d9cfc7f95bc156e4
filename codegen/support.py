"""Which operators of a graph the build would refuse, and why."""

from __future__ import annotations

from codegen import ops
from codegen.errors import CodegenError
from codegen.graph import Graph
from codegen.ops.base import OpContext


def unsupported_operators(graph: Graph) -> dict[int, str]:
    """Operator index -> the reason why no C can be written for it."""
    reasons = {}
    for node in graph.nodes:
        try:
            ops.lower(OpContext(graph, node))
        except CodegenError as error:
            reasons[node.index] = str(error)
    return reasons
