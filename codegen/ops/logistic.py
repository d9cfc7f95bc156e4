"""LOGISTIC: 1 / (1 + exp(-x)); of codes with the output scales that TFLite demands."""

from __future__ import annotations

import numpy as np

from codegen.graph import DType
from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.codes import CODES
from codegen.ops.float32 import float_activation
from codegen.ops.float_curve import float_curve
from codegen.ops.lookup import typed_pair
from codegen.ops.sigmoid16 import sigmoid

TYPES = (*CODES, DType.FLOAT32)


def _logistic(real: np.float32) -> np.float32:
    # Far to the left the exponential is infinite and the result 0.
    one = np.float32(1)
    return one / (one + np.float32(np.exp(-np.float64(real))))


def lower(context: OpContext) -> Lowered:
    """Shapes: x of any shape -> y of the same."""
    x, y = typed_pair(context, *TYPES)
    if x.dtype is DType.FLOAT32:
        return float_activation(context, "cg_logistic_f32")
    parts = 2**15 if x.dtype is DType.INT16 else 2**8
    scale = context.require_quant(y).scale
    if scale != 1 / parts:
        raise context.unsupported(
            f"{y.label} has the scale {scale:g} where only 1/{parts} is defined",
            "convert the model again with the TFLite converter",
        )
    if x.dtype is DType.INT16:
        return sigmoid(context, "cg_logistic_s16", shifts=(0,))
    return float_curve(context, _logistic)


SPEC = OpSpec(
    name="LOGISTIC",
    max_version=3,
    lower=lower,
    types=TYPES,
    notes="output scale 1/256 of 8 bits, 1/32768 of int16",
)
