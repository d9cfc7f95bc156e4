"""LOG: the natural logarithm; codes of numbers that have none give the smallest code."""

from __future__ import annotations

from typing import Any

import numpy as np

from codegen.fixed_point import integer_range
from codegen.graph import DType
from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.curves import curve, in_double

TYPES = (DType.FLOAT32, DType.INT8, DType.INT16)


def lower(context: OpContext) -> Lowered:
    """Shapes: x of any shape -> y of the same."""
    y = context.output()
    lowest = np.float32(0)
    if y.dtype in (DType.INT8, DType.INT16):
        quant = context.require_quant(y)
        steps = integer_range(y.dtype)[0] - quant.zero_point
        lowest = np.float32(steps) * np.float32(quant.scale)
    logarithm = in_double(np.log)

    def function(x: Any) -> Any:
        return np.where(x > 0, logarithm(x), lowest)[()]

    return curve(context, "cg_log_f32", TYPES, function)


SPEC = OpSpec(
    name="LOG",
    max_version=2,
    lower=lower,
    types=TYPES,
    notes="any scales",
)
