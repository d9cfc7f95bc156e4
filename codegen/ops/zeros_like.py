"""ZEROS_LIKE: a tensor of the input's shape, all its bytes 0."""

from __future__ import annotations

import numpy as np

from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.filling import fill_call
from codegen.ops.movement import MOVED_TYPES, moved_type


def lower(context: OpContext) -> Lowered:
    """Shapes: x of any shape -> y of the same one."""
    x, y = context.input(0), context.output()
    moved_type(context, x, y)
    context.require_shape(y, x.shape)
    return Lowered(calls=(fill_call(y, np.zeros(1, f"u{y.dtype.size}")),))


SPEC = OpSpec(
    name="ZEROS_LIKE",
    max_version=1,
    lower=lower,
    types=MOVED_TYPES,
    notes="",
)
