"""EMBEDDING_LOOKUP: rows of a table, chosen by indices."""

from __future__ import annotations

import math

from codegen.graph import DType
from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.indexing import take_call
from codegen.ops.movement import MOVED_TYPES, flat, moved_type


def lower(context: OpContext) -> Lowered:
    """Inputs: ids[n], x[rows, ...] -> y[n, ...]."""
    ids, x, y = context.input(0), context.input(1), context.output()
    context.require_type(ids, DType.INT32)
    moved_type(context, x, y)
    if len(ids.shape) != 1 or len(x.shape) < 2:
        raise context.invalid(f"{ids.describe()} names no rows of {x.describe()}")
    context.require_shape(y, (*ids.shape, *x.shape[1:]))
    walk = (1, 1, ids.elements, math.prod(x.shape[1:]))
    return Lowered(calls=(take_call(flat(x), ids, y, walk, x.shape[0]),))


SPEC = OpSpec(
    name="EMBEDDING_LOOKUP",
    max_version=4,
    lower=lower,
    types=MOVED_TYPES,
    notes="int32 ids, kept inside the table",
)
