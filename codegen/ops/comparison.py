"""EQUAL, LESS and the like, with broadcasting; the result is bool.

Maths: TFLite's reference `Comparison`: plain numbers as they are; quantised codes by
(code - zero point) * 256 times the scale, each operand rounded twice.
"""

from __future__ import annotations

from codegen.fixed_point import quantize_multiplier
from codegen.graph import DType, Tensor
from codegen.ops.base import Lowered, OpContext, Param
from codegen.ops.broadcast import Kernel, broadcast_calls, operand_summary, operands_of
from codegen.ops.elements import SUFFIX, is_quantized

ORDERED_TYPES = (
    DType.FLOAT32,
    DType.INT8,
    DType.UINT8,
    DType.INT16,
    DType.INT32,
    DType.INT64,
)
EQUAL_TYPES = (*ORDERED_TYPES, DType.BOOL)

_HEADER = "cg_compare.h"


def ordering(context: OpContext, relation: str, *, exchanged: bool = False) -> Lowered:
    """a < b (`relation` "less") or a <= b ("less_equal"), or with a and b exchanged.

    The reference looks at the scales of 8-bit operands alone.
    Shapes: a and b of any shapes that broadcast -> y, bool, of the common one.
    """
    a, b, y = operands_of(context, *ORDERED_TYPES, result=DType.BOOL)
    left, right = (b, a) if exchanged else (a, b)
    codes = a.dtype in (DType.INT8, DType.UINT8)
    return _compared(context, relation, left, right, y, codes)


def equality(context: OpContext, relation: str) -> Lowered:
    """a == b (`relation` "equal") or a != b ("not_equal").

    16-bit operands are codes where the file gives them a scale.
    Shapes: a and b of any shapes that broadcast -> y, bool, of the common one.
    """
    a, b, y = operands_of(context, *EQUAL_TYPES, result=DType.BOOL)
    codes = a.dtype in (DType.INT8, DType.UINT8)
    codes |= a.dtype is DType.INT16 and is_quantized(a)
    return _compared(context, relation, a, b, y, codes)


def _compared(
    context: OpContext, relation: str, a: Tensor, b: Tensor, y: Tensor, codes: bool
) -> Lowered:
    suffix = ("q" if codes else "") + SUFFIX[a.dtype]
    args = "cg_compare_args" if codes else "cg_binary_args"
    kernel = Kernel(f"cg_{relation}_{suffix}", _HEADER, args)
    params = (*_real(context, "a", a), *_real(context, "b", b)) if codes else ()
    return Lowered(
        calls=broadcast_calls(kernel, (a, b, y), params), summary=operand_summary(a, b, y)
    )


def _real(context: OpContext, name: str, operand: Tensor) -> tuple[tuple[str, Param], ...]:
    """The struct fields that turn codes into reals.

    Raises:
        Unsupported: for scales from 1, for which the reference shifts by a negative number.
    """
    quant = context.require_quant(operand)
    multiplier, shift = quantize_multiplier(quant.scale)
    if shift > 0:
        raise context.unsupported(
            f"{operand.label} has the scale {quant.scale:g} where only those below 1 are defined",
            "scale the compared values down before quantising the model",
        )
    return (
        (f"{name}_offset", -quant.zero_point),
        (f"{name}_multiplier", multiplier),
        (f"{name}_shift", shift),
    )
