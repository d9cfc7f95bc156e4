"""int8 borders: take QUANTIZE off the inputs and DEQUANTIZE off the outputs.

Many models are int8 inside and float outside. The caller then gets and gives the int8 codes; scale
and zero point stand in the header. This pass is for those who ask for it (`--io int8`).
"""

from __future__ import annotations

from dataclasses import replace

from codegen.graph import DType, Graph, Node
from codegen.passes.rewrite import reads_from, same_codes, without


def io_int8(graph: Graph) -> Graph:
    """Replace float inputs and outputs by the int8 tensors right behind and before them.

    An input stays float where anything but equal QUANTIZEs reads it; an output where its float
    values are read inside too.
    """
    for tensor in graph.inputs:
        graph = _int8_input(graph, tensor)
    for tensor in graph.outputs:
        graph = _int8_output(graph, tensor)
    return graph


def _int8_input(graph: Graph, tensor: int) -> Graph:
    readers = graph.consumers().get(tensor, [])
    if not readers or tensor in graph.outputs:
        return graph
    if not all(_crosses(graph, node, "QUANTIZE", DType.FLOAT32, DType.INT8) for node in readers):
        return graph
    codes = [graph.tensors[node.outputs[0]] for node in readers]
    if not all(same_codes(codes[0], other) for other in codes):
        return graph
    if any(other.index in graph.outputs for other in codes):
        return graph
    for node in readers:
        graph = reads_from(without(graph, node), {node.outputs[0]: codes[0].index})
    inputs = tuple(codes[0].index if t == tensor else t for t in graph.inputs)
    return replace(graph, inputs=inputs)


def _int8_output(graph: Graph, tensor: int) -> Graph:
    node = graph.producers().get(tensor)
    if node is None or tensor in graph.consumers():
        return graph
    if not _crosses(graph, node, "DEQUANTIZE", DType.INT8, DType.FLOAT32):
        return graph
    codes = node.inputs[0]
    if codes in graph.outputs or codes in graph.inputs or graph.tensors[codes].is_constant:
        return graph
    outputs = tuple(codes if t == tensor else t for t in graph.outputs)
    return replace(without(graph, node), outputs=outputs)


def _crosses(graph: Graph, node: Node, op: str, source: DType, result: DType) -> bool:
    """Whether the node is such a change of type, with one scale for all elements."""
    if node.op != op or len(node.inputs) != 1 or len(node.outputs) != 1:
        return False
    x, y = graph.tensors[node.inputs[0]], graph.tensors[node.outputs[0]]
    quantised = x if source is DType.INT8 else y
    scales = quantised.quant.scales if quantised.quant else ()
    return x.dtype is source and y.dtype is result and x.shape == y.shape and len(scales) == 1
