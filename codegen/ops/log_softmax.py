"""LOG_SOFTMAX over the last axis, float32: x - largest - log(sum of exp(x - largest))."""

from __future__ import annotations

from codegen.graph import DType
from codegen.ops.base import Alias, Call, Lowered, OpContext, OpSpec, whole
from codegen.ops.elements import unary_operands

TYPES = (DType.FLOAT32,)


def lower(context: OpContext) -> Lowered:
    """Shapes: x[..., c] -> y[..., c]."""
    x, y = unary_operands(context, TYPES)
    if not x.shape:
        raise context.invalid(f"{x.label} is a scalar and has no last axis")
    call = Call(
        kernel="cg_log_softmax_f32",
        header="cg_log_softmax_f32.h",
        args="",
        params=(),
        inputs=(whole(x, Alias.ELEMENT),),
        outputs=(whole(y),),
    )
    return Lowered(calls=(call,), summary=f"over {x.shape[-1]}")


SPEC = OpSpec(
    name="LOG_SOFTMAX",
    max_version=2,
    lower=lower,
    types=TYPES,
    notes="over the last axis",
)
