"""NEG: -x. The reference negates codes as they are, whatever their zero points; so does this."""

from __future__ import annotations

from codegen.graph import DType
from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.elements import SUFFIX, unary_call, unary_operands

TYPES = (DType.FLOAT32, DType.INT8, DType.INT16, DType.INT32, DType.INT64)


def lower(context: OpContext) -> Lowered:
    """Shapes: x of any shape -> y of the same."""
    x, y = unary_operands(context, TYPES)
    return Lowered(calls=(unary_call(f"cg_neg_{SUFFIX[x.dtype]}", "cg_sign.h", x, y),))


SPEC = OpSpec(
    name="NEG",
    max_version=1,
    lower=lower,
    types=TYPES,
    notes="of codes as they are",
)
