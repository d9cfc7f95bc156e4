"""FILL: a tensor whose elements are all the same."""

from __future__ import annotations

import numpy as np

from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.filling import fill_call
from codegen.ops.movement import MOVED_TYPES, constant_ints, gather_calls, moved_type


def lower(context: OpContext) -> Lowered:
    """Inputs: the output's shape, value (one element) -> y of that shape."""
    value, y = context.input(1), context.output()
    moved_type(context, value, y)
    context.require_shape(y, constant_ints(context, context.input(0)))
    if value.elements != 1:
        raise context.invalid(f"{value.label} holds {value.elements} elements instead of one")
    if value.raw is not None:
        return Lowered(calls=(fill_call(y, np.frombuffer(value.raw, f"u{y.dtype.size}")),))
    return Lowered(calls=gather_calls(context, value, y, 0, [(y.elements, 0)]))


SPEC = OpSpec(
    name="FILL",
    max_version=4,
    lower=lower,
    types=MOVED_TYPES,
    notes="constant shape",
)
