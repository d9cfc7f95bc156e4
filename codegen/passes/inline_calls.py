"""Inline calls: operators that stand for a subgraph become its operators.

STABLEHLO_COMPOSITE names the subgraph that says what it computes, CALL the one that it runs. The
subgraph's tensors and operators get the next free numbers of the main graph.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from codegen.graph import Graph, Model, Node
from codegen.ops.base import OpContext
from codegen.passes.rewrite import copy_node

_SUBGRAPH = {"STABLEHLO_COMPOSITE": "decomposition_subgraph_index", "CALL": "subgraph"}


def inline_calls(model: Model, graph: Graph) -> Graph:
    """A graph of the model without calls, also where they stand inside each other.

    Raises:
        InvalidModel: if a call and its subgraph do not have the same inputs and outputs.
    """
    while True:
        node = next((n for n in graph.nodes if n.op in _SUBGRAPH), None)
        if node is None:
            return graph
        called = OpContext(graph, node).int_option(_SUBGRAPH[node.op])
        graph = inlined(graph, node, model.graphs[called])


def inlined(graph: Graph, call: Node, called: Graph) -> Graph:
    """`graph` with the operators of `called` instead of `call`.

    Raises:
        InvalidModel: if the two do not have the same inputs and outputs.
    """
    _require_same(graph, call.inputs, called, called.inputs, call)
    _require_same(graph, call.outputs, called, called.outputs, call)
    names = dict(zip(called.inputs, call.inputs, strict=True))
    made = {t for node in called.nodes for t in node.outputs}
    for inner, outer in zip(called.outputs, call.outputs, strict=True):
        if inner in made:
            names.setdefault(inner, outer)
    tensors = list(graph.tensors)
    for tensor in called.tensors:
        if tensor.index not in names:
            names[tensor.index] = len(tensors)
            tensors.append(replace(tensor, index=len(tensors)))
    graph = replace(graph, tensors=tuple(tensors))
    first = graph.next_index()
    nodes = [_renamed(node, names, first + i) for i, node in enumerate(called.nodes)]
    for inner, outer in zip(called.outputs, call.outputs, strict=True):
        if names[inner] != outer:  # handed through, or given out twice
            nodes.append(copy_node(names[inner], outer, first + len(nodes)))
    place = graph.nodes.index(call)
    return replace(graph, nodes=(*graph.nodes[:place], *nodes, *graph.nodes[place + 1 :]))


def _require_same(
    graph: Graph, outer: tuple[int, ...], called: Graph, inner: tuple[int, ...], call: Node
) -> None:
    context = OpContext(graph, call)
    if len(outer) != len(inner) or -1 in outer:
        raise context.invalid(f"passes {len(outer)} tensors for {len(inner)} of {called.name!r}")
    for a, b in zip(outer, inner, strict=True):
        ours, theirs = graph.tensors[a], called.tensors[b]
        if (ours.dtype, ours.shape) != (theirs.dtype, theirs.shape):
            raise context.invalid(
                f"{ours.label} is {ours.describe()}, but {called.name!r} has {theirs.describe()}"
            )


def _renamed(node: Node, names: Mapping[int, int], index: int) -> Node:
    def renamed(tensors: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(t if t < 0 else names[t] for t in tensors)

    return replace(
        node,
        index=index,
        inputs=renamed(node.inputs),
        outputs=renamed(node.outputs),
        intermediates=renamed(node.intermediates),
    )
