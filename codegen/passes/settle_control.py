"""Settle control flow: IF and WHILE keep only what has to be decided and carried at run time.

An IF with a constant condition becomes the way that it takes. A WHILE that is known never to run
hands its operands on, one that runs once becomes its body. What a body hands on unchanged is no
variable: constants become constants of the subgraphs, everything else an operand that is only read.
Variables and results that nobody needs vanish.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from codegen.errors import CodegenError
from codegen.graph import Graph, Node, Subgraph
from codegen.ops.base import OpContext
from codegen.ops.control import TRIPS, require_subgraphs
from codegen.ops.if_ import check as check_if
from codegen.ops.while_ import check as check_while
from codegen.passes.rewrite import (
    copy_node,
    inside,
    reads_from,
    renamed,
    same_codes,
    with_node,
    with_tensor,
)
from codegen.passes.settle_shapes import leaves_shapes_open
from codegen.passes.trim_control import trim_control, without_operands
from codegen.passes.trip_count import trip_count

Simplify = Callable[[Graph], Graph]


def settle_control(graph: Graph, simplify: Simplify) -> Graph:
    """The graph with each control operator settled, and `simplify` run inside of it.

    What lowering will refuse stays as it is.
    """
    for index in [node.index for node in graph.nodes if node.subgraphs]:
        if _has_fitting_subgraphs(OpContext(graph, _node(graph, index))):
            graph = _with_open_shapes(graph, _node(graph, index))
            graph = _inside(graph, index, simplify)
            graph = _with_shapes_of_results(graph, _node(graph, index))
        if not is_sound(OpContext(graph, _node(graph, index))):
            continue
        settle = _settle_if if _node(graph, index).op == "IF" else _settle_while
        graph = settle(graph, index, simplify)
    return graph


def _node(graph: Graph, index: int) -> Node:
    return next(node for node in graph.nodes if node.index == index)


def is_sound(context: OpContext) -> bool:
    """Whether the subgraphs of a control operator fit it; if not, lowering says why."""
    try:
        (check_if if context.node.op == "IF" else check_while)(context)
    except CodegenError:
        return False
    return True


def _has_fitting_subgraphs(context: OpContext) -> bool:
    """Whether the subgraphs take as much as they are given, and give as much as is wanted."""
    node = context.node
    operands = len(node.inputs) - (node.op == "IF")
    try:
        require_subgraphs(context, operands=operands, results=len(node.outputs))
    except CodegenError:
        return False
    return True


def _with_open_shapes(graph: Graph, node: Node) -> Graph:
    """Sizes that the file leaves open inside are those of the operands; variables keep theirs."""
    operands = node.inputs[1:] if node.op == "IF" else node.inputs
    pairs = [pair for s in node.subgraphs for pair in zip(operands, s.inputs, strict=True)]
    if node.op == "WHILE":
        pairs += zip(node.inputs, node.outputs, strict=False)
    return _shaped(graph, pairs)


def _with_shapes_of_results(graph: Graph, node: Node) -> Graph:
    """Sizes that the file leaves open behind an IF are those of what its ways yield."""
    if node.op == "WHILE":
        return graph
    return _shaped(graph, list(zip(node.subgraphs[0].outputs, node.outputs, strict=True)))


def _shaped(graph: Graph, pairs: Sequence[tuple[int, int]]) -> Graph:
    """For each pair the second tensor in the shape of the first, if the file leaves sizes open."""
    if not leaves_shapes_open(graph):
        return graph
    for source, result in pairs:
        known, tensor = graph.tensors[source], graph.tensors[result]
        if not known.free_dims:
            graph = with_tensor(graph, replace(tensor, shape=known.shape, free_dims=()))
    return graph


def _inside(graph: Graph, index: int, rewrite: Simplify) -> Graph:
    return inside(graph, _node(graph, index), rewrite, rewrite)


def _settle_if(graph: Graph, index: int, simplify: Simplify) -> Graph:
    node = _node(graph, index)
    condition = graph.tensors[node.inputs[0]]
    if condition.is_constant:
        taken = node.subgraphs[0 if condition.array.reshape(-1)[0] else 1]
        return _spliced(graph, node, taken, node.inputs[1:])
    constant = [k for k, t in enumerate(node.inputs[1:]) if graph.tensors[t].is_constant]
    if constant:
        graph = _inside(_bound(graph, node, constant), index, simplify)
    return trim_control(graph, _node(graph, index))


def _settle_while(graph: Graph, index: int, simplify: Simplify) -> Graph:
    while True:
        node = _node(graph, index)
        body, constant = node.subgraphs[1], _constant_operands(graph, node)
        same = [k for k, t in enumerate(body.outputs) if t == body.inputs[k]]
        if constant:
            graph = _inside(_bound(graph, node, constant), index, simplify)
        elif same:
            graph = _inside(_without_variables(graph, node, same), index, simplify)
        else:
            break
    graph = trim_control(graph, node)
    trips = trip_count(graph, _node(graph, index))
    node = _node(graph, index)
    if trips == 0:
        return _replaced(graph, node, _copies(graph, node.inputs, node.outputs))
    if trips == 1:
        return _spliced(graph, node, node.subgraphs[1], node.inputs)
    if trips is not None:
        graph = with_node(graph, replace(node, options={**node.options, TRIPS: trips}))
    return graph


def _copies(graph: Graph, sources: Sequence[int], results: Sequence[int]) -> tuple[Node, ...]:
    first = graph.next_index()
    pairs = zip(sources, results, strict=False)
    return tuple(copy_node(x, y, first + i) for i, (x, y) in enumerate(pairs))


def _replaced(graph: Graph, node: Node, nodes: Iterable[Node]) -> Graph:
    """The graph with other nodes in the place of one."""
    place = [n.index for n in graph.nodes].index(node.index)
    return replace(graph, nodes=(*graph.nodes[:place], *nodes, *graph.nodes[place + 1 :]))


def _spliced(graph: Graph, node: Node, taken: Subgraph, operands: Sequence[int]) -> Graph:
    """The graph with the operators of a subgraph in the place of the node."""
    tensors = graph.tensors
    names, before, after = {}, [], []
    for outer, inner in zip(operands, taken.inputs, strict=True):
        if same_codes(tensors[outer], tensors[inner]):
            names[inner] = outer
        else:
            before.append((outer, inner))
    made = {t for n in taken.nodes for t in n.outputs}
    for inner, outer in zip(taken.outputs, node.outputs, strict=True):
        if inner in made and inner not in names and same_codes(tensors[inner], tensors[outer]):
            names[inner] = outer
        else:
            after.append((inner, outer))
    last = [(names.get(inner, inner), outer) for inner, outer in after]
    nodes = (
        *(copy_node(x, y, 0) for x, y in before),
        *renamed(taken.nodes, names),
        *(copy_node(x, y, 0) for x, y in last),
    )
    first = graph.next_index()
    return _replaced(graph, node, (replace(n, index=first + i) for i, n in enumerate(nodes)))


def _bound(graph: Graph, node: Node, positions: Sequence[int]) -> Graph:
    """The graph with constant operands made constants of the subgraphs, and handed over no more.

    `positions` are those of the subgraphs' inputs.
    """
    operands = node.inputs[len(node.inputs) - len(node.subgraphs[0].inputs) :]
    for k in positions:
        constant = graph.tensors[operands[k]]
        for subgraph in node.subgraphs:
            inner = graph.tensors[subgraph.inputs[k]]
            graph = with_tensor(graph, replace(inner, raw=constant.raw, buffer=constant.buffer))
    return with_node(graph, without_operands(node, positions))


def _without_variables(graph: Graph, node: Node, same: Sequence[int]) -> Graph:
    """The graph with variables that the body leaves as they are made mere operands.

    Who reads such a variable behind the loop reads the operand.
    """
    source, copied = {}, []
    for k in same:
        operand, result = graph.tensors[node.inputs[k]], graph.tensors[node.outputs[k]]
        if result.index not in graph.outputs and same_codes(operand, result):
            source[result.index] = operand.index
        else:
            copied.append((operand.index, result.index))
    graph = reads_from(with_node(graph, _with_last(node, same)), source)
    copies = _copies(graph, [x for x, _ in copied], [y for _, y in copied])
    loop = _node(graph, node.index)
    return _replaced(graph, loop, (loop, *copies))


def _constant_operands(graph: Graph, loop: Node) -> list[int]:
    """Positions of the operands of a loop that are constant, variables apart."""
    operands = enumerate(loop.inputs[len(loop.outputs) :], len(loop.outputs))
    return [k for k, t in operands if graph.tensors[t].is_constant]


def _with_last(node: Node, moved: Sequence[int]) -> Node:
    """The loop with these variables behind all others, as operands that it does not yield."""
    order = [k for k in range(len(node.inputs)) if k not in moved] + list(moved)
    condition, body = (replace(s, inputs=tuple(s.inputs[k] for k in order)) for s in node.subgraphs)
    kept = [k for k in range(len(node.outputs)) if k not in moved]
    return replace(
        node,
        inputs=tuple(node.inputs[k] for k in order),
        outputs=tuple(node.outputs[k] for k in kept),
        subgraphs=(condition, replace(body, outputs=tuple(body.outputs[k] for k in kept))),
    )
