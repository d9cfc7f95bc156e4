"""BROADCAST_ARGS: the shape that two shapes broadcast to."""

from __future__ import annotations

from codegen.graph import DType
from codegen.ops.base import Access, Call, Lowered, OpContext, OpSpec
from codegen.ops.movement import flat, moved_type


def lower(context: OpContext) -> Lowered:
    """Inputs: two shapes a[p], b[q] -> y[max(p, q)].

    Sizes that do not go together stop the reference; here the one of `a` counts.
    """
    a, b, y = context.input(0), context.input(1), context.output()
    for tensor in (a, b):
        context.require_type(tensor, DType.INT32, DType.INT64)
        if len(tensor.shape) != 1:
            raise context.invalid(f"{tensor.label} {tensor.describe()} is no shape")
    moved_type(context, a, b, y)
    rank = max(a.elements, b.elements)
    context.require_shape(y, (rank,))
    call = Call(
        kernel="cg_broadcast_args",
        header="cg_broadcast_args.h",
        args="cg_broadcast_args_args",
        params=(
            ("element_bytes", y.dtype.size),
            ("a_missing", rank - a.elements),
            ("b_missing", rank - b.elements),
        ),
        inputs=(flat(a), flat(b)),
        outputs=(Access(y.index, (1, 1, 1, rank)),),
    )
    return Lowered(calls=(call,))


SPEC = OpSpec(
    name="BROADCAST_ARGS",
    max_version=1,
    lower=lower,
    types=(DType.INT32, DType.INT64),
    notes="folds away where both shapes are constant",
)
