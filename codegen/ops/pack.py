"""PACK: tensors of one shape side by side along a new axis."""

from __future__ import annotations

from codegen.graph import Tensor
from codegen.ops.base import Access, Call, Lowered, OpContext, OpSpec
from codegen.ops.copy import copy_call
from codegen.ops.movement import MOVED_TYPES, moved_type, part_of, resolved_axis


def lower(context: OpContext) -> Lowered:
    """Shapes: n inputs of one shape -> y with an axis of n more."""
    y = context.output()
    inputs = [context.input(i) for i in range(max(1, len(context.node.inputs)))]
    moved_type(context, *inputs, y)
    shape = inputs[0].shape
    for x in inputs:
        if x.shape != shape:
            raise context.invalid(f"{x.label} {x.describe()} differs from {inputs[0].describe()}")
    axis = resolved_axis(context, context.int_option("axis"), len(shape) + 1)
    if context.int_option("values_count", len(inputs)) != len(inputs):
        raise context.invalid(f"values_count is not {len(inputs)}, the number of inputs")
    context.require_shape(y, (*shape[:axis], len(inputs), *shape[axis:]))
    calls = tuple(_copy_into(x, y, axis, i) for i, x in enumerate(inputs))
    return Lowered(calls=calls, summary=f"axis {axis}")


def _copy_into(x: Tensor, y: Tensor, axis: int, position: int) -> Call:
    corner = [position if i == axis else 0 for i in range(len(y.shape))]
    part = part_of(y, corner, (*x.shape[:axis], 1, *x.shape[axis:]))
    assert part is not None, "one cut axis leaves at most three"
    return copy_call(Access(x.index, part.extent), part, x.dtype.size)


SPEC = OpSpec(
    name="PACK",
    max_version=4,
    lower=lower,
    types=MOVED_TYPES,
    notes="any axis",
)
