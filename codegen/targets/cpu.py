"""The CPU as one engine among others: a rough count of the cycles that an operator takes there."""

from __future__ import annotations

from codegen.graph import Graph
from codegen.ops.base import Lowered

_CYCLES_PER_MAC = 2
_CYCLES_PER_ELEMENT = 8


def cpu_cycles(graph: Graph, lowered: Lowered) -> int:
    """Cycles of one operator's kernels; an estimate that orders of magnitude can be told from."""
    outputs = [a.tensor for call in lowered.calls for a in call.outputs]
    elements = sum(graph.tensors[t].elements for t in dict.fromkeys(outputs))
    return _CYCLES_PER_MAC * lowered.macs + _CYCLES_PER_ELEMENT * elements
