"""REVERSE_SEQUENCE: the first entries of an axis turned round, as many as each sequence is long."""

from __future__ import annotations

import math

from codegen.graph import DType
from codegen.ops.base import Access, Call, Lowered, OpContext, OpSpec
from codegen.ops.movement import MOVED_TYPES, flat, moved_type, resolved_axis

LENGTH_TYPES = (DType.INT32, DType.INT64)


def lower(context: OpContext) -> Lowered:
    """Inputs: x of any shape, lengths[x.shape[batch_dim]] -> y of x's shape."""
    x, lengths, y = context.input(0), context.input(1), context.output()
    moved_type(context, x, y)
    context.require_type(lengths, *LENGTH_TYPES)
    context.require_shape(y, x.shape)
    rank = len(x.shape)
    sequence = resolved_axis(context, context.int_option("seq_dim"), rank)
    batch = resolved_axis(context, context.int_option("batch_dim"), rank)
    if sequence == batch or lengths.shape != (x.shape[batch],):
        raise context.invalid(
            f"{lengths.label} {lengths.describe()} has no length for each entry of axis {batch} "
            f"of {x.describe()}, apart from axis {sequence}"
        )
    inner = math.prod(x.shape[max(sequence, batch) + 1 :])
    entries = Access(x.index, (1, 1, x.elements // inner, inner), dense=True)
    call = Call(
        kernel="cg_reverse_sequence",
        header="cg_reverse_sequence.h",
        args="cg_reverse_sequence_args",
        params=(
            ("element_bytes", x.dtype.size),
            ("index_bytes", lengths.dtype.size),
            ("inner", inner),
            ("sequence", x.shape[sequence]),
            ("sequence_step", math.prod(x.shape[sequence + 1 :]) // inner),
            ("batch", x.shape[batch]),
            ("batch_step", math.prod(x.shape[batch + 1 :]) // inner),
        ),
        inputs=(entries, flat(lengths)),
        outputs=(Access(y.index, entries.map, dense=True),),
    )
    return Lowered(calls=(call,), summary=f"axis {sequence}, lengths along {batch}")


SPEC = OpSpec(
    name="REVERSE_SEQUENCE",
    max_version=1,
    lower=lower,
    types=MOVED_TYPES,
    notes="int32 or int64 lengths, kept inside the axis",
)
