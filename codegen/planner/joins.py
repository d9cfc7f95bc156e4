"""Virtual joins: concatenations that are stored nowhere, whose readers gather the rows they need.

A reader that makes its rows in order needs a window of input rows at a time. It copies the rows
that it needs next from the parts of the concatenation into a ring of so many rows, and reads them
there; a reader that itself only copies the whole, such as another concatenation, copies the parts.
So the concatenation costs a ring in each reader's layer in place of a map that lives from the first
part to the last reader. The parts live on to the last reader instead.

    parts   a |aaaa|      ring of each reader   |aab|      y |....|
            b |bb|                              |aab|

`with_virtual` rewrites a lowered graph so. What is left of the concatenation is a node that neither
reads nor writes.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from codegen.graph import Graph, Node, Tensor
from codegen.ops.base import Access, Box, Call, Gather, Lowered, nhwc
from codegen.ops.copy import copy_call, is_copy
from codegen.planner.order_problem import Traits


@dataclass(frozen=True, eq=False)
class VirtualGraph:
    """A graph with some joins rewritten, and what its nodes become by index."""

    graph: Graph
    lowered: Mapping[int, Lowered]


@dataclass(frozen=True)
class _Part:
    """A tensor that fills the columns and channels of a join from `start` on."""

    access: Access
    start: tuple[int, int, int, int]


def possible_joins(graph: Graph, lowered: Mapping[int, Lowered]) -> tuple[int, ...]:
    """Indices of the nodes that can be virtual: joins all of whose readers can gather or copy."""
    lasting = _state_tensors(graph)
    readers: dict[int, list[Node]] = {}
    for node in graph.nodes:
        for t in dict.fromkeys(node.inputs):
            readers.setdefault(t, []).append(node)
    return tuple(
        node.index
        for node in graph.nodes
        if _is_join(graph, node, lowered[node.index])
        and node.outputs[0] not in graph.outputs
        and not lasting & {*node.inputs, *node.outputs}
        and readers.get(node.outputs[0])
        and all(
            _can_gather(graph, n, lowered[n.index], node.outputs[0])
            for n in readers[node.outputs[0]]
        )
    )


def _state_tensors(graph: Graph) -> frozenset[int]:
    """What lives on from run to run: read late, it may have changed."""
    ends = (state.end for state in graph.states if state.end is not None)
    variables = (t.index for t in graph.tensors if t.is_variable)
    return frozenset((*(state.start for state in graph.states), *ends, *variables))


def _is_join(graph: Graph, node: Node, lowered: Lowered) -> bool:
    """Whether the node only copies whole maps side by side, in columns or channels."""
    if len(lowered.calls) < 2 or len(node.outputs) != 1:
        return False
    whole = nhwc(graph.tensors[node.outputs[0]].shape)
    for call in lowered.calls:
        if not is_copy(call):
            return False
        x, y = call.inputs[0], call.outputs[0]
        box = y.box
        side_by_side = (
            x.box is None
            and x.map == nhwc(graph.tensors[x.tensor].shape)
            and y.map == whole
            and box is not None
            and box.start[:2] == (0, 0)
            and box.size[:2] == whole[:2] == (1, whole[1])
        )
        if not side_by_side:
            return False
    return True


def _can_gather(graph: Graph, node: Node, lowered: Lowered, t: int) -> bool:
    """Whether the reader can do with the parts of `t`, in its leanest form at least."""
    return lowered.view_of != t and _readable(graph, lowered.calls, t)


def _readable(graph: Graph, calls: Sequence[Call], t: int) -> bool:
    accesses = [(call, access) for call in calls for access in call.inputs if access.tensor == t]
    if not accesses or any(a.box or a.map != nhwc(graph.tensors[t].shape) for _, a in accesses):
        return False
    if all(is_copy(call) for call, _ in accesses):
        return not any(access.dense for _, access in accesses)
    if len(calls) != 1:
        return False
    call, access = accesses[0]
    images = {output.extent[0] for output in call.outputs}
    window = access.rows
    return (
        len(accesses) == 1
        and images == {1}
        and len({output.extent[1] for output in call.outputs}) == 1
        and not (access.shared or access.dense or window.table)
        and 1 <= window.stride <= window.span
        and window.offset <= 0
    )


def in_place_traits(
    graph: Graph, lowered: Mapping[int, Lowered], traits: Mapping[int, Traits]
) -> dict[int, Traits]:
    """`traits` if branches write right into every join that takes them; empty if none can.

    Of several joins the first has the part. Row lag into or out of a part is not counted.
    """
    borders = {*graph.inputs, *graph.outputs, *_state_tensors(graph)}
    held: set[int] = set()
    plain = {t for n in graph.nodes if not traits[n.index].lies_in for t in n.outputs}
    changed = dict(traits)
    for node in graph.nodes:
        if _is_join(graph, node, lowered[node.index]):
            parts = dict.fromkeys(call.inputs[0].tensor for call in lowered[node.index].calls)
            takes = tuple(t for t in parts if t in plain and t not in borders and t not in held)
            held.update(takes)
            changed[node.index] = replace(traits[node.index], holds=takes)
    if not held:
        return {}
    return {
        node: replace(
            trait, overwrites=tuple(o for o in trait.overwrites if not held & {o[0], o[1]})
        )
        for node, trait in changed.items()
    }


def with_virtual(
    graph: Graph, lowered: Mapping[int, Lowered], joins: Collection[int]
) -> VirtualGraph:
    """The graph whose `joins`, a part of `possible_joins`, are virtual."""
    return _Rewrite(graph, lowered, frozenset(joins)).run()


class _Rewrite:
    """Goes through the nodes in file order, parts before the joins that are made of them."""

    def __init__(self, graph: Graph, lowered: Mapping[int, Lowered], joins: frozenset[int]) -> None:
        self._graph, self._joins = graph, joins
        self._lowered = dict(lowered)
        self._tensors = list(graph.tensors)
        self._parts: dict[int, tuple[_Part, ...]] = {}

    def run(self) -> VirtualGraph:
        nodes = tuple(map(self._node, self._graph.nodes))
        graph = replace(self._graph, nodes=nodes, tensors=tuple(self._tensors))
        return VirtualGraph(graph, self._lowered)

    def _node(self, node: Node) -> Node:
        lowered = self._lowered[node.index]
        if any(t in self._parts for t in node.inputs):
            forms = (lowered.calls, *(f for f in lowered.alternatives if self._takes(node, f)))
            calls, *others = (tuple(self._calls(form)) for form in forms)
            lowered = replace(lowered, calls=calls, alternatives=tuple(others))
            node = replace(node, inputs=tuple(self._inputs(node)))
        if node.index in self._joins:
            self._parts[node.outputs[0]] = tuple(map(_part, lowered.calls))
            lowered = replace(lowered, calls=(), alternatives=())
            node = replace(node, inputs=(), outputs=())
        self._lowered[node.index] = lowered
        return node

    def _takes(self, node: Node, form: Sequence[Call]) -> bool:
        virtual = (t for t in dict.fromkeys(node.inputs) if t in self._parts)
        return all(_readable(self._graph, form, t) for t in virtual)

    def _inputs(self, node: Node) -> Iterator[int]:
        """The inputs with the parts in place of a virtual one."""
        for t in node.inputs:
            yield from (part.access.tensor for part in self._parts[t]) if t in self._parts else (t,)

    def _calls(self, calls: Sequence[Call]) -> Iterator[Call]:
        for call in calls:
            positions = [k for k, a in enumerate(call.inputs) if a.tensor in self._parts]
            if is_copy(call) and positions:
                yield from self._copies(call)
            else:
                yield self._gathering(call, positions)

    def _copies(self, call: Call) -> Iterator[Call]:
        """A copy of the whole as copies of its parts."""
        x, y = call.inputs[0], call.outputs[0]
        origin = y.box.start if y.box else (0, 0, 0, 0)
        element = self._tensors[x.tensor].dtype.size
        for part in self._parts[x.tensor]:
            n, h, w, c = (a + b for a, b in zip(origin, part.start, strict=True))
            box = Box((n, h, w, c), part.access.map)
            yield copy_call(part.access, replace(y, box=box), element)

    def _gathering(self, call: Call, positions: Sequence[int]) -> Call:
        inputs, gathers = list(call.inputs), list(call.gathers)
        for position in positions:
            inputs[position], gather = self._gather(call, position)
            gathers.append(gather)
        return replace(call, inputs=tuple(inputs), gathers=tuple(gathers))

    def _gather(self, call: Call, position: int) -> tuple[Access, Gather]:
        """The input as a tensor of its own, of no more rows than are needed, and its ring."""
        access = call.inputs[position]
        old, parts = self._tensors[access.tensor], self._parts[access.tensor]
        _, height, width, channels = access.map
        rows, blocks = access.rows, call.outputs[0].extent[1]
        used = max(rows.rows(y, height)[1] for y in range(blocks))
        ring = min(used, (call.rows_per_step - 1) * rows.stride + rows.span)
        new = replace(old, index=len(self._tensors), shape=(1, used, width, channels))
        self._tensors.append(new)
        taken = replace(access, tensor=new.index, map=(1, used, width, channels))
        copies = tuple(_copy(part, new) for part in parts)
        row_bytes = math.prod(new.shape[2:]) * new.dtype.size
        return taken, Gather(position, copies, ring, ring * row_bytes)


def _part(call: Call) -> _Part:
    box = call.outputs[0].box
    assert box is not None, "joins copy into boxes"
    return _Part(call.inputs[0], box.start)


def _copy(part: _Part, whole: Tensor) -> Call:
    """The copy of the rows of a part that the tensor has."""
    rows = whole.shape[1]
    _, _, width, channels = part.access.map
    box = Box(part.start, (1, rows, width, channels))
    target = Access(whole.index, nhwc(whole.shape), box=box)
    return copy_call(part.access, target, whole.dtype.size)
