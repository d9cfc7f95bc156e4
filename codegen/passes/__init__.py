"""Graph rewrites, one per file: pure functions Graph -> Graph.

`link` makes one graph of a model with subgraphs and variables; `simplify` runs the others in order.
"""

from __future__ import annotations

from collections.abc import Callable

from codegen.errors import CodegenError
from codegen.graph import Graph, Model
from codegen.passes.complete_shapes import complete_shapes
from codegen.passes.drop_noops import drop_noops
from codegen.passes.embed_subgraphs import embed_subgraphs, in_subgraphs
from codegen.passes.finish_control import finish_control
from codegen.passes.fold_constants import fold_constants
from codegen.passes.fuse_list_writes import fuse_list_writes
from codegen.passes.fuse_pad import fuse_pad
from codegen.passes.inline_calls import inline_calls
from codegen.passes.lift_state import lift_state
from codegen.passes.link_state import link_state
from codegen.passes.settle_control import settle_control

Pass = Callable[[Graph], Graph]

PASSES: tuple[Pass, ...] = (fold_constants, drop_noops, fuse_pad)


def link(model: Model) -> Graph:
    """The main graph with its calls inlined and its state made explicit.

    Raises:
        Unsupported: for state that cannot be known before the first run.
        InvalidModel: for calls or variables that contradict themselves.
    """
    graph = embed_subgraphs(model, inline_calls(model, model.main))
    graph = lift_state(in_subgraphs(graph, fuse_list_writes))
    return link_state(model, complete_shapes(in_subgraphs(graph, complete_shapes)))


def simplified(model: Model) -> Graph:
    """The main graph after all rewrites; as the file has it where one of them fails.

    What fails is found again, by name, when the graph is lowered.
    """
    try:
        return simplify(link(model))
    except CodegenError:
        return model.main


def simplify(graph: Graph) -> Graph:
    """Apply every pass, in subgraphs too, and let control flow keep what it cannot do without."""
    return finish_control(_simplify(graph))


def _simplify(graph: Graph) -> Graph:
    """Apply the passes, and again where settling control flow has changed what they see."""
    while True:
        for rewrite in PASSES:
            graph = rewrite(graph)
        seen = _shape(graph)
        graph = settle_control(graph, _simplify)
        if _shape(graph) == seen:
            return graph


def _shape(graph: Graph) -> list[tuple[object, ...]]:
    """What of the graph the passes look at apart from the inside of its operators."""
    tensors = [graph.tensors[t] for node in graph.nodes for t in node.outputs]
    return [
        *((node.index, node.inputs, node.outputs) for node in graph.nodes),
        *((tensor.shape, tensor.free_dims) for tensor in tensors),
    ]
