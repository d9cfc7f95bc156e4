"""SIGN: 1, 0 or -1."""

from __future__ import annotations

from codegen.graph import DType
from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.elements import SUFFIX, unary_call, unary_operands

TYPES = (DType.FLOAT32, DType.INT32)


def lower(context: OpContext) -> Lowered:
    """Shapes: x of any shape -> y of the same."""
    x, y = unary_operands(context, TYPES)
    return Lowered(calls=(unary_call(f"cg_sign_{SUFFIX[x.dtype]}", "cg_sign.h", x, y),))


SPEC = OpSpec(
    name="SIGN",
    max_version=2,
    lower=lower,
    types=TYPES,
    notes="",
)
