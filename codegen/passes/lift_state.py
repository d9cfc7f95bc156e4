"""Lift state: variables that subgraphs read and assign are handed in and out of them as values.

Around an operator whose subgraphs touch a variable, the variable is read before and assigned after:

    WHILE(x) { y = READ(v); ASSIGN(v, f(y)) }   ->   ASSIGN(v, WHILE(x, READ(v)) { y -> f(y) })

Handles that are operands vanish on the way. What is left is state of the main graph.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count

from codegen.graph import DType, Graph, Node, Subgraph, Tensor, all_nodes
from codegen.passes.link_state import Key, handles_in
from codegen.passes.rewrite import reads_from, with_node


def lift_state(graph: Graph) -> Graph:
    """The graph without variables inside of its control operators, where handles resolve.

    What does not resolve stays for lowering to refuse.
    """
    return _lifted(graph, {})


def _lifted(graph: Graph, given: Mapping[int, Key]) -> Graph:
    """The graph with all its control operators done; `given` are handles among its inputs."""
    for index in [node.index for node in graph.nodes if node.subgraphs]:
        handles = {**given, **handles_in(graph)}
        node = next(n for n in graph.nodes if n.index == index)
        graph = _Operator(graph, node, handles).lifted()
    return graph


@dataclass(frozen=True)
class _Inside:
    """A subgraph without variables.

    Attributes:
        inputs: variable -> the new input that brings its value.
        ends: variable -> the tensor that holds its value at the end.
    """

    subgraph: Subgraph
    inputs: Mapping[Key, int]
    ends: Mapping[Key, int]


class _Operator:
    """One control operator, and the handles that are known around it."""

    def __init__(self, graph: Graph, node: Node, handles: Mapping[int, Key]) -> None:
        self._graph, self._node, self._handles = graph, node, dict(handles)
        self._first = 0 if node.op == "WHILE" else 1  # operand that is input 0 of a subgraph

    def lifted(self) -> Graph:
        """The graph with the operator changed, and reading and assigning around it."""
        before = self._graph
        inner: list[tuple[Graph, dict[int, Key]]] = []
        for subgraph in self._node.subgraphs:
            given = self._given(subgraph)
            graph = _lifted(self._graph.inside(subgraph), given)
            self._graph = replace(self._graph, tensors=graph.tensors)
            inner.append((graph, {**given, **handles_in(graph)}))
        values = dict(pair for graph, handles in inner for pair in _values(graph, handles))
        if not values and not any(map(self._is_handle, self._node.inputs)):
            return before
        inside = [self._inside(graph, handles, values) for graph, handles in inner]
        if self._node.op == "WHILE" and _changed(inside[0]):
            return before  # what assigns in a condition has no place to hand it on
        self._drop_handles()
        return self._around(inside, values)

    def _given(self, subgraph: Subgraph) -> dict[int, Key]:
        """The handles among a subgraph's inputs."""
        pairs = zip(self._node.inputs[self._first :], subgraph.inputs, strict=False)
        return {inner: self._handles[outer] for outer, inner in pairs if outer in self._handles}

    def _is_handle(self, t: int) -> bool:
        return t >= 0 and self._graph.tensors[t].dtype is DType.RESOURCE

    def _new(self, like: Tensor) -> int:
        index = len(self._graph.tensors)
        tensor = replace(like, index=index, raw=None, buffer=0, is_variable=False)
        self._graph = replace(self._graph, tensors=(*self._graph.tensors, tensor))
        return index

    def _inside(
        self, inner: Graph, handles: Mapping[int, Key], values: Mapping[Key, Tensor]
    ) -> _Inside:
        """A subgraph in which each variable is an input, and then what was last assigned."""
        inputs = {key: self._new(like) for key, like in values.items()}
        current, renamed, nodes = dict(inputs), dict[int, int](), list[Node]()
        for node in inner.nodes:
            reading = replace(node, inputs=tuple(renamed.get(t, t) for t in node.inputs))
            key = handles.get(node.input(0))
            if node.op == "READ_VARIABLE" and key is not None:
                renamed[node.outputs[0]] = current[key]
            elif node.op == "ASSIGN_VARIABLE" and key is not None:
                current[key] = reading.inputs[1]
            elif node.op != "VAR_HANDLE":
                nodes.append(reading)
        given = tuple(t for t in inner.inputs if not self._is_handle(t))
        results = tuple(renamed.get(t, t) for t in inner.outputs if not self._is_handle(t))
        subgraph = Subgraph(inner.name, tuple(nodes), (*given, *inputs.values()), results)
        return _Inside(subgraph, inputs, current)

    def _drop_handles(self) -> None:
        """Hand no handles over; who reads one that comes out reads the one that went in."""
        node = self._node
        pairs = zip(node.inputs, node.outputs, strict=False)
        source = {y: x for x, y in pairs if self._is_handle(y)} if node.op == "WHILE" else {}
        self._node = replace(
            node,
            inputs=tuple(t for t in node.inputs if not self._is_handle(t)),
            outputs=tuple(t for t in node.outputs if not self._is_handle(t)),
        )
        self._graph = reads_from(with_node(self._graph, self._node), source)

    def _around(self, inside: Sequence[_Inside], values: Mapping[Key, Tensor]) -> Graph:
        """Read every variable before the operator, and assign those that change behind it."""
        changed = {key for i in inside for key in _changed(i)}
        before = {key: self._new(like) for key, like in values.items()}
        after = {
            key: self._new(like)
            for key, like in values.items()
            if key in changed or self._node.op == "WHILE"
        }
        operator = self._handing(inside, before, after)
        numbers = count(self._graph.next_index() + sum(1 for _ in all_nodes([operator])))
        made = {key: self._handle(key, numbers) for key in values}
        first = [n for _, nodes in made.values() for n in nodes]
        first += [
            Node(next(numbers), "READ_VARIABLE", 1, (made[key][0],), (t,))
            for key, t in before.items()
        ]
        last = [
            Node(next(numbers), "ASSIGN_VARIABLE", 1, (made[key][0], t), ())
            for key, t in after.items()
            if key in changed
        ]
        around = self._graph.nodes
        place = [n.index for n in around].index(operator.index)
        nodes = (*around[:place], *first, operator, *last, *around[place + 1 :])
        return replace(self._graph, nodes=nodes)

    def _handing(
        self, inside: Sequence[_Inside], before: Mapping[Key, int], after: Mapping[Key, int]
    ) -> Node:
        """The operator that takes these values of variables, and yields those."""
        one, two = (
            replace(i.subgraph, outputs=(*i.subgraph.outputs, *(i.ends[key] for key in after)))
            for i in inside
        )
        if self._node.op == "WHILE":
            one = inside[0].subgraph  # it yields the condition alone
        return replace(
            self._node,
            inputs=(*self._node.inputs, *before.values()),
            outputs=(*self._node.outputs, *after.values()),
            subgraphs=(one, two),
        )

    def _handle(self, key: Key, numbers: Iterator[int]) -> tuple[int, list[Node]]:
        """A handle of the variable, and the operator that makes it if there was none."""
        for t, known in self._handles.items():
            if known == key:
                return t, []
        handle = self._new(Tensor(0, key[1], (), DType.RESOURCE))
        options = {"container": key[0], "shared_name": key[1]}
        return handle, [Node(next(numbers), "VAR_HANDLE", 1, (), (handle,), options)]


def _values(graph: Graph, handles: Mapping[int, Key]) -> Iterator[tuple[Key, Tensor]]:
    """Each variable that is read or assigned, with a tensor of its value."""
    for node in graph.nodes:
        key = handles.get(node.input(0))
        if key is not None and node.op == "READ_VARIABLE":
            yield key, graph.tensors[node.outputs[0]]
        elif key is not None and node.op == "ASSIGN_VARIABLE":
            yield key, graph.tensors[node.inputs[1]]


def _changed(inside: _Inside) -> list[Key]:
    """The variables that a subgraph assigns."""
    return [key for key, end in inside.ends.items() if end != inside.inputs[key]]
