"""Embed subgraphs: what WHILE and IF run comes to stand inside of them.

The tensors of the subgraphs get the next free numbers of the graph, their operators too. Operands
and parameters stay two tensors: the operator's input 2 and input 2 of its subgraph, for example.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from codegen.errors import CodegenError
from codegen.graph import Graph, Model, Node, Subgraph
from codegen.ops.base import OpContext
from codegen.passes.inline_calls import inline_calls
from codegen.passes.rewrite import inside, with_node

_OPTIONS: Mapping[str, tuple[str, str]] = {
    "WHILE": ("cond_subgraph_index", "body_subgraph_index"),
    "IF": ("then_subgraph_index", "else_subgraph_index"),
}


def embed_subgraphs(model: Model, graph: Graph) -> Graph:
    """The graph with the subgraphs of its control operators, whose calls are inlined.

    Operators that cannot get theirs stay as they are; lowering says what is wrong with them.
    """
    for node in graph.nodes:
        if node.op in _OPTIONS:
            graph = _embedded(model, graph, node)
    return graph


def _embedded(model: Model, graph: Graph, node: Node) -> Graph:
    subgraphs = []
    context, whole = OpContext(graph, node), graph
    try:
        for option in _OPTIONS[node.op]:
            called = inline_calls(model, model.graphs[context.int_option(option)])
            whole, subgraph = _adopted(whole, embed_subgraphs(model, called))
            subgraphs.append(subgraph)
    except CodegenError:
        return graph
    return with_node(whole, replace(node, subgraphs=tuple(subgraphs)))


def _adopted(graph: Graph, called: Graph) -> tuple[Graph, Subgraph]:
    """The graph with the tensors of a subgraph, and the subgraph in the graph's numbers."""
    tensors, nodes = len(graph.tensors), graph.next_index()
    moved = tuple(replace(t, index=tensors + t.index) for t in called.tensors)
    subgraph = Subgraph(called.name, called.nodes, called.inputs, called.outputs)
    return (
        replace(graph, tensors=(*graph.tensors, *moved)),
        _shifted(subgraph, tensors, nodes),
    )


def _shifted(subgraph: Subgraph, tensors: int, nodes: int) -> Subgraph:
    """The subgraph with all numbers of tensors and operators raised by so much."""

    def raised(indices: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(t if t < 0 else t + tensors for t in indices)

    return replace(
        subgraph,
        nodes=tuple(
            replace(
                node,
                index=node.index + nodes,
                inputs=raised(node.inputs),
                outputs=raised(node.outputs),
                intermediates=raised(node.intermediates),
                subgraphs=tuple(_shifted(inner, tensors, nodes) for inner in node.subgraphs),
            )
            for node in subgraph.nodes
        ),
        inputs=raised(subgraph.inputs),
        outputs=raised(subgraph.outputs),
    )


def in_subgraphs(graph: Graph, rewrite: Callable[[Graph], Graph]) -> Graph:
    """Rewrite what stands inside of the graph's control operators, the innermost first."""

    def whole(inner: Graph) -> Graph:
        return rewrite(in_subgraphs(inner, rewrite))

    for node in graph.nodes:
        if node.subgraphs:
            graph = inside(graph, node, whole, whole)
    return graph
