"""Which operators of a graph the build would refuse, and why."""

from __future__ import annotations

from contextlib import suppress

from codegen import ops
from codegen.errors import CodegenError
from codegen.graph import Graph
from codegen.passes import simplify
from codegen.target import PORTABLE


def unsupported_operators(graph: Graph) -> dict[int, str]:
    """Operator index -> the reason why no C can be written for it.

    Operators that a pass removes are not among them.
    """
    # Where a pass finds a node that contradicts itself, it is found again below, with its index.
    with suppress(CodegenError):
        graph = simplify(graph)
    _, reasons = ops.lower_possible(graph, PORTABLE)
    return reasons
