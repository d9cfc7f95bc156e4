"""SPLIT: one copy per output out of its part of the input."""

from __future__ import annotations

from codegen.ops.base import Call, Lowered, OpContext, OpSpec
from codegen.ops.movement import MOVED_TYPES, moved_type, one_axis, slice_calls


def lower(context: OpContext) -> Lowered:
    """Inputs: axis (scalar), x of any shape -> `num_splits` equal parts along that axis."""
    axis_tensor, x = context.input(0), context.input(1)
    outputs = [context.output(i) for i in range(max(1, len(context.node.outputs)))]
    moved_type(context, x, *outputs)
    axis = one_axis(context, axis_tensor, len(x.shape))
    count = context.int_option("num_splits", len(outputs))
    if count != len(outputs) or x.shape[axis] % count:
        raise context.invalid(
            f"{x.shape[axis]} elements along axis {axis} make no {count} parts "
            f"for {len(outputs)} outputs"
        )
    size = x.shape[axis] // count
    calls: list[Call] = []
    for i, y in enumerate(outputs):
        context.require_shape(y, (*x.shape[:axis], size, *x.shape[axis + 1 :]))
        start = [i * size if a == axis else 0 for a in range(len(x.shape))]
        calls += slice_calls(context, x, y, start)
    return Lowered(calls=tuple(calls), summary=f"axis {axis}")


SPEC = OpSpec(
    name="SPLIT",
    max_version=5,
    lower=lower,
    types=MOVED_TYPES,
    notes="constant axis",
)
