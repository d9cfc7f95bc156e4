"""Copy in turn: LiteRT hands the results of a loop's body on one after the other.

Where a result is an operand of the body itself, the next result may already find it overwritten: a
body that swaps two variables leaves the second one in both. TensorFlow Lite Micro hands all of them
on at once, so this pass is for LiteRT's meaning alone.
"""

from __future__ import annotations

from dataclasses import replace

from codegen.graph import Graph, Node
from codegen.passes.embed_subgraphs import in_subgraphs


def copy_in_turn(graph: Graph) -> Graph:
    """The graph with bodies whose results mean what LiteRT makes of them."""
    return _changed(in_subgraphs(graph, _changed))


def _changed(graph: Graph) -> Graph:
    nodes = (_in_turn(n) if n.op == "WHILE" and n.subgraphs else n for n in graph.nodes)
    return replace(graph, nodes=tuple(nodes))


def _in_turn(node: Node) -> Node:
    """The loop with results that are operands of the body replaced, if those change before."""
    condition, body = node.subgraphs
    now: dict[int, int] = {}  # operand of the body -> what it holds once results are handed on
    for operand, result in zip(body.inputs, body.outputs, strict=False):
        now[operand] = now.get(result, result)
    outputs = tuple(now[operand] for operand, _ in zip(body.inputs, body.outputs, strict=False))
    return replace(node, subgraphs=(condition, replace(body, outputs=outputs)))
