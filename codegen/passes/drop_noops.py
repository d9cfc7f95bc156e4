"""Drop no-ops: operators that repeat their input unchanged, and those whose results nobody reads.

A dropped operator's output lives on only if it is an output of the model: then the operator before
writes it under that name.
"""

from __future__ import annotations

from dataclasses import replace

from codegen.errors import CodegenError
from codegen.graph import DType, Graph, Node
from codegen.ops.base import OpContext
from codegen.ops.pad_common import paddings
from codegen.ops.resize_nearest_neighbor import nearest_indices
from codegen.ops.strided_slice import slicing
from codegen.ops.transpose import permutation
from codegen.passes.rewrite import for_each_node, reads_from, same_codes, without

_SAME_WHEN_SAME_SHAPE = frozenset(
    (
        "RESHAPE",
        "SQUEEZE",
        "SLICE",
        "CONCATENATION",
        "SPLIT",
        "TILE",
        "QUANTIZE",
        "DYNAMIC_UPDATE_SLICE",  # with an update as large as what it changes
    )
)

_DATA = {"SPLIT": 1, "DYNAMIC_UPDATE_SLICE": 1}
"""Position of the input that the output repeats, where it is not the first."""


def drop_noops(graph: Graph) -> Graph:
    """Let readers of a no-op's output read its input, then drop what is read by nobody."""
    return _without_dead(for_each_node(graph, _drop))


def _drop(graph: Graph, node: Node) -> Graph:
    source = _repeated_input(OpContext(graph, node))
    if source is None:
        return graph
    (result,) = node.outputs
    if result not in graph.outputs:
        return without(reads_from(graph, {result: source}), node)
    producer = graph.producers().get(source)
    if producer is None or source in graph.outputs:
        return graph
    written = tuple(result if t == source else t for t in producer.outputs)
    graph = reads_from(without(graph, node), {source: result})
    nodes = tuple(
        replace(n, outputs=written) if n.index == producer.index else n for n in graph.nodes
    )
    return replace(graph, nodes=nodes)


def _repeated_input(context: OpContext) -> int | None:
    """The tensor that the node's only output equals byte for byte and in meaning, if any."""
    node = context.node
    source = node.input(_DATA.get(node.op, 0))
    if source < 0 or len(node.outputs) != 1:
        return None
    if node.op == "CONCATENATION" and len(node.inputs) != 1:
        return None
    x = context.graph.tensors[source]
    if x.is_variable or not same_codes(x, context.output()):
        return None
    try:
        return source if _moves_nothing(context) else None
    except CodegenError:  # a node that lowering will refuse, with the same message
        return None


def _moves_nothing(context: OpContext) -> bool:
    """Whether a node with equal input and output shapes leaves each element in its place."""
    op, shape = context.node.op, context.output().shape
    if op == "TRANSPOSE":
        moved = [axis for axis in permutation(context) if shape[axis] != 1]
        return moved == sorted(moved)
    if op == "STRIDED_SLICE":
        return all(cut.stride > 0 for cut in slicing(context).cuts)
    if op in ("PAD", "PADV2"):
        return not any(sum(pair) for pair in paddings(context))
    if op == "RESIZE_NEAREST_NEIGHBOR":
        align, half = (bool(context.option(k)) for k in ("align_corners", "half_pixel_centers"))
        return all(
            list(nearest_indices(n, n, align_corners=align, half_pixel=half)) == list(range(n))
            for n in shape[1:3]
        )
    if op == "RESIZE_BILINEAR":
        return context.output().dtype is DType.INT8
    return op in _SAME_WHEN_SAME_SHAPE


def _without_dead(graph: Graph) -> Graph:
    """Keep the nodes that an output or the next run depends on, and those that write no tensor."""
    wanted = {*graph.outputs, *(s.end for s in graph.states if s.end is not None)}
    kept: list[Node] = []
    for node in reversed(graph.nodes):
        if not node.outputs or wanted.intersection(node.outputs):
            kept.append(node)
            wanted.update(node.inputs)
    return replace(graph, nodes=tuple(reversed(kept)))
