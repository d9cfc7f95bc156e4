"""How often a loop runs, where its condition compares a counter with a constant."""

from __future__ import annotations

from codegen.graph import DType, Graph, Node, Tensor

_NO_END = 1 << 31


def trip_count(graph: Graph, node: Node) -> int | None:
    """How often the body of a WHILE runs; None if that is known at run time alone.

    Known are conditions `counter < constant`, and several of them joined by LOGICAL_AND, of integer
    variables that start at a constant and to which the body adds a positive constant.
    """
    condition = node.subgraphs[0]
    settled = graph.tensors[condition.outputs[0]]
    if settled.is_constant:
        return None if settled.array.reshape(-1)[0] else 0
    makers = {t: n for n in condition.nodes for t in n.outputs}
    waiting, counts = [condition.outputs[0]], []
    while waiting:
        maker = makers.get(waiting.pop())
        if maker is None:
            return None
        if maker.op == "LOGICAL_AND":
            waiting += maker.inputs
        elif (count := _compared(graph, node, maker)) is not None:
            counts.append(count)
        else:
            return None
    return min(counts)


def _compared(graph: Graph, node: Node, compare: Node) -> int | None:
    """For how many runs of the body a single comparison holds."""
    if compare.op == "LESS":
        counter, limit = compare.inputs
    elif compare.op == "GREATER":
        limit, counter = compare.inputs
    else:
        return None
    variables = node.subgraphs[0].inputs[: len(node.outputs)]
    end = _integer(graph.tensors[limit])
    if counter not in variables or end is None:
        return None
    position = variables.index(counter)
    start, step = _integer(graph.tensors[node.inputs[position]]), _step(graph, node, position)
    if start is None or step is None or end + step >= _NO_END:
        return None
    return max(0, -(-(end - start) // step))


def _step(graph: Graph, node: Node, position: int) -> int | None:
    """The positive constant that each run of the body adds to a variable."""
    body = node.subgraphs[1]
    value, result = body.inputs[position], body.outputs[position]
    add = next((n for n in body.nodes if result in n.outputs), None)
    if add is None or add.op != "ADD" or add.options.get("fused_activation_function") != "NONE":
        return None
    others = [t for t in add.inputs if t != value]
    step = _integer(graph.tensors[others[0]]) if len(others) == 1 else None
    return step if step is not None and step > 0 else None


def _integer(tensor: Tensor) -> int | None:
    """The value of a constant of one integer."""
    if not tensor.is_constant or tensor.elements != 1:
        return None
    if tensor.dtype not in (DType.INT32, DType.INT64) or (tensor.quant and tensor.quant.scales):
        return None
    return int(tensor.array.reshape(-1)[0])
