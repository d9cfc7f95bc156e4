"""SPLIT_V: one copy per output out of its part of the input; the parts' sizes differ."""

from __future__ import annotations

from codegen.ops.base import Call, Lowered, OpContext, OpSpec
from codegen.ops.movement import MOVED_TYPES, constant_ints, moved_type, one_axis, slice_calls


def part_sizes(context: OpContext) -> tuple[int, tuple[int, ...]]:
    """The axis, and the sizes of the parts along it with their one -1 resolved.

    Raises:
        Unsupported: if either is computed at run time.
        InvalidModel: if the sizes do not add up.
    """
    x = context.input(0)
    axis = one_axis(context, context.input(2), len(x.shape))
    sizes = constant_ints(context, context.input(1))
    if sizes.count(-1) == 1:
        rest = x.shape[axis] - sum(s for s in sizes if s != -1)
        sizes = tuple(rest if s == -1 else s for s in sizes)
    if any(s < 0 for s in sizes) or sum(sizes) != x.shape[axis]:
        raise context.invalid(f"parts of {list(sizes)} do not fill axis {axis} of {x.describe()}")
    return axis, sizes


def lower(context: OpContext) -> Lowered:
    """Inputs: x of any shape, sizes[n] (one may be -1), axis (scalar) -> n parts."""
    x = context.input(0)
    outputs = [context.output(i) for i in range(max(1, len(context.node.outputs)))]
    moved_type(context, x, *outputs)
    axis, sizes = part_sizes(context)
    if not len(sizes) == len(outputs) == context.int_option("num_splits", len(outputs)):
        raise context.invalid(f"{len(sizes)} sizes do not fit {len(outputs)} outputs")
    calls: list[Call] = []
    start = 0
    for y, size in zip(outputs, sizes, strict=True):
        context.require_shape(y, (*x.shape[:axis], size, *x.shape[axis + 1 :]))
        corner = [start if a == axis else 0 for a in range(len(x.shape))]
        calls += slice_calls(context, x, y, corner)
        start += size
    return Lowered(calls=tuple(calls), summary=f"axis {axis}")


SPEC = OpSpec(
    name="SPLIT_V",
    max_version=2,
    lower=lower,
    types=MOVED_TYPES,
    notes="constant sizes and axis",
)
