"""Link state: variables become tensors that live from one run to the next.

A variable of VAR_HANDLE has one tensor for the value that a run begins with and one for the value
that it ends with. READ_VARIABLE names the value that is current at its place, so most of these
operators vanish; of several ASSIGN_VARIABLE the last one writes what the next run begins with. It
also lists the first tensor among its inputs, which makes it wait for all readers of the old value.
CALL_ONCE is run now: it gives the values before the first run.

Variable tensors, which recurrent operators keep, start at zero (the zero point of int8 ones); the
new value becomes one more output of the operator, and is assigned behind it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from codegen.errors import Unsupported
from codegen.graph import DType, Graph, Model, Node, State, Tensor
from codegen.ops.base import OpContext
from codegen.passes.fold_constants import fold_constants
from codegen.passes.rewrite import same_codes

Key = tuple[str, str]
"""Container and name of a variable."""


def link_state(model: Model, graph: Graph) -> Graph:
    """The main graph, in its present form, with its state made explicit.

    Raises:
        Unsupported: for an initialiser that computes what cannot be known now, and for a variable
            tensor that several operators change.
        InvalidModel: for a variable without a value, or with several types.
    """
    graph = _with_variable_tensors(graph)
    handles = handles_in(graph)
    if not handles:
        return graph
    return _Linker(graph, handles, _initial_values(model)).linked()


def handles_in(graph: Graph) -> dict[int, Key]:
    """Resource tensor -> the variable that it stands for.

    Raises:
        InvalidModel: for a handle in a tensor that holds something else.
    """
    found = {}
    for node in graph.nodes:
        if node.op == "VAR_HANDLE":
            context = OpContext(graph, node)
            name, handle = context.str_option("shared_name", ""), context.output()
            if handle.dtype is not DType.RESOURCE:
                raise context.invalid(f"{handle.label} is {handle.dtype.value}, not a handle")
            found[handle.index] = (context.str_option("container", ""), name)
    return found


def _variable(context: OpContext, handles: Mapping[int, Key]) -> Key:
    """The variable that the first input stands for."""
    handle = context.input(0)
    if handle.index not in handles:
        raise context.unsupported(
            f"{handle.label} is a variable that is chosen at run time",
            "export the model with one VAR_HANDLE per variable",
        )
    return handles[handle.index]


def _initial_values(model: Model) -> dict[Key, Tensor]:
    """What every CALL_ONCE of the main graph leaves in the variables: constants."""
    values: dict[Key, Tensor] = {}
    for node in model.main.nodes:
        if node.op == "CALL_ONCE":
            index = OpContext(model.main, node).int_option("init_subgraph_index")
            values.update(_assigned(model.graphs[index], node))
    return values


def _assigned(graph: Graph, caller: Node) -> Iterator[tuple[Key, Tensor]]:
    """The variables that an initialiser assigns, with their constant values.

    Raises:
        Unsupported: if it does anything that cannot be done now.
    """
    graph = fold_constants(graph)
    handles = handles_in(graph)
    for node in graph.nodes:
        if node.op == "VAR_HANDLE":
            continue
        context = OpContext(graph, node)
        if node.op != "ASSIGN_VARIABLE" or not context.input(1).is_constant:
            raise Unsupported(
                f"{caller.label}: its initialiser {graph.name!r} runs {node.label}, whose result "
                "is not known now; initialise variables with constants"
            )
        yield _variable(context, handles), context.input(1)


class _Linker:
    """Walks the operators in order and keeps the tensor that holds each variable's value."""

    def __init__(
        self, graph: Graph, handles: Mapping[int, Key], initial: Mapping[Key, Tensor]
    ) -> None:
        self._graph, self._handles, self._initial = graph, handles, initial
        self._tensors = list(graph.tensors)
        self._starts: dict[Key, int] = {}
        self._current: dict[Key, int] = {}
        self._renamed: dict[int, int] = {}
        self._assigns: dict[Key, Node] = {}

    def linked(self) -> Graph:
        """The graph without handles, and with the last assignment of each variable alone."""
        nodes = list(self._nodes())
        states = []
        for key, start in self._starts.items():
            assign = self._assigns.get(key)
            end = None
            if assign is not None:
                end = self._new_tensor(self._tensors[start]).index
                final = replace(assign, inputs=(*assign.inputs, start), outputs=(end,))
                nodes = _behind_readers(nodes, final, start)
            states.append(State(start, end, self._initial[key].raw or b""))
        return replace(
            self._graph,
            tensors=tuple(self._tensors),
            nodes=tuple(n for n in nodes if n.op != "ASSIGN_VARIABLE" or n.outputs),
            states=(*self._graph.states, *states),
        )

    def _nodes(self) -> Iterator[Node]:
        """The operators that stay, reading the values that are current at their place."""
        for node in self._graph.nodes:
            if node.op == "READ_VARIABLE":
                yield from self._read(node)
            elif node.op == "ASSIGN_VARIABLE" and not node.outputs:
                yield self._assign(node)
            elif node.op not in ("VAR_HANDLE", "CALL_ONCE"):
                yield self._reading_current(node)

    def _reading_current(self, node: Node) -> Node:
        return replace(node, inputs=tuple(self._renamed.get(t, t) for t in node.inputs))

    def _read(self, node: Node) -> Iterator[Node]:
        """Let readers of the result read the variable's value; a copy stays where it must."""
        context = OpContext(self._graph, node)
        key, result = _variable(context, self._handles), context.output()
        if key not in self._current:
            self._start(context, key, result)
        value = self._tensors[self._current[key]]
        _require_like(context, value, result)
        if self._must_outlive(result) or not same_codes(value, result):
            yield replace(node, inputs=(value.index,))
        else:
            self._renamed[result.index] = value.index

    def _start(self, context: OpContext, key: Key, result: Tensor) -> None:
        """Make the tensor that holds the variable when a run begins.

        Raises:
            InvalidModel: if nothing gives it a value before the first run.
        """
        if key not in self._initial:
            raise context.invalid(f"variable {key[1]!r} is read before it has a value")
        _require_like(context, self._initial[key], result)
        self._starts[key] = self._current[key] = self._new_tensor(result).index

    def _must_outlive(self, result: Tensor) -> bool:
        """Whether the value read is needed after the variable may have changed."""
        assigned = any(
            n.op == "ASSIGN_VARIABLE" and n.input(1) == result.index for n in self._graph.nodes
        )
        return assigned or result.index in self._graph.outputs

    def _assign(self, node: Node) -> Node:
        """From here on the variable's value is that of the second input, now the only one."""
        context = OpContext(self._graph, node)
        key = _variable(context, self._handles)
        value = self._tensors[self._renamed.get(node.input(1), context.input(1).index)]
        if key in self._current:
            _require_like(context, value, self._tensors[self._current[key]])
        self._current[key] = value.index
        self._assigns[key] = replace(node, inputs=(value.index,))
        return self._assigns[key]

    def _new_tensor(self, like: Tensor) -> Tensor:
        made = replace(like, index=len(self._tensors), is_variable=True)
        self._tensors.append(made)
        return made


