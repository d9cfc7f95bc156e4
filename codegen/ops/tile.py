"""TILE: the input repeated along its axes."""

from __future__ import annotations

from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.movement import MOVED_TYPES, constant_ints, gather_calls, moved_type, strides_of


def multiples(context: OpContext) -> tuple[int, ...]:
    """How often each axis of the input repeats.

    Raises:
        Unsupported: if that is computed at run time.
        InvalidModel: for a wrong number of them.
    """
    x, tensor = context.input(0), context.input(1)
    times = constant_ints(context, tensor)
    if len(times) != len(x.shape) or any(t < 0 for t in times):
        raise context.invalid(f"{tensor.label} holds {list(times)} for {x.describe()}")
    return times


def lower(context: OpContext) -> Lowered:
    """Inputs: x of any shape, multiples[rank] -> y[i] = x.shape[i] * multiples[i]."""
    x, y = context.input(0), context.output()
    moved_type(context, x, y)
    times = multiples(context)
    context.require_shape(y, tuple(n * t for n, t in zip(x.shape, times, strict=True)))
    axes = []
    for size, stride, repeats in zip(x.shape, strides_of(x.shape), times, strict=True):
        axes += [(repeats, 0), (size, stride)]
    calls = gather_calls(context, x, y, 0, axes)
    return Lowered(calls=calls, summary=f"x [{','.join(map(str, times))}]")


SPEC = OpSpec(
    name="TILE",
    max_version=3,
    lower=lower,
    types=MOVED_TYPES,
    notes="constant multiples",
)
