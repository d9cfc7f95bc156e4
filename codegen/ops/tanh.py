"""TANH."""

from __future__ import annotations

import math

import numpy as np

from codegen.graph import DType
from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.float32 import float_activation
from codegen.ops.float_curve import float_curve
from codegen.ops.lookup import typed_pair

TYPES = (DType.INT8, DType.FLOAT32)


def lower(context: OpContext) -> Lowered:
    """Shapes: x of any shape -> y of the same."""
    x, _ = typed_pair(context, *TYPES)
    if x.dtype is DType.FLOAT32:
        return float_activation(context, "cg_tanh_f32")
    return float_curve(context, lambda real: np.float32(math.tanh(real)))


SPEC = OpSpec(
    name="TANH",
    max_version=3,
    lower=lower,
    types=TYPES,
    notes="any scales",
)
