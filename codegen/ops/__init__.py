"""One file per operator. Importing this package registers them all by the schema's name."""

from __future__ import annotations

import importlib
import pkgutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from codegen.errors import CodegenError, InvalidModel, Unsupported
from codegen.graph import Graph, Node
from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.control import subgraphs_macs
from codegen.ops.twins import with_twins
from codegen.target import Target

_KINDS_NAMED = 4
# More than any microcontroller has; planning and its proof look at every byte.
_MAX_TENSOR_BYTES = 64 << 20
_TAKE_SPARSE = ("DENSIFY", "FULLY_CONNECTED")
"""Operators whose constants may be stored sparsely: to others the reference reads them wrongly."""


@cache
def registry() -> dict[str, OpSpec]:
    """Operator name -> its declaration, from every module of this package that has a `SPEC`."""
    names = sorted(m.name for m in pkgutil.iter_modules(__path__))
    modules = [importlib.import_module(f"{__name__}.{name}") for name in names]
    specs: list[OpSpec] = [module.SPEC for module in modules if hasattr(module, "SPEC")]
    return {spec.name: spec for spec in specs}


def lower(context: OpContext) -> Lowered:
    """Check one node and lower it to kernel calls.

    Raises:
        Unsupported: for an operator, version or attribute that no C can be written for.
        InvalidModel: for a node that contradicts itself.
    """
    node = context.node
    spec = registry().get(node.custom_name or node.op)
    if spec is None or spec.custom != (node.op == "CUSTOM"):
        raise context.unsupported("this operator is not supported", _way_out(node))
    if node.version > spec.max_version:
        raise context.unsupported(
            f"version {node.version} of this operator is not supported",
            f"convert the model with a converter that writes version {spec.max_version} or lower",
        )
    _require_layout(context)
    lowered = with_twins(spec.lower(context), context.target)
    _require_all_written(context, lowered)
    return _with_subgraphs(context, lowered) if node.subgraphs else lowered


def _require_all_written(context: OpContext, lowered: Lowered) -> None:
    """Refuse a node with more outputs than its operator has.

    Raises:
        InvalidModel: naming the first that nothing writes.
    """
    written = {access.tensor for call in lowered.calls for access in call.outputs}
    if context.node.subgraphs:  # whose operators write
        return
    for index in context.node.outputs:
        if index not in written:
            raise context.invalid(f"it has no result for {context.graph.tensors[index].label}")


def _with_subgraphs(context: OpContext, lowered: Lowered) -> Lowered:
    """A control operator with what stands inside of it lowered too.

    Raises:
        Unsupported: for the first operator inside that is refused.
        InvalidModel: for one that contradicts itself.
    """
    subgraphs: list[dict[int, Lowered]] = []
    for subgraph in context.node.subgraphs:
        graph = context.graph.inside(subgraph)
        try:
            subgraphs.append(lower_all(graph, graph.nodes, context.target))
        except CodegenError as error:
            raise type(error)(
                f"{context.node.label}, subgraph {subgraph.name!r}: {error}"
            ) from None
    macs = subgraphs_macs(context, subgraphs)
    return replace(lowered, subgraphs=tuple(subgraphs), macs=macs)


def _way_out(node: Node) -> str:
    """What to do about an operator that the registry does not have."""
    if node.custom_name.startswith("Flex"):
        return "convert the model again with TFLite's own operators only, without SELECT_TF_OPS"
    if node.op == "CUSTOM":
        return "take the model as it was before a vendor's compiler, or replace this operator"
    return f"replace it in the model ({len(registry())} operators are: see docs/operators.md)"


def lower_all(graph: Graph, nodes: Sequence[Node], target: Target) -> dict[int, Lowered]:
    """Operator index -> what it becomes.

    Raises:
        Unsupported: the first refusal, with how many further operators are refused and which.
        InvalidModel: for a node that contradicts itself.
    """
    lowered: dict[int, Lowered] = {}
    refused: list[Node] = []
    first: Unsupported | None = None
    for node in nodes:
        try:
            lowered[node.index] = lower(OpContext(graph, node, target))
        except Unsupported as error:
            first = first or error
            refused.append(node)
        except InvalidModel:
            # What a refused operator makes may be unknown, and so what follows from it.
            if first is None:
                raise
    if first is not None:
        raise Unsupported(f"{first}{_others(refused[1:])}") from None
    return lowered


def lower_possible(graph: Graph, target: Target) -> tuple[dict[int, Lowered], dict[int, str]]:
    """What operators become, by index, and for those that no C can be written for, why."""
    lowered: dict[int, Lowered] = {}
    refused: dict[int, str] = {}
    for node in graph.nodes:
        try:
            lowered[node.index] = lower(OpContext(graph, node, target))
        except CodegenError as error:
            refused[node.index] = str(error)
    return lowered, refused


def _others(nodes: Sequence[Node]) -> str:
    """`; 5 more operators are refused: CUSTOM 'Blend', 4 x ADD`; empty if there are none."""
    if not nodes:
        return ""
    kinds = Counter(node.kind for node in nodes).most_common()
    # What no conversion can mend comes first.
    kinds.sort(key=lambda item: not item[0].startswith("CUSTOM"))
    words = [kind if count == 1 else f"{count} x {kind}" for kind, count in kinds[:_KINDS_NAMED]]
    verb = "operator is" if len(nodes) == 1 else "operators are"
    end = ", ..." if len(kinds) > _KINDS_NAMED else ""
    return f"; {len(nodes)} more {verb} refused: {', '.join(words)}{end}"


def _require_layout(context: OpContext) -> None:
    """Refuse results without elements, huge or sparse tensors, and elements of less than a byte.

    Packed constants pass, since weights are unpacked; so do empty operands, such as the shape
    that makes a scalar.

    Raises:
        Unsupported: naming the tensor and its type.
    """
    graph, node = context.graph, context.node
    for tensor in (graph.tensors[t] for t in (*node.inputs, *node.outputs) if t >= 0):
        packed_constant = tensor.is_constant and 0 < tensor.dtype.bits < 8
        if not tensor.dtype.in_c and not packed_constant:
            raise context.unsupported(
                f"{tensor.label} is {tensor.dtype.value}, which has no C type",
                "use real numbers of 8 bits or more there",
            )
        if tensor.sparse and node.op not in _TAKE_SPARSE:
            raise context.unsupported(
                f"{tensor.label} is stored sparsely", "convert the model without sparsity"
            )
        if tensor.nbytes > _MAX_TENSOR_BYTES:
            raise context.unsupported(
                f"{tensor.label} takes {tensor.nbytes:,} bytes",
                f"no tensor may have more than {_MAX_TENSOR_BYTES:,}, so make it smaller",
            )
        if not tensor.elements and tensor.index in node.outputs:
            raise context.unsupported(
                f"{tensor.label} is empty", "remove this operator from the model"
            )
