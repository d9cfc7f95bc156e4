"""IF: one of two subgraphs runs, as a boolean says."""

from __future__ import annotations

from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.control import (
    require_condition,
    require_same,
    require_subgraphs,
    subgraphs_call,
)
from codegen.ops.movement import MOVED_TYPES


def check(context: OpContext) -> None:
    """Both ways take the operands behind the condition and yield what the operator yields.

    Raises:
        Unsupported: if types or shapes differ.
        InvalidModel: if numbers do, or the condition is not one boolean.
    """
    node = context.node
    require_subgraphs(context, operands=len(node.inputs) - 1, results=len(node.outputs))
    require_condition(context, context.input(0))
    for subgraph in node.subgraphs:
        if len(subgraph.outputs) != len(node.outputs):
            raise context.invalid("its subgraphs do not give what it yields")
        for k, (outer, inner) in enumerate(zip(node.inputs[1:], subgraph.inputs, strict=True)):
            require_same(context, outer, inner, f"operand {k + 1}")
        for k, (outer, inner) in enumerate(zip(node.outputs, subgraph.outputs, strict=True)):
            require_same(context, outer, inner, f"result {k}")


def lower(context: OpContext) -> Lowered:
    """Inputs: the condition, what the subgraphs take -> what the one that runs yields."""
    check(context)
    node, tensors = context.node, context.graph.tensors
    reads = (tensors[t] for t in dict.fromkeys(node.inputs))
    writes = (tensors[t] for t in node.outputs)
    return Lowered(calls=(subgraphs_call(reads, writes),), summary="one of two ways")


SPEC = OpSpec(
    name="IF",
    max_version=1,
    lower=lower,
    types=MOVED_TYPES,
    notes="fixed shapes; a constant condition leaves the way that it chooses",
)
