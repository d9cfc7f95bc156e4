"""WHILE: a subgraph is repeated as long as another one says so, on variables of the loop.

The operator's outputs are the variables: they begin as copies of its first operands, and both
subgraphs read them where they lie. Further operands are read by the subgraphs and never change.
"""

from __future__ import annotations

from codegen.ops.base import Lowered, OpContext, OpSpec, whole
from codegen.ops.control import (
    TRIPS,
    require_condition,
    require_same,
    require_subgraphs,
    subgraphs_call,
)
from codegen.ops.copy import copy_call
from codegen.ops.movement import MOVED_TYPES


def check(context: OpContext) -> None:
    """Variables keep their type and shape, and the condition is one boolean.

    Raises:
        Unsupported: if types or shapes differ.
        InvalidModel: if numbers do.
    """
    node = context.node
    require_subgraphs(context, operands=len(node.inputs), results=len(node.outputs))
    condition, body = node.subgraphs
    if len(condition.outputs) != 1 or len(node.outputs) > len(node.inputs):
        raise context.invalid("its subgraphs do not give what it yields")
    require_condition(context, context.graph.tensors[condition.outputs[0]])
    for k, outer in enumerate(node.inputs):
        for subgraph in node.subgraphs:
            require_same(context, outer, subgraph.inputs[k], f"variable {k}")
    for k, outer in enumerate(node.outputs):
        require_same(context, node.inputs[k], outer, f"variable {k}")
        require_same(context, outer, body.outputs[k], f"variable {k}, which the body changes,")


def lower(context: OpContext) -> Lowered:
    """Inputs: first values of the variables, what else is read -> last values of the variables."""
    check(context)
    node, tensors = context.node, context.graph.tensors
    condition = context.graph.tensors[node.subgraphs[0].outputs[0]]
    if condition.is_constant or not node.outputs:
        raise context.unsupported(
            "nothing that its body does changes its condition",
            "the loop would never end, so let the condition depend on what the body computes",
        )
    variables = [(tensors[x], tensors[y]) for x, y in zip(node.inputs, node.outputs, strict=False)]
    reads = (tensors[t] for t in dict.fromkeys(node.inputs[len(node.outputs) :]))
    writes = (y for _, y in variables)
    trips = context.int_option(TRIPS, -1)
    return Lowered(
        calls=(
            *(copy_call(whole(x), whole(y), x.dtype.size) for x, y in variables),
            subgraphs_call(reads, writes),
        ),
        summary="no bound on time" if trips < 0 else f"{trips} times",
    )


SPEC = OpSpec(
    name="WHILE",
    max_version=1,
    lower=lower,
    types=MOVED_TYPES,
    notes="variables of fixed shapes; no bound on time unless the loop counts to a constant",
)
