"""The largest and smallest elements along axes, and where they stand."""

from __future__ import annotations

from codegen.graph import DType
from codegen.ops.base import Call, Lowered, OpContext, Param
from codegen.ops.elements import SUFFIX, is_quantized
from codegen.ops.movement import constant_ints, resolved_axis
from codegen.ops.reduction import reduced, reduction
from codegen.ops.walks import axes_of, flat_access, walk_params

EXTREME_TYPES = (
    DType.FLOAT32,
    DType.INT8,
    DType.UINT8,
    DType.INT16,
    DType.INT32,
    DType.INT64,
    DType.BOOL,
)
ARG_TYPES = (DType.FLOAT32, DType.INT8, DType.UINT8, DType.INT32, DType.BOOL)

_CODES = (DType.INT8, DType.UINT8, DType.INT16)


def extreme(context: OpContext, kernel: str, of_bools: str) -> Lowered:
    """The reduction by the kernels of that name; of bools, whether any or all hold.

    Shapes: x of any shape, axes[k] -> y, x's shape without these axes (or 1 there).
    """
    task = reduction(context, EXTREME_TYPES)
    x, y = task.x, task.y
    if x.dtype is DType.BOOL:
        return reduced(context, task, of_bools)
    if x.dtype in _CODES and is_quantized(x):
        x_quant, y_quant = context.require_quant(x), context.require_quant(y)
        if (x_quant.scale, x_quant.zero_point) != (y_quant.scale, y_quant.zero_point):
            raise context.unsupported(
                f"{x.label} and {y.label} differ in scale or zero point",
                "convert the model again with the TFLite converter",
            )
    if x.dtype is not DType.FLOAT32:
        return reduced(context, task, f"{kernel}_{SUFFIX[x.dtype]}")
    from_first = len(task.axes) == len(x.shape)
    params: tuple[tuple[str, Param], ...] = (("from_first", int(from_first)),)
    return reduced(context, task, f"{kernel}_f32", "cg_reduce_float_args", params)


def position(context: OpContext, kernel: str) -> Lowered:
    """The search along one axis by the kernels of that name.

    Shapes: x of any shape, axis[1] -> y, x's shape without this axis; int32 or int64.
    """
    x, y = context.input(0), context.output()
    context.require_type(x, *ARG_TYPES)
    context.require_type(y, DType.INT32, DType.INT64)
    numbers = constant_ints(context, context.input(1))
    if len(numbers) != 1:
        raise context.invalid(f"{context.input(1).label} has {len(numbers)} axes instead of one")
    axis = resolved_axis(context, numbers[0], len(x.shape))
    context.require_shape(y, x.shape[:axis] + x.shape[axis + 1 :])
    others = [a for a in range(len(x.shape)) if a != axis]
    ((count, stride),) = axes_of(x, [axis])
    if not count:
        raise context.unsupported(f"{x.label} is empty", "remove the operator from the model")
    element = "u8" if x.dtype is DType.BOOL else SUFFIX[x.dtype]
    call = Call(
        kernel=f"{kernel}_{element}_{SUFFIX[y.dtype]}",
        header="cg_arg.h",
        args="cg_arg_args",
        params=(
            *walk_params(context, "kept", axes_of(x, others)),
            ("count", count),
            ("stride", stride),
        ),
        inputs=(flat_access(x),),
        outputs=(flat_access(y),),
    )
    return Lowered(calls=(call,), summary=f"axis {axis}")
