"""Finish control flow: the last pass, which says how values leave the subgraphs.

Every result of a way of an IF, and every condition of a WHILE, gets an operator of its own that
makes it. What the body of a WHILE computes is assigned to the variables behind everything that
reads their old values: each new value is one more tensor, in the place of the old one, just as with
state that lives on from run to run.
"""

from __future__ import annotations

from dataclasses import replace

from codegen.graph import Graph, Node
from codegen.ops.base import OpContext
from codegen.passes.rewrite import copy_node, inside, with_tensor
from codegen.passes.settle_control import is_sound


def finish_control(graph: Graph) -> Graph:
    """The graph with its control operators finished; all operators have numbers of their own."""
    return _numbered(_finished(graph))


def _finished(graph: Graph) -> Graph:
    for node in graph.nodes:
        if not node.subgraphs or not is_sound(OpContext(graph, node)):
            continue
        if node.op == "IF":
            graph = inside(graph, node, _with_own_results, _with_own_results)
        elif not graph.tensors[node.subgraphs[0].outputs[0]].is_constant:
            graph = inside(graph, node, _with_own_results, _with_assignments)
    return graph


def _with_own_results(graph: Graph) -> Graph:
    """The finished graph, with copies for outputs that are inputs, constants, or outputs twice."""
    graph = _finished(graph)
    made = {t for node in graph.nodes for t in node.outputs}
    outputs: list[int] = []
    for t in graph.outputs:
        if t in made and t not in outputs:
            outputs.append(t)
        else:
            graph = _copied(graph, t)
            outputs.append(len(graph.tensors) - 1)
    return replace(graph, outputs=tuple(outputs))


def _copied(graph: Graph, t: int) -> Graph:
    """The graph with a copy of a tensor at the end, as its last tensor."""
    new = replace(graph.tensors[t], index=len(graph.tensors), raw=None, buffer=0, is_variable=False)
    node = copy_node(t, new.index, graph.next_index())
    return replace(graph, tensors=(*graph.tensors, new), nodes=(*graph.nodes, node))


def _with_assignments(body: Graph) -> Graph:
    """The finished body with an operator at its end that puts each new value in its place.

    A new value that is the old one of another variable is copied before any of them changes.
    """
    body, count = _finished(body), len(body.outputs)
    variables = body.inputs[:count]
    values = []
    for position, value in enumerate(body.outputs):
        if value in variables and value != variables[position]:
            body = _copied(body, value)
            value = len(body.tensors) - 1
        values.append(value)
    ends = []
    for old, value in zip(variables, values, strict=True):
        if value == old:
            ends.append(old)
            continue
        body = with_tensor(body, replace(body.tensors[old], is_variable=True))
        new = replace(body.tensors[old], index=len(body.tensors))
        assign = Node(body.next_index(), "ASSIGN_VARIABLE", 1, (value, old), (new.index,))
        body = replace(body, tensors=(*body.tensors, new), nodes=(*body.nodes, assign))
        ends.append(new.index)
    return replace(body, outputs=tuple(ends))


def _numbered(graph: Graph) -> Graph:
    """The graph whose operators inside of others have the next free numbers, in their order."""
    free = 1 + max((node.index for node in graph.nodes), default=-1)

    def numbered(node: Node) -> Node:
        nonlocal free
        subgraphs = []
        for subgraph in node.subgraphs:
            nodes = []
            for inner in subgraph.nodes:
                index, free = free, free + 1
                nodes.append(replace(numbered(inner), index=index))
            subgraphs.append(replace(subgraph, nodes=tuple(nodes)))
        return replace(node, subgraphs=tuple(subgraphs))

    return replace(graph, nodes=tuple(map(numbered, graph.nodes)))
