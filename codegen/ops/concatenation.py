"""CONCATENATION: one copy per input into its part of the output.

The reference copies raw codes: it refuses int8 inputs quantised otherwise than the output, and
every fused activation. Codes of uint8 it brings to the output's scale.
"""

from __future__ import annotations

import numpy as np

from codegen.fixed_point import round_half_away
from codegen.graph import DType, Tensor
from codegen.ops.base import Access, Call, Lowered, OpContext, OpSpec
from codegen.ops.copy import copy_call
from codegen.ops.lookup import lookup_call
from codegen.ops.movement import MOVED_TYPES, moved_type, part_of, resolved_axis


def lower(context: OpContext) -> Lowered:
    """Shapes: inputs that differ along `axis` alone -> y with the sum of their sizes there."""
    y = context.output()
    inputs = [context.input(i) for i in range(max(1, len(context.node.inputs)))]
    moved_type(context, *inputs, y)
    activation = context.str_option("fused_activation_function", "NONE")
    if activation != "NONE":
        raise context.unsupported(
            f"the fused activation {activation} is not supported",
            "export it as an operator of its own",
        )
    axis = resolved_axis(context, context.int_option("axis"), len(inputs[0].shape))
    _check_shapes(context, inputs, y, axis)
    calls, start = [], 0
    for x in inputs:
        if same_scales(context, x, y):
            calls.append(_copy_into(x, y, axis, start))
        else:
            calls.append(_rescale_into(context, x, y, axis, start))
        start += x.shape[axis]
    return Lowered(calls=tuple(calls), summary=f"axis {axis}")


def _check_shapes(context: OpContext, inputs: list[Tensor], y: Tensor, axis: int) -> None:
    first = inputs[0].shape
    for x in inputs:
        if (*x.shape[:axis], *x.shape[axis + 1 :]) != (*first[:axis], *first[axis + 1 :]):
            raise context.invalid(
                f"{x.label} {x.describe()} does not fit {inputs[0].describe()} along axis {axis}"
            )
    total = sum(x.shape[axis] for x in inputs)
    context.require_shape(y, (*first[:axis], total, *first[axis + 1 :]))


def same_scales(context: OpContext, x: Tensor, y: Tensor) -> bool:
    """Whether codes mean the same on both sides, so that they may be copied as they are.

    Raises:
        Unsupported: where they do not, but for uint8.
    """
    if x.dtype not in (DType.INT8, DType.UINT8):
        return True
    ours, theirs = context.require_quant(x), context.require_quant(y)
    same = (ours.scale, ours.zero_point) == (theirs.scale, theirs.zero_point)
    if not same and x.dtype is DType.INT8:
        raise context.unsupported(
            f"{x.label} has another scale or zero point than the output",
            "put a QUANTIZE before it or convert with equal ranges",
        )
    return same


def _copy_into(x: Tensor, y: Tensor, axis: int, start: int) -> Call:
    source, target = _places(x, y, axis, start)
    return copy_call(source, target, x.dtype.size)


def _rescale_into(context: OpContext, x: Tensor, y: Tensor, axis: int, start: int) -> Call:
    """Codes of uint8 brought to the output's scale, in float32 like the reference does it."""
    ours, theirs = context.require_quant(x), context.require_quant(y)
    with np.errstate(over="ignore"):
        scale = np.float32(ours.scale) * (np.float32(1) / np.float32(theirs.scale))
        bias = np.float32(-ours.zero_point) * scale

    def result(code: int) -> int:
        real = float(np.float32(code) * scale + bias)
        return round_half_away(min(max(real, -1e9), 1e9)) + theirs.zero_point

    return lookup_call(x, y, result, *_places(x, y, axis, start))


def _places(x: Tensor, y: Tensor, axis: int, start: int) -> tuple[Access, Access]:
    """All of `x`, and the part of `y` from `start` on."""
    corner = [start if i == axis else 0 for i in range(len(y.shape))]
    part = part_of(y, corner, x.shape)
    assert part is not None, "one cut axis leaves at most three"
    return Access(x.index, part.extent), part


SPEC = OpSpec(
    name="CONCATENATION",
    max_version=7,
    lower=lower,
    types=MOVED_TYPES,
    notes="any axis; int8 inputs with the output's scale and zero point; no fused activation",
)
