"""A graph as an `OrderProblem`: which bytes each operator touches and what it has to wait for.

What may share memory is stated per node by `Traits`, so that the same search serves graphs whose
operators are lowered, graphs that cannot be built, and what-if questions such as "what if joining
and splitting cost nothing?".
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

from codegen.graph import DType, Graph, Node
from codegen.ops.base import Access, Alias, Call, Lowered, nhwc
from codegen.plan import PlanOptions
from codegen.planner.distance import distance_above, distance_below
from codegen.planner.order_cost import OrderProblem, Overlap, Work

_VIEWS = frozenset({"RESHAPE", "SQUEEZE", "EXPAND_DIMS"})
_SPLITS = frozenset({"SPLIT", "SPLIT_V", "UNPACK"})
_JOINS = frozenset({"CONCATENATION"})
_CALLS = frozenset({"CALL", "CALL_ONCE", "IF", "WHILE"})  # may touch state of other subgraphs


Overwrites = tuple[tuple[int, int, int], ...]
"""(input, output, bytes): that much of the output may lie on the dying input."""


@dataclass(frozen=True)
class Traits:
    """What one operator spares.

    Attributes:
        lies_in: its outputs have no bytes of their own but lie where these computed tensors lie:
            a view of one tensor, or a concatenation whose readers take the list of its parts.
        holds: tensors whose bytes are a part of its only output's from their birth on, such as
            the branches of a concatenation that write right into it.
        overwrites: what of its outputs may lie on inputs.
        scratch: bytes needed while it runs.
    """

    lies_in: tuple[int, ...] = ()
    holds: tuple[int, ...] = ()
    overwrites: Overwrites = ()
    scratch: int = 0


def view_traits(graph: Graph) -> dict[int, Traits]:
    """Reshapes are views; everything else has bytes of its own. Keys are node indices."""
    return {
        node.index: Traits(lies_in=(node.inputs[0],))
        for node in graph.nodes
        if node.op in _VIEWS and _computed(graph, node)[:1] == node.inputs[:1]
    }


def free_movement_traits(graph: Graph) -> dict[int, Traits]:
    """As `view_traits`, and joining and splitting inside the graph cost nothing."""
    free = {
        node.index: Traits(lies_in=_computed(graph, node))
        for node in graph.nodes
        if node.op in _SPLITS | _JOINS
        and _computed(graph, node)
        and not set(node.outputs) & set(graph.outputs)
    }
    return view_traits(graph) | free


def lowered_traits(
    graph: Graph, lowered: Mapping[int, Lowered], fixed: Container[int] = ()
) -> dict[int, Traits]:
    """What the kernels of `lowered` (by node index) allow.

    Tensors in `fixed` share memory with no other.
    """
    return {
        node.index: _lowered_traits(graph, node, lowered[node.index], fixed) for node in graph.nodes
    }


def _lowered_traits(graph: Graph, node: Node, lowered: Lowered, fixed: Container[int]) -> Traits:
    scratch = max(map(working_bytes, lowered.calls), default=0)
    if any(t in fixed for t in node.outputs):
        return Traits(scratch=scratch)
    shareable = [t for t in _computed(graph, node) if t not in fixed]
    if lowered.view_of in shareable:
        return Traits(lies_in=(lowered.view_of,))
    if len(lowered.calls) != 1 or len(node.outputs) != 1:
        return Traits(scratch=scratch)
    savings = {t: _saved_bytes(graph, lowered.calls[0], t) for t in shareable}
    (result,) = node.outputs
    overwrites = tuple((t, result, saved) for t, saved in savings.items() if saved > 0)
    return Traits(overwrites=overwrites, scratch=scratch)


def _saved_bytes(graph: Graph, call: Call, source: int) -> int:
    """How much of the call's output may lie on `source`: all of it in place, or up to a row lag."""
    output = call.outputs[0]
    readers = [a for a in call.inputs if a.tensor == source]
    if not readers:  # lowering has used its shape or its emptiness, and no kernel reads it
        return 0
    sizes = [graph.tensors[t].nbytes for t in (source, output.tensor)]
    if all(a.alias is Alias.ELEMENT for a in readers) and sizes[0] == sizes[1] and not call.scratch:
        return sizes[1]
    if len(readers) > 1 or not all(_is_whole(graph, a) for a in (readers[0], output)):
        return 0
    if readers[0].alias is Alias.NONE or readers[0].shared:
        return 0
    both = [max(distance_below(graph, call, readers[0]) + sizes[0], sizes[1])]
    above = distance_above(graph, call, readers[0])
    if above is not None:
        both.append(max(above + sizes[1], sizes[0]))
    return sum(sizes) - min(both)


def _is_whole(graph: Graph, access: Access) -> bool:
    return access.box is None and access.map == nhwc(graph.tensors[access.tensor].shape)


def _computed(graph: Graph, node: Node) -> tuple[int, ...]:
    """The inputs that take memory at run time, each once."""
    return tuple(t for t in dict.fromkeys(node.inputs) if t >= 0 and _takes_bytes(graph, t))


