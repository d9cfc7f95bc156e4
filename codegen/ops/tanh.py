"""TANH."""

from __future__ import annotations

import math

import numpy as np

from codegen.graph import DType
from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.codes import CODES
from codegen.ops.float32 import float_activation
from codegen.ops.float_curve import float_curve
from codegen.ops.lookup import typed_pair
from codegen.ops.sigmoid16 import near_power_of_two, sigmoid

TYPES = (*CODES, DType.FLOAT32)


def lower(context: OpContext) -> Lowered:
    """Shapes: x of any shape -> y of the same."""
    x, y = typed_pair(context, *TYPES)
    if x.dtype is DType.FLOAT32:
        return float_activation(context, "cg_tanh_f32")
    if x.dtype is not DType.INT16:
        return float_curve(context, lambda real: np.float32(math.tanh(real)))
    scale = context.require_quant(y).scale
    if near_power_of_two(scale) != -15:
        raise context.unsupported(
            f"{y.label} has the scale {scale:g} where only 1/32768 is defined",
            "convert the model again with the TFLite converter",
        )
    return sigmoid(context, "cg_tanh_s16", shifts=(0, 1))


SPEC = OpSpec(
    name="TANH",
    max_version=3,
    lower=lower,
    types=TYPES,
    notes="any scales; int16: output scale 1/32768",
)
