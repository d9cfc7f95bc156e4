"""LOGISTIC: 1 / (1 + exp(-x)); of int8 with the output scale 1/256 that TFLite demands."""

from __future__ import annotations

import numpy as np

from codegen.graph import DType
from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.float32 import float_activation
from codegen.ops.float_curve import float_curve
from codegen.ops.lookup import typed_pair

TYPES = (DType.INT8, DType.FLOAT32)


def _logistic(real: np.float32) -> np.float32:
    # Far to the left the exponential is infinite and the result 0.
    one = np.float32(1)
    return one / (one + np.float32(np.exp(-np.float64(real))))


def lower(context: OpContext) -> Lowered:
    """Shapes: x of any shape -> y of the same."""
    x, y = typed_pair(context, *TYPES)
    if x.dtype is DType.FLOAT32:
        return float_activation(context, "cg_logistic_f32")
    scale = context.require_quant(y).scale
    if scale != 1 / 256:
        raise context.unsupported(
            f"{y.label} has the scale {scale:g} where only 1/256 is defined",
            "convert the model again with the TFLite converter",
        )
    return float_curve(context, _logistic)


SPEC = OpSpec(
    name="LOGISTIC",
    max_version=3,
    lower=lower,
    types=TYPES,
    notes="int8: output scale 1/256",
)
