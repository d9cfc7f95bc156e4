"""GATHER: slices of one axis, chosen by indices."""

from __future__ import annotations

import math
from dataclasses import dataclass

from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.indexing import INDEX_TYPES, take_call
from codegen.ops.movement import MOVED_TYPES, flat, moved_type, resolved_axis


@dataclass(frozen=True)
class Gathering:
    """The axis that is indexed, and how many leading axes x and indices have in common."""

    axis: int
    batch: int
    shape: tuple[int, ...]


def gathering(context: OpContext) -> Gathering:
    """What the node takes.

    Raises:
        InvalidModel: for an axis or batch_dims that do not fit the operands.
    """
    x, indices = context.input(0), context.input(1)
    axis = resolved_axis(context, context.int_option("axis"), len(x.shape))
    batch = context.int_option("batch_dims")
    batch += len(indices.shape) if batch < 0 else 0
    if not 0 <= batch <= min(axis, len(indices.shape)) or x.shape[:batch] != indices.shape[:batch]:
        raise context.invalid(
            f"{x.describe()} and {indices.describe()} have no {batch} axes in common before {axis}"
        )
    shape = (*x.shape[:axis], *indices.shape[batch:], *x.shape[axis + 1 :])
    return Gathering(axis, batch, shape)


def lower(context: OpContext) -> Lowered:
    """Inputs: x, indices -> y = x with its axis exchanged for the axes of the indices."""
    x, indices, y = context.input(0), context.input(1), context.output()
    moved_type(context, x, y)
    context.require_type(indices, *INDEX_TYPES)
    taken = gathering(context)
    context.require_shape(y, taken.shape)
    walk = (
        math.prod(x.shape[: taken.batch]),
        math.prod(x.shape[taken.batch : taken.axis]),
        math.prod(indices.shape[taken.batch :]),
        math.prod(x.shape[taken.axis + 1 :]),
    )
    call = take_call(flat(x), indices, y, walk, x.shape[taken.axis])
    return Lowered(calls=(call,), summary=f"axis {taken.axis}")


SPEC = OpSpec(
    name="GATHER",
    max_version=7,
    lower=lower,
    types=MOVED_TYPES,
    notes="int16, int32 or int64 indices, kept inside the axis; batch dimensions",
)
