"""EMBEDDING_LOOKUP: rows of a table, chosen by indices; int8 and int4 tables also give floats."""

from __future__ import annotations

import math

import numpy as np

from codegen.graph import DType, Tensor
from codegen.ops.base import Access, Call, Lowered, OpContext, OpSpec, table, weights
from codegen.ops.indexing import take_call
from codegen.ops.movement import MOVED_TYPES, flat, moved_type
from codegen.ops.requantize import channel_scales


def lower(context: OpContext) -> Lowered:
    """Inputs: ids[n], x[rows, ...] -> y[n, ...]."""
    ids, x, y = context.input(0), context.input(1), context.output()
    context.require_type(ids, DType.INT32)
    if len(ids.shape) != 1 or len(x.shape) < 2:
        raise context.invalid(f"{ids.describe()} names no rows of {x.describe()}")
    context.require_shape(y, (*ids.shape, *x.shape[1:]))
    if y.dtype is DType.FLOAT32 and x.dtype in (DType.INT8, DType.INT4):
        return Lowered(calls=(_hybrid_call(context, ids, x, y),), summary=f"of {x.describe()}")
    moved_type(context, x, y)
    walk = (1, 1, ids.elements, math.prod(x.shape[1:]))
    return Lowered(calls=(take_call(flat(x), ids, y, walk, x.shape[0]),))


def _hybrid_call(context: OpContext, ids: Tensor, x: Tensor, y: Tensor) -> Call:
    """Every code of the constant table times its row's scale, or that of all.

    Raises:
        Unsupported: for a table that is computed at run time, or of rows of int4 that end inside a
            byte, which the reference misreads.
        InvalidModel: for scales that do not fit the table, and for zero points.
    """
    rows, columns = x.shape[0], math.prod(x.shape[1:])
    scales, narrow = channel_scales(context, x, 0), x.dtype is DType.INT4
    if narrow and columns % 2:
        raise context.unsupported(
            f"{x.label} has rows of {columns} elements of 4 bits", "make their number even"
        )
    if not x.is_constant or x.raw is None:
        raise context.unsupported(
            f"{x.label} is computed at run time", "only a constant is supported here, so fix it"
        )
    codes = weights(np.frombuffer(x.raw, np.int8))
    per_row = x.quant is not None and x.quant.per_channel
    return Call(
        kernel="cg_embedding",
        header="cg_embedding.h",
        args="cg_embedding_args",
        params=(
            ("rows", rows),
            ("columns", columns),
            ("per_row", int(per_row)),
            ("codes", None if narrow else codes),
            ("pairs", codes if narrow else None),
            ("scales", table(np.array(scales if per_row else scales[:1], np.float32))),
        ),
        inputs=(flat(ids),),
        outputs=(Access(y.index, (1, 1, ids.elements, columns)),),
    )


SPEC = OpSpec(
    name="EMBEDDING_LOOKUP",
    max_version=4,
    lower=lower,
    types=MOVED_TYPES,
    notes=(
        "int32 ids, kept inside the table; constant tables of int8 or int4, one scale or one per "
        "row, also give float32"
    ),
)
