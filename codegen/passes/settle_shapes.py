"""Settle shapes: sizes that the file leaves open follow from the inputs, operator by operator.

Where a converter does not know a size, it writes a placeholder (-1 in the signature) and leaves the
rest to the interpreter, which asks every operator for the shape of its results. So is it done here:
the check that holds a shape of the file against its operator says what the operator makes.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from codegen import ops
from codegen.errors import CodegenError
from codegen.graph import Graph, Node, Tensor
from codegen.importer.tensors import is_too_large
from codegen.ops.base import OpContext


def leaves_shapes_open(graph: Graph) -> bool:
    """Whether any size is a placeholder; if one is, none of a computed tensor can be relied on."""
    return any(tensor.free_dims for tensor in graph.tensors)


def with_settled_inputs(graph: Graph) -> Graph:
    """Take the sizes that the inputs have now for theirs."""
    tensors = tuple(
        replace(t, free_dims=()) if t.index in graph.inputs else t for t in graph.tensors
    )
    return replace(graph, tensors=tensors)


def settle(graph: Graph, node: Node) -> Graph:
    """The graph with the shapes that `node` makes of its inputs; as it is where they stay open."""
    if any(graph.tensors[t].free_dims for t in node.inputs if t >= 0):
        return graph
    asking = _Asking(graph, node)
    try:
        ops.lower(asking)
    except _Told:
        pass
    except CodegenError:
        return graph  # lowering the node as it stands says the same, with all that is refused
    tensors = list(graph.tensors)
    for index, shape in asking.made.items():
        if not is_too_large(shape, tensors[index].dtype):
            tensors[index] = replace(tensors[index], shape=shape, free_dims=())
    return replace(graph, tensors=tuple(tensors))


class _Told(Exception):
    """Ends a lowering that has nothing more to tell."""


@dataclass(frozen=True)
class _Asking(OpContext):
    """A context that takes down what shapes the operator makes instead of comparing them."""

    made: dict[int, tuple[int, ...]] = field(default_factory=dict)

    def require_shape(self, tensor: Tensor, expected: tuple[int, ...]) -> None:
        self.made[tensor.index] = expected
        if len(self.made) == len(self.node.outputs):
            raise _Told
