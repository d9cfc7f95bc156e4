"""Trim control flow: results of IF and WHILE that nobody reads, operands that nothing needs."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from codegen.graph import Graph, Node, Subgraph
from codegen.passes.rewrite import with_node


def trim_control(graph: Graph, node: Node) -> Graph:
    """The graph with a node that yields what somebody reads and takes what its subgraphs read.

    A loop keeps the variables that its condition, or one that is read, depends on in the end.
    """
    wanted = {*graph.outputs, *(t for n in graph.nodes for t in n.inputs)}
    wanted.update(state.end for state in graph.states if state.end is not None)
    kept = {k for k, t in enumerate(node.outputs) if t in wanted}
    if node.op == "WHILE":
        kept = _needed_variables(node, kept)
    node = _yielding(node, kept)
    return with_node(graph, without_operands(node, _unread(node)))


def without_operands(node: Node, positions: Collection[int]) -> Node:
    """The node without these inputs of its subgraphs, and the operands that stand for them."""
    first = int(node.op == "IF")  # the condition comes before
    return replace(
        node,
        inputs=(*node.inputs[:first], *_without(node.inputs[first:], positions)),
        subgraphs=tuple(replace(s, inputs=_without(s.inputs, positions)) for s in node.subgraphs),
    )


def _without(tensors: tuple[int, ...], positions: Collection[int]) -> tuple[int, ...]:
    return tuple(t for k, t in enumerate(tensors) if k not in positions)


def _yielding(node: Node, kept: Collection[int]) -> Node:
    """The node with these outputs alone; a variable of a loop that is none is no operand either."""
    dropped = {k for k in range(len(node.outputs)) if k not in kept}
    one, two = node.subgraphs
    two = replace(two, outputs=_without(two.outputs, dropped))
    if node.op == "IF":
        one = replace(one, outputs=_without(one.outputs, dropped))
    node = replace(node, outputs=_without(node.outputs, dropped), subgraphs=(one, two))
    return node if node.op == "IF" else without_operands(node, dropped)


def _unread(node: Node) -> list[int]:
    """Positions of the subgraphs' inputs, variables apart, that neither of them reads."""
    variables = len(node.outputs) if node.op == "WHILE" else 0
    pairs = [(s.inputs, _read(s)) for s in node.subgraphs]
    count = len(node.subgraphs[0].inputs)
    return [
        k for k in range(variables, count) if not any(inputs[k] in read for inputs, read in pairs)
    ]


def _read(subgraph: Subgraph) -> set[int]:
    return {*subgraph.outputs, *(t for node in subgraph.nodes for t in node.inputs)}


def _needed_variables(node: Node, wanted: set[int]) -> set[int]:
    """Positions of the variables that the condition or a wanted one depends on, in the end."""
    condition, body = node.subgraphs
    read = _read(condition)
    needed: set[int] = set()
    waiting = wanted | {k for k in range(len(node.outputs)) if condition.inputs[k] in read}
    while waiting:
        needed |= waiting
        behind = _behind(body, [body.outputs[k] for k in waiting])
        waiting = {k for k in range(len(node.outputs)) if body.inputs[k] in behind} - needed
    return needed


def _behind(subgraph: Subgraph, results: Iterable[int]) -> set[int]:
    """All tensors that these depend on, themselves included."""
    found = set(results)
    for node in reversed(subgraph.nodes):
        if found.intersection(node.outputs):
            found.update(node.inputs)
    return found
