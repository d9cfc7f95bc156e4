"""Fuse PAD into the convolutions that read it.

A convolution adds nothing for taps outside of its input, which is just what it does with taps on
a padding of zero points. So PAD of rows and columns becomes explicit padding of the window. It
stays where anything else reads the padded map: nothing would be saved.
"""

from __future__ import annotations

from dataclasses import replace

from codegen.errors import CodegenError
from codegen.graph import DType, Graph, Node
from codegen.ops import lower
from codegen.ops.base import OpContext
from codegen.ops.pad_common import paddings, zero_value
from codegen.ops.padv2 import fill_value
from codegen.ops.spatial import EXPLICIT, explicit_padding, window
from codegen.passes.rewrite import for_each_node, same_meaning, with_node, without

_TYPES = (DType.INT8, DType.FLOAT32)
_CONVOLUTIONS = ("CONV_2D", "DEPTHWISE_CONV_2D")


def fuse_pad(graph: Graph) -> Graph:
    """Move the padding of every PAD that only convolutions read into these."""
    return for_each_node(graph, _fuse)


def _fuse(graph: Graph, node: Node) -> Graph:
    if node.op not in ("PAD", "PADV2") or not _pads_with_zero(OpContext(graph, node)):
        return graph
    (padded,) = node.outputs
    readers = graph.consumers().get(padded, [])
    if padded in graph.outputs or not readers:
        return graph
    try:
        fused = [_fused(graph, reader, node) for reader in readers if _slides(reader, padded)]
    except CodegenError:  # a node that lowering will refuse, with the same message
        return graph
    if len(fused) != len(readers):
        return graph
    for reader in fused:
        graph = with_node(graph, reader)
    return without(graph, node)


def _pads_with_zero(context: OpContext) -> bool:
    """Whether the node pads only rows and columns of maps, and that with what stands for 0."""
    try:
        x, y = context.input(0), context.output()
        if x.dtype not in _TYPES or len(x.shape) != 4 or not same_meaning(x, y):
            return False
        lower(context)  # the shapes hold
        n, _, _, c = paddings(context)
        value = fill_value(context) if context.node.op == "PADV2" else zero_value(y)
        return not any((*n, *c)) and bool(value == zero_value(y))
    except CodegenError:  # a node that lowering will refuse, with the same message
        return False


def _slides(reader: Node, padded: int) -> bool:
    """Whether `reader` is a convolution over the padded map, which is not its filter too."""
    return reader.op in _CONVOLUTIONS and padded not in reader.inputs[1:]


def _fused(graph: Graph, reader: Node, pad: Node) -> Node:
    """The convolution over the map before the padding."""
    context = OpContext(graph, reader)
    x, padded, filters = graph.tensors[pad.inputs[0]], context.input(0), context.input(1)
    if len(filters.shape) != 4:
        raise context.invalid(f"{filters.label} must have four dimensions")
    view = window(context, (padded.shape[1], padded.shape[2]), (filters.shape[1], filters.shape[2]))
    _, (top, _), (left, _), _ = paddings(OpContext(graph, pad))
    options = explicit_padding(view, (top, left), (x.shape[1], x.shape[2]))
    inputs = (x.index, *reader.inputs[1:])
    return replace(
        reader, inputs=inputs, options={**reader.options, "padding": EXPLICIT, **options}
    )
