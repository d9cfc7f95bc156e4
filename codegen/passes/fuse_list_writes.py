"""Fuse list writes: an entry of a list that is exchanged in a loop becomes DYNAMIC_UPDATE_SLICE.

Converters write `list[i] = item` (as the loops of recurrent layers have it) as

    CONCATENATION(SLICE(list, [0, ..], [i, -1, ..]), item, SLICE(list, [i + 1, 0, ..], [-1, ..]))

whose two slices have sizes that change from run to run. As a whole it has the shape of the list.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from codegen.graph import DType, Graph, Node, Tensor
from codegen.ops.base import OpContext
from codegen.passes.rewrite import for_each_node, with_node, with_tensor


@dataclass(frozen=True)
class _Write:
    """`values[position] = item`; `position` is an integer of one element."""

    values: Tensor
    item: Tensor
    position: Tensor


def fuse_list_writes(graph: Graph) -> Graph:
    """The graph with every write to a list as one operator; passes drop what it was made of."""
    return for_each_node(graph, _fused)


def _fused(graph: Graph, node: Node) -> Graph:
    write = _Match(graph, node).write()
    if write is None:
        return graph
    rank, first = len(write.values.shape), len(graph.tensors)
    index = write.position.dtype
    zeros = np.zeros(rank - 1, index.numpy).tobytes()
    added = (
        Tensor(first, "list position", (1,), index),
        Tensor(first + 1, "no offset", (rank - 1,), index, raw=zeros),
        Tensor(first + 2, "list offset", (rank,), index),
    )
    number = graph.next_index()
    start = (
        Node(number, "RESHAPE", 1, (write.position.index,), (first,)),
        Node(number + 1, "CONCATENATION", 1, (first, first + 1), (first + 2,)),
    )
    graph = replace(graph, tensors=(*graph.tensors, *added))
    made = replace(graph.tensors[node.outputs[0]], shape=write.values.shape, free_dims=())
    operands = (write.values.index, write.item.index, first + 2)
    update = Node(node.index, "DYNAMIC_UPDATE_SLICE", 1, operands, node.outputs)
    graph = with_node(with_tensor(graph, made), update)
    place = graph.nodes.index(update)
    return replace(graph, nodes=(*graph.nodes[:place], *start, *graph.nodes[place:]))


class _Match:
    """Compares a node and what leads to it with the pattern."""

    def __init__(self, graph: Graph, node: Node) -> None:
        self._graph, self._node = graph, node
        self._makers = graph.producers()

    def write(self) -> _Write | None:
        """What is written where; None where the node is another one."""
        node = self._node
        joins = node.op == "CONCATENATION" and len(node.inputs) == 3
        if not joins or OpContext(self._graph, node).option("axis") != 0:
            return None
        before, item, after = node.inputs
        head, tail = self._slice(before), self._slice(after)
        if head is None or tail is None or head.inputs[0] != tail.inputs[0]:
            return None
        values, entry = (self._graph.tensors[t] for t in (head.inputs[0], item))
        position = self._varying(head.inputs[2], -1)
        behind = self._varying(tail.inputs[1], 0)
        fits = (
            len(values.shape) > 1
            and entry.shape == (1, *values.shape[1:])
            and self._is_all(head.inputs[1], 0)
            and self._is_all(tail.inputs[2], -1)
        )
        if not fits or position is None or behind is None or not self._follows(behind, position):
            return None
        return _Write(values, entry, self._graph.tensors[position])

    def _slice(self, t: int) -> Node | None:
        maker = self._makers.get(t)
        return maker if maker is not None and maker.op == "SLICE" else None

    def _varying(self, t: int, rest: int) -> int | None:
        """The scalar that is joined with `rest` for all other axes; None if nothing such is."""
        join = self._makers.get(t)
        if join is None or join.op != "CONCATENATION" or len(join.inputs) != 2:
            return None
        maker = self._makers.get(join.inputs[0])
        if maker is None or maker.op != "RESHAPE" or not self._is_all(join.inputs[1], rest):
            return None
        scalar = self._graph.tensors[maker.inputs[0]]
        is_index = scalar.elements == 1 and scalar.dtype in (DType.INT32, DType.INT64)
        return scalar.index if is_index else None

    def _is_all(self, t: int, value: int) -> bool:
        """Whether a tensor is a constant with this value everywhere."""
        tensor = self._graph.tensors[t]
        return tensor.is_constant and bool((tensor.array == value).all())

    def _follows(self, t: int, position: int) -> bool:
        """Whether a scalar is `position` + 1."""
        add = self._makers.get(t)
        if add is None or add.op != "ADD" or position not in add.inputs:
            return False
        return any(self._is_all(other, 1) for other in add.inputs if other != position)