def _behind_readers(nodes: list[Node], assign: Node, start: int) -> list[Node]:
    """The nodes with `assign` in its old place, or behind the last reader of the old value."""
    places = [i for i, n in enumerate(nodes) if n.index == assign.index or start in n.inputs]
    after = nodes[max(places)].index
    moved = []
    for node in nodes:
        if node.index != assign.index:
            moved.append(node)
        if node.index == after:
            moved.append(assign)
    return moved


def _require_like(context: OpContext, value: Tensor, result: Tensor) -> None:
    if (value.dtype, value.shape) != (result.dtype, result.shape):
        raise context.invalid(
            f"a variable is {value.describe()} at one place and {result.describe()} at another"
        )


def _with_variable_tensors(graph: Graph) -> Graph:
    """Every operator that keeps variable tensors gets their new values as further outputs.

    They become the state by assignments behind it.

    Raises:
        Unsupported: for a variable that several operators keep.
    """
    tensors, nodes = list(graph.tensors), []
    states: dict[int, State] = {}
    index = graph.next_index()
    for node in graph.nodes:
        kept = [t for t in dict.fromkeys(node.inputs) if t >= 0 and graph.tensors[t].is_variable]
        values, assignments = [], []
        for t in kept:
            if t in states:
                raise OpContext(graph, node).unsupported(
                    f"{graph.tensors[t].label} is the state of two operators",
                    "give each of them a state of its own",
                )
            value = replace(tensors[t], index=len(tensors), is_variable=False)
            end = replace(tensors[t], index=len(tensors) + 1)
            tensors += [value, end]
            values.append(value.index)
            inputs = (value.index, t)
            assignments.append(Node(index, "ASSIGN_VARIABLE", 1, inputs, (end.index,)))
            index += 1
            states[t] = State(t, end.index, _zeros(graph.tensors[t]))
        nodes += [replace(node, outputs=(*node.outputs, *values)), *assignments]
    return replace(graph, tensors=tuple(tensors), nodes=tuple(nodes), states=tuple(states.values()))


def _zeros(tensor: Tensor) -> bytes:
    """What the interpreter gives a variable tensor before the first run."""
    zero = tensor.quant.zero_point if tensor.quant and tensor.dtype is DType.INT8 else 0
    return bytes([zero & 0xFF]) * tensor.nbytes
