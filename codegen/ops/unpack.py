"""UNPACK: one output per index of an axis, which the outputs lack."""

from __future__ import annotations

from codegen.graph import Tensor
from codegen.ops.base import Access, Call, Lowered, OpContext, OpSpec
from codegen.ops.copy import copy_call
from codegen.ops.movement import MOVED_TYPES, moved_type, part_of, resolved_axis


def lower(context: OpContext) -> Lowered:
    """Shapes: x with n along `axis` -> n outputs without that axis."""
    x = context.input(0)
    outputs = [context.output(i) for i in range(max(1, len(context.node.outputs)))]
    moved_type(context, x, *outputs)
    axis = resolved_axis(context, context.int_option("axis"), len(x.shape))
    count = context.int_option("num", len(outputs))
    if not count == len(outputs) == x.shape[axis]:
        raise context.invalid(
            f"axis {axis} of {x.describe()} makes no {count} parts for {len(outputs)} outputs"
        )
    for y in outputs:
        context.require_shape(y, (*x.shape[:axis], *x.shape[axis + 1 :]))
    calls = tuple(_copy_out(x, y, axis, i) for i, y in enumerate(outputs))
    return Lowered(calls=calls, summary=f"axis {axis}")


def _copy_out(x: Tensor, y: Tensor, axis: int, position: int) -> Call:
    corner = [position if i == axis else 0 for i in range(len(x.shape))]
    part = part_of(x, corner, (*x.shape[:axis], 1, *x.shape[axis + 1 :]))
    assert part is not None, "one cut axis leaves at most three"
    return copy_call(part, Access(y.index, part.extent), x.dtype.size)


SPEC = OpSpec(
    name="UNPACK",
    max_version=4,
    lower=lower,
    types=MOVED_TYPES,
    notes="any axis",
)
