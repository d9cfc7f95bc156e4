"""RELU_0_TO_1: x kept between 0 and 1; of codes as RELU, see there."""

from __future__ import annotations

from codegen.graph import DType
from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.curves import float_only
from codegen.ops.lookup import BYTES
from codegen.ops.relu import clamped

TYPES = (DType.FLOAT32, *BYTES)


def lower(context: OpContext) -> Lowered:
    """Shapes: x of any shape -> y of the same."""
    if context.input(0).dtype is DType.FLOAT32:
        return float_only(context, "cg_relu_0_to_1_f32")
    return clamped(context, "RELU_0_TO_1", TYPES)


SPEC = OpSpec(
    name="RELU_0_TO_1",
    max_version=1,
    lower=lower,
    types=TYPES,
    notes="any scales",
)
