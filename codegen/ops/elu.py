"""ELU: x where it is not negative, exp(x) - 1 elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np

from codegen.graph import DType
from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.curves import curve, in_double

TYPES = (DType.FLOAT32, DType.INT8)

_expm1 = in_double(np.expm1)


def elu(x: Any) -> Any:
    """Of float32 values."""
    return np.where(x < 0, _expm1(x), x)[()]


def lower(context: OpContext) -> Lowered:
    """Shapes: x of any shape -> y of the same."""
    return curve(context, "cg_elu_f32", TYPES, elu)


SPEC = OpSpec(
    name="ELU",
    max_version=1,
    lower=lower,
    types=TYPES,
    notes="any scales",
)
