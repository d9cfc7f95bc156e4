"""EXP: e to the power of x."""

from __future__ import annotations

import numpy as np

from codegen.graph import DType
from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.curves import curve, in_double

TYPES = (DType.FLOAT32, DType.INT8, DType.INT16)


def lower(context: OpContext) -> Lowered:
    """Shapes: x of any shape -> y of the same."""
    return curve(context, "cg_exp_f32", TYPES, in_double(np.exp))


SPEC = OpSpec(
    name="EXP",
    max_version=2,
    lower=lower,
    types=TYPES,
    notes="any scales",
)
