"""GELU: x times the integral of the normal distribution up to x, or its approximation by tanh."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from codegen.graph import DType
from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.curves import curve, in_double

TYPES = (DType.FLOAT32, DType.INT8, DType.UINT8, DType.INT16)

_HALF, _ONE = np.float32(0.5), np.float32(1)
_erfc = in_double(np.vectorize(math.erfc, otypes=[np.float64]))
_tanh = in_double(np.tanh)


def exact(x: Any) -> Any:
    """0.5 * x * erfc(-x / sqrt(2)), which keeps its digits far to the left."""
    return _HALF * x * _erfc(x * np.float32(-math.sqrt(0.5)))


def approximate(x: Any) -> Any:
    """0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3)))."""
    cubic = x + np.float32(0.044715) * x * x * x
    return _HALF * x * (_ONE + _tanh(np.float32(math.sqrt(2 / math.pi)) * cubic))


def lower(context: OpContext) -> Lowered:
    """Shapes: x of any shape -> y of the same."""
    if context.option("approximate"):
        return curve(context, "cg_gelu_approximate_f32", TYPES, approximate)
    return curve(context, "cg_gelu_f32", TYPES, exact)


SPEC = OpSpec(
    name="GELU",
    max_version=2,
    lower=lower,
    types=TYPES,
    notes="exact or approximate; any scales",
)
