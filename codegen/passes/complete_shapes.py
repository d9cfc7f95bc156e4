"""Complete shapes: outputs that the file writes as scalars, though their operator makes more.

Converters leave the shape of some operators' results to the interpreter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from codegen.graph import Graph, Node
from codegen.ops import detection_postprocess

Shapes = list[tuple[int, ...]]


def complete_shapes(graph: Graph) -> Graph:
    """The graph with those shapes that can be told from the inputs."""
    tensors = list(graph.tensors)
    for node in graph.nodes:
        rule = _RULES.get(node.custom_name or node.op)
        for t, shape in zip(node.outputs, rule(graph, node) if rule else (), strict=False):
            if not tensors[t].shape:
                tensors[t] = replace(tensors[t], shape=shape)
        graph = replace(graph, tensors=tuple(tensors))
    return graph


def _lstm(graph: Graph, node: Node) -> Shapes:
    """As x, with as many channels as the recurrent weights of the forget gate have columns."""
    x, recurrent = graph.tensors[node.input(0)], graph.tensors[node.input(6)]
    return [(*x.shape[:-1], recurrent.shape[-1])] if recurrent.shape else []


def _same(graph: Graph, node: Node) -> Shapes:
    return [graph.tensors[node.input(0)].shape]


def _detections(graph: Graph, node: Node) -> Shapes:
    return detection_postprocess.output_shapes(node)


_RULES: Mapping[str, Callable[[Graph, Node], Shapes]] = {
    "DEQUANTIZE": _same,
    "LSTM": _lstm,
    "UNIDIRECTIONAL_SEQUENCE_LSTM": _lstm,
    detection_postprocess.NAME: _detections,
}
