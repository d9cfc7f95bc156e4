"""What IF and WHILE share: the checks of their subgraphs, and what stands for those in a plan.

A control operator becomes copies of its own and one call of no kernel. That call stands for all
that its subgraphs do: it reads operands, writes results and takes scratch, which the planner gives
to the buffers of the subgraphs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from codegen.graph import DType, Tensor
from codegen.ops.base import Access, Call, Lowered, OpContext, all_rows, nhwc

NO_KERNEL = ""

TRIPS = "trip_count"
"""Option that `passes.settle_control` adds: how often a loop's body runs, where that is known."""


def subgraphs_call(reads: Iterable[Tensor], writes: Iterable[Tensor]) -> Call:
    """The call that stands for the subgraphs."""
    return Call(
        kernel=NO_KERNEL,
        header="",
        args="",
        params=(),
        inputs=tuple(map(_access, reads)),
        outputs=tuple(map(_access, writes)),
    )


def stands_for_subgraphs(call: Call) -> bool:
    """Whether the call is that of `subgraphs_call`."""
    return call.kernel == NO_KERNEL


def _access(tensor: Tensor) -> Access:
    """All of a tensor, at any time, without gaps."""
    shape = nhwc(tensor.shape)
    return Access(tensor.index, shape, rows=all_rows(shape[1]), dense=True)


def subgraphs_macs(context: OpContext, lowered: Sequence[Mapping[int, Lowered]]) -> int:
    """Multiply-accumulates of a control operator from what its two subgraphs become.

    Of two ways the larger figure counts. A loop counts as often as it is known to run, and once
    where that is not known.
    """
    condition, body = (sum(low.macs for low in inner.values()) for inner in lowered)
    if context.node.op != "WHILE":
        return max(condition, body)
    trips = context.option(TRIPS)
    return (trips + 1) * condition + trips * body if isinstance(trips, int) else condition + body


def require_subgraphs(context: OpContext, *, operands: int, results: int) -> None:
    """Two subgraphs with so many inputs each are there.

    Raises:
        InvalidModel: if not.
    """
    node = context.node
    fits = len(node.subgraphs) == 2 and -1 not in node.inputs
    if not fits or {len(s.inputs) for s in node.subgraphs} != {operands}:
        raise context.invalid("its subgraphs do not take what it gives them")
    if len(node.subgraphs[1].outputs) != results:
        raise context.invalid("its subgraphs do not give what it yields")
    _require_stateless(context)


def _require_stateless(context: OpContext) -> None:
    """No operator inside keeps variable tensors of its own; variables of a loop are inputs.

    Raises:
        Unsupported: naming the operator.
    """
    for subgraph in context.node.subgraphs:
        for node in subgraph.nodes:
            for t in node.inputs:
                own = t >= 0 and context.graph.tensors[t].is_variable and t not in subgraph.inputs
                if own:
                    raise context.unsupported(
                        f"{node.label} of subgraph {subgraph.name!r} keeps state of its own",
                        "make that state a variable of the loop, or take the operator out of it",
                    )


def require_condition(context: OpContext, tensor: Tensor) -> None:
    """A condition is one boolean.

    Raises:
        Unsupported: if it is of another type.
        InvalidModel: if it has more elements than one.
    """
    context.require_type(tensor, DType.BOOL)
    if tensor.elements != 1:
        raise context.invalid(f"its condition {tensor.describe()} is not one boolean")


def require_same(context: OpContext, outer: int, inner: int, what: str) -> None:
    """A value has one type and shape on both sides of a border.

    Raises:
        Unsupported: if it has not, or a size that is known at run time alone.
    """
    ours, theirs = (context.graph.tensors[t] for t in (outer, inner))
    if (ours.dtype, ours.shape) != (theirs.dtype, theirs.shape):
        raise context.unsupported(
            f"{what} is {ours.describe()} outside and {theirs.describe()} inside",
            "make the model so that it keeps its type and shape",
        )
    if not ours.elements or not ours.dtype.in_c:
        raise context.unsupported(
            f"{what} is {ours.describe()}", "only numbers of fixed shapes can be handed over"
        )
