"""RANGE: evenly spaced numbers; the output's size must be known, so all operands are constant."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from codegen.graph import DType
from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.filling import constant_values
from codegen.ops.movement import moved_type


def numbers(context: OpContext) -> NDArray[np.generic]:
    """start, start + delta, ... short of limit, each the one before plus delta.

    Raises:
        Unsupported: if an operand is computed at run time.
        InvalidModel: for a delta of 0, or a count that the output does not have.
    """
    operands, y = [context.input(i) for i in range(3)], context.output()
    moved_type(context, *operands, y)
    context.require_type(y, DType.INT32, DType.INT64, DType.FLOAT32)
    values = [context.require_constant(tensor).reshape(-1) for tensor in operands]
    if any(v.size != 1 for v in values) or values[2][0] == 0:
        raise context.invalid("start, limit and delta are not one number each, delta not 0")
    start, limit, delta = (v[0] for v in values)
    span, step = float(limit) - float(start), float(delta)
    context.require_shape(y, (max(0, int(np.ceil(span / step))),))
    made = np.full(y.elements, delta)
    made[:1] = start
    return np.cumsum(made, dtype=made.dtype)


def lower(context: OpContext) -> Lowered:
    """Inputs: start, limit, delta (scalars) -> y[n]."""
    return constant_values(context.output(), numbers(context))


SPEC = OpSpec(
    name="RANGE",
    max_version=2,
    lower=lower,
    types=(DType.INT32, DType.INT64, DType.FLOAT32),
    notes="constant operands; folds away",
)
