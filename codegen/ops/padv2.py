"""PADV2: fills around a tensor with a constant of its own."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.movement import moved_type
from codegen.ops.pad_common import PADDED_TYPES, is_quantised, lower_padding, zero_value


def fill_value(context: OpContext) -> NDArray[np.generic]:
    """The third input as one element; without it, the output's zero point.

    Raises:
        Unsupported: if it is computed at run time.
        InvalidModel: if it is no single element, or quantised otherwise than the output.
    """
    y, constant = context.output(), context.optional_input(2)
    if constant is None:
        return zero_value(y)
    moved_type(context, y, constant)
    values = context.require_constant(constant).reshape(-1)
    if values.size != 1:
        raise context.invalid(f"{constant.label} holds {values.size} elements instead of one")
    if is_quantised(y):
        ours, theirs = context.require_quant(constant), context.require_quant(y)
        if (ours.scale, ours.zero_point) != (theirs.scale, theirs.zero_point):
            raise context.invalid(f"{constant.label} is quantised otherwise than {y.label}")
    return values


def lower(context: OpContext) -> Lowered:
    """Inputs: x of rank 1 to 5, paddings[rank, 2], value -> y larger by the paddings."""
    return lower_padding(context, fill_value(context))


SPEC = OpSpec(
    name="PADV2",
    max_version=6,
    lower=lower,
    types=PADDED_TYPES,
    notes="constant paddings and fill value, rank up to 5",
)
