"""SHAPE: the sizes of a tensor's axes."""

from __future__ import annotations

import numpy as np

from codegen.graph import DType
from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.filling import constant_values
from codegen.ops.movement import MOVED_TYPES, moved_type


def lower(context: OpContext) -> Lowered:
    """Shapes: x of rank r -> y[r], int32 or int64."""
    x, y = context.input(0), context.output()
    moved_type(context, x)
    context.require_type(y, DType.INT32, DType.INT64)
    context.require_shape(y, (len(x.shape),))
    if x.free_dims:
        raise context.unsupported(
            f"{x.label} leaves axis {x.free_dims[0]} open",
            "convert the model again with fixed sizes",
        )
    return constant_values(y, np.array(x.shape, y.dtype.numpy))


SPEC = OpSpec(
    name="SHAPE",
    max_version=1,
    lower=lower,
    types=MOVED_TYPES,
    notes="fixed sizes; folds away",
)
