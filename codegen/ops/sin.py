"""SIN: of radians, of any size."""

from __future__ import annotations

from codegen.graph import DType
from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.curves import float_only


def lower(context: OpContext) -> Lowered:
    """Shapes: x of any shape -> y of the same."""
    return float_only(context, "cg_sin_f32", "cg_trigonometry.h")


SPEC = OpSpec(
    name="SIN",
    max_version=1,
    lower=lower,
    types=(DType.FLOAT32,),
    notes="",
)
