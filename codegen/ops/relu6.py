"""RELU6: min(max(x, 0), 6) as an operator of its own; the arithmetic is RELU's."""

from __future__ import annotations

from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.relu import TYPES, clamped


def lower(context: OpContext) -> Lowered:
    """Shapes: x of any shape -> y of the same."""
    return clamped(context, "RELU6")


SPEC = OpSpec(
    name="RELU6",
    max_version=3,
    lower=lower,
    types=TYPES,
    notes="any scales",
)
