"""RELU_N1_TO_1: x kept between -1 and 1; the arithmetic is RELU's."""

from __future__ import annotations

from codegen.graph import DType
from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.relu import clamped

TYPES = (DType.INT8, DType.UINT8, DType.FLOAT32)


def lower(context: OpContext) -> Lowered:
    """Shapes: x of any shape -> y of the same."""
    return clamped(context, "RELU_N1_TO_1", TYPES)


SPEC = OpSpec(
    name="RELU_N1_TO_1",
    max_version=1,
    lower=lower,
    types=TYPES,
    notes="any scales",
)
