"""RANK: how many axes a tensor has."""

from __future__ import annotations

import numpy as np

from codegen.graph import DType
from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.filling import constant_values
from codegen.ops.movement import MOVED_TYPES, moved_type


def lower(context: OpContext) -> Lowered:
    """Shapes: x of any shape -> y, an int32 scalar."""
    x, y = context.input(0), context.output()
    moved_type(context, x)
    context.require_type(y, DType.INT32)
    context.require_shape(y, ())
    return constant_values(y, np.array(len(x.shape), y.dtype.numpy))


SPEC = OpSpec(
    name="RANK",
    max_version=1,
    lower=lower,
    types=MOVED_TYPES,
    notes="folds away",
)
