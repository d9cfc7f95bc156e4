"""SCATTER_ND: zeros, to which slices are added at places chosen by vectors of indices."""

from __future__ import annotations

import math

import numpy as np

from codegen.graph import DType
from codegen.ops.base import Access, Call, Lowered, OpContext, OpSpec, table
from codegen.ops.indexing import INDEX_TYPES, index_vectors
from codegen.ops.movement import constant_ints, flat, moved_type, strides_of

_INTEGER, _FLOAT, _BOOL = 0, 1, 2  # cg_sum of the kernel

_SUMS = {
    DType.BOOL: _BOOL,
    DType.INT8: _INTEGER,
    DType.UINT8: _INTEGER,
    DType.INT16: _INTEGER,
    DType.INT32: _INTEGER,
    DType.INT64: _INTEGER,
    DType.FLOAT32: _FLOAT,
}


def lower(context: OpContext) -> Lowered:
    """Inputs: indices[..., k], updates[..., the axes of y behind the first k], y's shape -> y."""
    indices, updates, y = context.input(0), context.input(1), context.output()
    moved_type(context, updates, y)
    context.require_type(updates, *_SUMS)
    context.require_type(indices, *INDEX_TYPES)
    context.require_shape(y, constant_ints(context, context.input(2)))
    count, depth = index_vectors(context, indices, y.shape)
    expected = (*indices.shape[:-1], *y.shape[depth:])
    if updates.shape != expected:
        raise context.invalid(f"{updates.describe()} does not fit {indices.describe()}")
    call = Call(
        kernel="cg_scatter_nd",
        header="cg_scatter_nd.h",
        args="cg_scatter_nd_args",
        params=(
            ("sum", _SUMS[updates.dtype]),
            ("element_bytes", y.dtype.size),
            ("index_bytes", indices.dtype.size),
            ("vectors", count),
            ("depth", depth),
            ("inner", math.prod(y.shape[depth:])),
            ("sizes", table(np.array(y.shape[:depth], np.int32))),
            ("strides", table(np.array(strides_of(y.shape)[:depth], np.int32))),
        ),
        inputs=(flat(indices), flat(updates)),
        outputs=(Access(y.index, (1, 1, 1, y.elements), dense=True),),
    )
    return Lowered(calls=(call,), summary=f"{depth} of {len(y.shape)} axes")


SPEC = OpSpec(
    name="SCATTER_ND",
    max_version=1,
    lower=lower,
    types=tuple(_SUMS),
    notes="constant shape; int16, int32 or int64 indices, kept inside their axes; repeated add up",
)
