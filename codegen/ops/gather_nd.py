"""GATHER_ND: slices of the leading axes, each chosen by a vector of indices."""

from __future__ import annotations

import math

import numpy as np

from codegen.ops.base import Access, Call, Lowered, OpContext, OpSpec, table
from codegen.ops.indexing import INDEX_TYPES, index_vectors
from codegen.ops.movement import MOVED_TYPES, flat, moved_type, strides_of


def lower(context: OpContext) -> Lowered:
    """Inputs: x, indices[..., k] -> y[..., the axes of x behind the first k]."""
    x, indices, y = context.input(0), context.input(1), context.output()
    moved_type(context, x, y)
    context.require_type(indices, *INDEX_TYPES)
    count, depth = index_vectors(context, indices, x.shape)
    context.require_shape(y, (*indices.shape[:-1], *x.shape[depth:]))
    inner = math.prod(x.shape[depth:])
    call = Call(
        kernel="cg_take_nd",
        header="cg_take.h",
        args="cg_take_nd_args",
        params=(
            ("element_bytes", x.dtype.size),
            ("index_bytes", indices.dtype.size),
            ("depth", depth),
            ("sizes", table(np.array(x.shape[:depth], np.int32))),
            ("strides", table(np.array(strides_of(x.shape)[:depth], np.int32))),
        ),
        inputs=(flat(x), flat(indices)),
        outputs=(Access(y.index, (1, 1, count, inner)),),
    )
    return Lowered(calls=(call,), summary=f"{depth} of {len(x.shape)} axes")


SPEC = OpSpec(
    name="GATHER_ND",
    max_version=5,
    lower=lower,
    types=MOVED_TYPES,
    notes="int16, int32 or int64 indices, kept inside their axes",
)
