"""SUM, REDUCE_MAX and the like: one result for all elements along some axes, any of them.

Source: TFLite's reference `Reduce`, which takes the elements in the order in which they lie.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from codegen.graph import DType, Tensor
from codegen.ops.base import Call, Lowered, OpContext, Param
from codegen.ops.movement import constant_ints, resolved_axis
from codegen.ops.walks import axes_of, flat_access, walk_params

_HEADER = "cg_reduce.h"


@dataclass(frozen=True)
class Reduction:
    """A checked node: what is reduced along which axes, and into what."""

    x: Tensor
    y: Tensor
    axes: frozenset[int]

    @property
    def count(self) -> int:
        """Elements per result."""
        return self.x.elements // self.y.elements


def reduction(context: OpContext, types: Sequence[DType]) -> Reduction:
    """Check types, axes and shapes of a reduction.

    Raises:
        Unsupported: for another type, axes computed at run time, or an empty input.
        InvalidModel: for axes that do not exist or another output shape.
    """
    x, y = context.input(0), context.output()
    context.require_type(x, *types)
    context.require_type(y, x.dtype)
    context.require_type(context.input(1), DType.INT32)
    if not x.elements:
        raise context.unsupported(f"{x.label} is empty", "remove the operator from the model")
    rank, numbers = len(x.shape), constant_ints(context, context.input(1))
    axes = frozenset(resolved_axis(context, a, rank) for a in numbers) if rank else frozenset()
    keep = bool(context.option("keep_dims"))
    kept = (1 if a in axes else d for a, d in enumerate(x.shape) if keep or a not in axes)
    context.require_shape(y, tuple(kept))
    return Reduction(x, y, axes)


def reduced(
    context: OpContext,
    task: Reduction,
    kernel: str,
    args: str = "cg_reduce_args",
    params: Sequence[tuple[str, Param]] = (),
) -> Lowered:
    """The one call of a reduction, by a kernel of cg_reduce.h."""
    kept = [axis for axis in range(len(task.x.shape)) if axis not in task.axes]
    walks = (
        *walk_params(context, "kept", axes_of(task.x, kept)),
        *walk_params(context, "reduced", axes_of(task.x, task.axes)),
    )
    call = Call(
        kernel=kernel,
        header=_HEADER,
        args=args,
        params=(*walks, ("count", task.count), *params),
        inputs=(flat_access(task.x),),
        outputs=(flat_access(task.y),),
    )
    return Lowered(calls=(call,), summary=f"axes {','.join(map(str, sorted(task.axes)))}")
