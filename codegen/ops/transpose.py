"""TRANSPOSE: the axes in another order."""

from __future__ import annotations

from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.copy import reshaped_copy
from codegen.ops.movement import (
    MOVED_TYPES,
    constant_ints,
    gather_calls,
    joined_axes,
    moved_type,
    resolved_axis,
    strides_of,
)


def permutation(context: OpContext) -> tuple[int, ...]:
    """The input axis of every output axis.

    Raises:
        Unsupported: if it is computed at run time.
        InvalidModel: if it is no permutation.
    """
    rank = len(context.input(0).shape)
    perm = tuple(resolved_axis(context, a, rank) for a in constant_ints(context, context.input(1)))
    if sorted(perm) != list(range(rank)):
        raise context.invalid(f"{list(perm)} is no permutation of {rank} axes")
    return perm


def lower(context: OpContext) -> Lowered:
    """Inputs: x of any shape, perm[rank] -> y with axis i of size x.shape[perm[i]].

    A permutation that moves axes of size 1 alone leaves the bytes as they are: a view.
    """
    x, y = context.input(0), context.output()
    moved_type(context, x, y)
    perm = permutation(context)
    context.require_shape(y, tuple(x.shape[p] for p in perm))
    summary = f"[{','.join(map(str, perm))}]"
    strides = strides_of(x.shape)
    axes = [(x.shape[p], strides[p]) for p in perm]
    if joined_axes(axes) in ([], [(x.elements, 1)]):
        return Lowered(calls=(reshaped_copy(x, y),), summary=summary, view_of=x.index)
    calls = gather_calls(context, x, y, 0, axes)
    return Lowered(calls=calls, summary=summary)


SPEC = OpSpec(
    name="TRANSPOSE",
    max_version=8,
    lower=lower,
    types=MOVED_TYPES,
    notes="constant permutation",
)