def _takes_bytes(graph: Graph, tensor: int) -> bool:
    """Constants lie in flash; variables lie in memory of their own, whatever the order."""
    return not graph.tensors[tensor].is_constant and not graph.tensors[tensor].is_variable


def working_bytes(call: Call) -> int:
    """What lives only while the call runs: its scratch, and rows that it gathers."""
    return call.scratch + sum(gather.ring_bytes for gather in call.gathers)


def callers_tensors(graph: Graph, options: PlanOptions) -> frozenset[int]:
    """The tensors that lie in memory of the caller."""
    return frozenset((*graph.inputs, *graph.outputs) if options.caller_io else ())


def lowered_problem(
    graph: Graph, lowered: Mapping[int, Lowered], options: PlanOptions
) -> OrderProblem:
    """The problem of a graph whose operators are lowered, with the sharing that storage finds."""
    borders = callers_tensors(graph, options)
    return order_problem(
        graph,
        lowered_traits(graph, lowered, fixed=borders),
        external=borders,
        keep_inputs=options.keep_input,
    )


def order_problem(
    graph: Graph,
    traits: Mapping[int, Traits],
    *,
    external: Container[int] = (),
    keep_inputs: bool = False,
) -> OrderProblem:
    """The problem whose works are `graph.nodes` in their order.

    `external` tensors lie in memory of the caller and cost nothing; `keep_inputs` keeps the
    model's inputs to the end. Nodes without an entry in `traits` spare nothing.
    """
    stores = _Stores(graph, traits, external)
    after = _predecessors(graph)
    works = tuple(
        _work(stores, node, traits.get(node.index, Traits()), after[position])
        for position, node in enumerate(graph.nodes)
    )
    inputs = frozenset(stores.of_all(graph.inputs))
    kept = frozenset(stores.of_all(graph.outputs))
    return OrderProblem(works, tuple(stores.sizes), inputs, kept | inputs if keep_inputs else kept)


def _work(stores: _Stores, node: Node, trait: Traits, after: tuple[int, ...]) -> Work:
    touched = stores.of_all((*node.inputs, *node.outputs))
    overlaps = []
    for source, result, size in trait.overwrites:
        ends = (*stores.of(source), *stores.of(result))
        if len(ends) == 2 and ends[0] != ends[1]:
            overlaps.append(Overlap(*ends, saved=size))
    return Work(touched, after, tuple(overlaps), trait.scratch)


class _Stores:
    """Where tensors lie: each in a store of its own, or in those of others."""

    def __init__(
        self, graph: Graph, traits: Mapping[int, Traits], external: Container[int]
    ) -> None:
        self.sizes: list[int] = []
        self._graph, self._external = graph, external
        self._at: dict[int, tuple[int, ...]] = {}
        for node in reversed(graph.nodes):  # what holds others may itself be held
            for t in traits.get(node.index, Traits()).holds:
                self._at[t] = self.of(node.outputs[0])
        for node in graph.nodes:
            sources = traits.get(node.index, Traits()).lies_in
            for t in node.outputs if sources else ():
                self._at[t] = self.of_all(sources)

    def of(self, tensor: int) -> tuple[int, ...]:
        """The stores that hold the tensor; none for one that takes no bytes."""
        if tensor not in self._at:
            self._at[tensor] = self._own(tensor)
        return self._at[tensor]

    def of_all(self, tensors: Sequence[int]) -> tuple[int, ...]:
        """The stores of all `tensors`, each once; -1 stands for an absent one."""
        return tuple(dict.fromkeys(store for t in tensors if t >= 0 for store in self.of(t)))

    def _own(self, tensor: int) -> tuple[int, ...]:
        size = self._graph.tensors[tensor].nbytes
        if not size or tensor in self._external or not _takes_bytes(self._graph, tensor):
            return ()
        self.sizes.append(size)
        return (len(self.sizes) - 1,)


def _predecessors(graph: Graph) -> list[tuple[int, ...]]:
    """For each position in `graph.nodes` the positions that have to come before.

    These are the writers of its inputs, and the previous node that may touch the same state:
    variables by tensor, and as one whole all that resources and called subgraphs hold.
    """
    writer: dict[int, int] = {}
    toucher: dict[int, int] = {}
    found = []
    for position, node in enumerate(graph.nodes):
        before = {writer[t] for t in node.inputs if t in writer}
        for state in _states(graph, node):
            if state in toucher:
                before.add(toucher[state])
            toucher[state] = position
        writer.update(dict.fromkeys(node.outputs, position))
        found.append(tuple(sorted(before)))
    return found


_OUTSIDE = -1  # the state that is no variable tensor of the graph


def _states(graph: Graph, node: Node) -> set[int]:
    """The state that a node may read or write: variables by index, or `_OUTSIDE`."""
    tensors = [graph.tensors[t] for t in (*node.inputs, *node.outputs) if t >= 0]
    states = {t.index for t in tensors if t.is_variable}
    if node.op in _CALLS or any(t.dtype in (DType.RESOURCE, DType.VARIANT) for t in tensors):
        states.add(_OUTSIDE)
    return states
