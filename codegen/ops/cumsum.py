"""CUMSUM: sums up to each element along an axis, forwards or backwards, with or without itself."""

from __future__ import annotations

from codegen.graph import DType
from codegen.ops.base import Call, Lowered, OpContext, OpSpec
from codegen.ops.elements import SUFFIX, unary_operands
from codegen.ops.movement import constant_ints, resolved_axis
from codegen.ops.walks import axes_of, flat_access, walk_params

TYPES = (DType.FLOAT32, DType.INT32, DType.INT64)


def lower(context: OpContext) -> Lowered:
    """Shapes: x of any shape but a scalar's, axis[1] -> y of x's shape."""
    x, y = unary_operands(context, TYPES)
    numbers = constant_ints(context, context.input(1))
    if len(numbers) != 1:
        raise context.invalid(f"{context.input(1).label} has {len(numbers)} axes instead of one")
    axis = resolved_axis(context, numbers[0], len(x.shape))
    exclusive, reverse = bool(context.option("exclusive")), bool(context.option("reverse"))
    ((count, stride),) = axes_of(x, [axis])
    call = Call(
        kernel=f"cg_cumsum_{SUFFIX[x.dtype]}",
        header="cg_cumsum.h",
        args="cg_cumsum_args",
        params=(
            *walk_params(context, "lines", axes_of(x, set(range(len(x.shape))) - {axis})),
            ("line_count", x.elements // count),
            ("count", count),
            ("stride", stride),
            ("exclusive", int(exclusive)),
            ("reverse", int(reverse)),
        ),
        inputs=(flat_access(x),),
        outputs=(flat_access(y),),
    )
    words = (f"axis {axis}", "exclusive" * exclusive, "reverse" * reverse)
    return Lowered(calls=(call,), summary=" ".join(filter(None, words)))


SPEC = OpSpec(
    name="CUMSUM",
    max_version=1,
    lower=lower,
    types=TYPES,
    notes="constant axis, exclusive, reverse",
)
