"""DIV with broadcasting and a fused activation.

Maths of codes: TFLite's reference `DivElementwise`: the distance to the zero point of a, shifted
to the left as far as it goes, times the reciprocal of that of b, times
a scale / (b scale * y scale), a factor computed in float32; one rounding each. Where the reference
then shifts by more than 31 bits, which C leaves undefined, the quotient is 0. int32: towards zero.
"""

from __future__ import annotations

import numpy as np

from codegen.fixed_point import ACTIVATION_CLAMPS, INT32_MAX, INT32_MIN
from codegen.graph import DType
from codegen.ops.base import Lowered, OpContext, OpSpec, Param
from codegen.ops.broadcast import Kernel, broadcast_calls, operand_summary, operands_of
from codegen.ops.elements import SUFFIX
from codegen.ops.float32 import float_binary
from codegen.ops.requantize import clamp_params, factor, fused_activation

TYPES = (DType.FLOAT32, DType.INT8, DType.UINT8, DType.INT16, DType.INT32)

_HEADER = "cg_divide.h"

Params = tuple[tuple[str, Param], ...]


def lower(context: OpContext) -> Lowered:
    """Shapes: a and b of any shapes that broadcast -> y of the common one."""
    tensors = operands_of(context, *TYPES)
    dtype = tensors[0].dtype
    if dtype is DType.FLOAT32:
        return float_binary(context, "cg_div_f32", tensors)
    if dtype is DType.INT32:
        kernel, params = Kernel("cg_div_s32", _HEADER, "cg_div_args"), _integer_clamp(context)
    else:
        kernel = Kernel(f"cg_div_q{SUFFIX[dtype]}", _HEADER, "cg_div_codes_args")
        params = _code_params(context)
    words = (operand_summary(*tensors), fused_activation(context))
    return Lowered(
        calls=broadcast_calls(kernel, tensors, params), summary=" ".join(filter(None, words))
    )


def _integer_clamp(context: OpContext) -> Params:
    low, high = ACTIVATION_CLAMPS[fused_activation(context)]
    return (
        ("act_min", INT32_MIN if low is None else int(low)),
        ("act_max", INT32_MAX if high is None else int(high)),
    )


def _code_params(context: OpContext) -> Params:
    a, b, y = context.input(0), context.input(1), context.output()
    a_quant, b_quant, y_quant = (context.require_quant(t) for t in (a, b, y))
    with np.errstate(all="ignore"):
        divisor = np.float32(b_quant.scale) * np.float32(y_quant.scale)
        real = float(np.float32(a_quant.scale) / divisor)
    # A dividend of all the type's bits still has so many to spare.
    multiplier, shift = factor(context, real, limit=2.0 ** (31 - a.dtype.bits))
    return (
        ("a_offset", -a_quant.zero_point),
        ("b_offset", -b_quant.zero_point),
        ("output_offset", y_quant.zero_point),
        ("multiplier", multiplier),
        ("shift", shift),
        *clamp_params(context, y),
    )


SPEC = OpSpec(
    name="DIV",
    max_version=2,
    lower=lower,
    types=TYPES,
    notes="broadcasting, fused activation; integers divided by zero give 0",
)
