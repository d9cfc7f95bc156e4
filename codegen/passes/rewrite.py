"""Steps that several passes are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from codegen.graph import Graph, Node, Subgraph, Tensor
from codegen.ops.base import OpContext

Array = NDArray[np.generic]

Evaluate = Callable[[OpContext], list[Array] | None]
"""The outputs of a node of constants, or None where they are not known exactly."""


def reads_from(graph: Graph, source: Mapping[int, int]) -> Graph:
    """Let every reader of a tensor in `source` read the tensor that it is mapped to."""

    def renamed(node: Node) -> Node:
        inputs = tuple(source.get(t, t) for t in node.inputs)
        return node if inputs == node.inputs else replace(node, inputs=inputs)

    return replace(graph, nodes=tuple(map(renamed, graph.nodes)))


def without(graph: Graph, removed: Node) -> Graph:
    """The graph less one node, found by its index in the file."""
    return replace(graph, nodes=tuple(n for n in graph.nodes if n.index != removed.index))


def with_node(graph: Graph, node: Node) -> Graph:
    """The graph with the node of the same index exchanged for `node`."""
    nodes = tuple(node if n.index == node.index else n for n in graph.nodes)
    return replace(graph, nodes=nodes)


def with_tensor(graph: Graph, tensor: Tensor) -> Graph:
    """The graph with the tensor of the same index exchanged for `tensor`."""
    tensors = tuple(tensor if t.index == tensor.index else t for t in graph.tensors)
    return replace(graph, tensors=tensors)


def inside(graph: Graph, node: Node, *rewrites: Callable[[Graph], Graph]) -> Graph:
    """The graph with the subgraphs of a control operator rewritten, each by one of `rewrites`."""
    subgraphs = []
    for subgraph, rewrite in zip(node.subgraphs, rewrites, strict=True):
        inner = rewrite(graph.inside(subgraph))
        graph = replace(graph, tensors=inner.tensors)
        subgraphs.append(Subgraph(inner.name, inner.nodes, inner.inputs, inner.outputs))
    return with_node(graph, replace(node, subgraphs=tuple(subgraphs)))


def copy_node(source: int, result: int, index: int) -> Node:
    """A RESHAPE to the same shape, which passes drop where they can."""
    return Node(index, "RESHAPE", 1, (source,), (result,))


def renamed(nodes: Iterable[Node], names: Mapping[int, int]) -> tuple[Node, ...]:
    """Nodes with other tensors where `names` says so; what is inside of them has its own."""
    return tuple(
        replace(
            node,
            inputs=tuple(names.get(t, t) for t in node.inputs),
            outputs=tuple(names.get(t, t) for t in node.outputs),
        )
        for node in nodes
    )


def same_codes(first: Tensor, second: Tensor) -> bool:
    """Whether two tensors of equal bytes are the same in every respect but their names."""
    return first.shape == second.shape and same_meaning(first, second)


def same_meaning(first: Tensor, second: Tensor) -> bool:
    """Whether equal bytes stand for equal values in both: same type, scales and zero points."""
    return first.dtype is second.dtype and _scales(first) == _scales(second)


def _scales(tensor: Tensor) -> tuple[tuple[float, ...], tuple[int, ...]]:
    quant = tensor.quant
    return ((), ()) if quant is None or not quant.scales else (quant.scales, quant.zero_points)


def for_each_node(graph: Graph, rewrite: Callable[[Graph, Node], Graph]) -> Graph:
    """Apply `rewrite` to each node in order, as it then stands; nodes gone by then are skipped."""
    for index in [node.index for node in graph.nodes]:
        for node in graph.nodes:
            if node.index == index:
                graph = rewrite(graph, node)
                break
    return graph
