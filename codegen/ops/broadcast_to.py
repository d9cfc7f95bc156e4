"""BROADCAST_TO: axes of size 1 stretched to a given shape."""

from __future__ import annotations

from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.movement import MOVED_TYPES, constant_ints, gather_calls, moved_type, strides_of


def lower(context: OpContext) -> Lowered:
    """Inputs: x of any shape, the output's shape -> y of that shape."""
    x, y = context.input(0), context.output()
    moved_type(context, x, y)
    context.require_shape(y, constant_ints(context, context.input(1)))
    missing = len(y.shape) - len(x.shape)
    padded = (1,) * missing + x.shape
    if missing < 0 or any(n not in (1, m) for n, m in zip(padded, y.shape, strict=True)):
        raise context.invalid(f"{x.label} {x.describe()} does not stretch to {y.describe()}")
    axes = [
        (size, stride if own == size else 0)
        for own, size, stride in zip(padded, y.shape, strides_of(padded), strict=True)
    ]
    calls = gather_calls(context, x, y, 0, axes)
    return Lowered(calls=calls, summary=f"from [{','.join(map(str, x.shape))}]")


SPEC = OpSpec(
    name="BROADCAST_TO",
    max_version=3,
    lower=lower,
    types=MOVED_TYPES,
    notes="constant shape",
)
