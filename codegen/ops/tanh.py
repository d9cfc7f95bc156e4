"""TANH, int8."""

from __future__ import annotations

import math

import numpy as np

from codegen.graph import DType
from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.float_curve import float_curve


def lower(context: OpContext) -> Lowered:
    """Shapes: x of any shape -> y of the same."""
    return float_curve(context, lambda real: np.float32(math.tanh(real)))


SPEC = OpSpec(
    name="TANH",
    max_version=3,
    lower=lower,
    types=(DType.INT8,),
    notes="any scales",
)
