"""ONE_HOT: a new axis on which the entry that an index names differs from all others."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from codegen.graph import DType, Tensor
from codegen.ops.base import Access, Call, Lowered, OpContext, OpSpec, table
from codegen.ops.movement import constant_ints, flat, moved_type, resolved_axis


def lower(context: OpContext) -> Lowered:
    """Inputs: indices, depth, on, off (one element each) -> y with an axis of `depth` more."""
    indices, y = context.input(0), context.output()
    context.require_type(indices, DType.INT32, DType.INT64)
    depth = constant_ints(context, context.input(1))
    on, off = (_element(context, context.input(i), y) for i in (2, 3))
    axis = context.int_option("axis", -1)
    axis = resolved_axis(context, axis, len(indices.shape) + 1)
    if len(depth) != 1 or depth[0] < 1:
        raise context.invalid(f"{list(depth)} is no number of entries")
    context.require_shape(y, (*indices.shape[:axis], depth[0], *indices.shape[axis:]))
    outer, inner = math.prod(indices.shape[:axis]), math.prod(indices.shape[axis:])
    call = Call(
        kernel="cg_one_hot",
        header="cg_one_hot.h",
        args="cg_one_hot_args",
        params=(
            ("element_bytes", y.dtype.size),
            ("index_bytes", indices.dtype.size),
            ("depth", depth[0]),
            ("inner", inner),
            ("on", table(on)),
            ("off", table(off)),
        ),
        inputs=(flat(indices),),
        outputs=(Access(y.index, (1, outer, depth[0], inner)),),
    )
    return Lowered(calls=(call,), summary=f"{depth[0]} entries, axis {axis}")


def _element(context: OpContext, tensor: Tensor, y: Tensor) -> NDArray[np.generic]:
    moved_type(context, tensor, y)
    values = context.require_constant(tensor).reshape(-1)
    if values.size != 1:
        raise context.invalid(f"{tensor.label} holds {values.size} elements instead of one")
    return values


SPEC = OpSpec(
    name="ONE_HOT",
    max_version=1,
    lower=lower,
    types=(DType.INT32, DType.INT64),
    notes="constant depth and values, these of any type of whole bytes",
)
