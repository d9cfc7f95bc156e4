"""LOG_SOFTMAX over the last axis: x - largest - log(sum of exp(x - largest)).

Maths (docs/numerics.md), int8 and uint8: TFLite's reference on gemmlowp's fixed-point exponential
and a logarithm in fixed point. Exponentials of the 256 possible distances stand in a table.
"""

from __future__ import annotations

import math

import numpy as np

from codegen.fixed_point import (
    INT32_MAX,
    integer_range,
    quantize_multiplier,
    rounding_shift,
)
from codegen.graph import DType, Tensor
from codegen.ops.base import Alias, Call, Lowered, OpContext, OpSpec, table, whole
from codegen.ops.elements import SUFFIX
from codegen.ops.lookup import typed_pair
from codegen.ops.softmax import INTEGER_BITS, SUM_SHIFT, exponentials

TYPES = (DType.FLOAT32, DType.INT8, DType.UINT8)
_MOST = 2**12 - 1
"""The signed sum of so many exponentials, of 19 fractional bits, still fits 32 bits."""


def lower(context: OpContext) -> Lowered:
    """Shapes: x[..., c] -> y[..., c]."""
    x, y = typed_pair(context, *TYPES)
    if not x.shape:
        raise context.invalid(f"{x.label} is a scalar and has no last axis")
    call = _float_call(x, y) if x.dtype is DType.FLOAT32 else _code_call(context, x, y)
    return Lowered(calls=(call,), summary=f"over {x.shape[-1]}")


def _float_call(x: Tensor, y: Tensor) -> Call:
    return Call(
        kernel="cg_log_softmax_f32",
        header="cg_log_softmax_f32.h",
        args="",
        params=(),
        inputs=(whole(x, Alias.ELEMENT),),
        outputs=(whole(y),),
    )


def _code_call(context: OpContext, x: Tensor, y: Tensor) -> Call:
    _require_codes(context, x, y)
    scale = context.require_quant(x).scale
    multiplier, shift = quantize_multiplier(min(scale * 2.0 ** (31 - INTEGER_BITS), INT32_MAX))
    reverse, reverse_shift = quantize_multiplier(2.0 ** (31 - shift) / multiplier)
    limit = math.floor((2**INTEGER_BITS - 1) * 2.0 ** (31 - INTEGER_BITS) / 2.0**shift)
    values = [rounding_shift(value, SUM_SHIFT) for value in exponentials(scale)]
    return Call(
        kernel=f"cg_log_softmax_{SUFFIX[x.dtype]}",
        header="cg_log_softmax.h",
        args="cg_log_softmax_args",
        params=(
            ("count", len(values)),
            ("exponentials", table(np.array(values, np.int32))),
            ("multiplier", multiplier),
            ("shift", shift),
            ("reverse_multiplier", reverse),
            ("reverse_shift", reverse_shift),
            ("least", -limit - 1),
        ),
        inputs=(whole(x, Alias.ELEMENT),),
        outputs=(whole(y),),
    )


def _require_codes(context: OpContext, x: Tensor, y: Tensor) -> None:
    """Demand what the reference does of the output, and room for the sum.

    Raises:
        Unsupported: for anything else.
    """
    quant, highest = context.require_quant(y), integer_range(y.dtype)[1]
    if quant.scale != 1 / 16 or quant.zero_point != highest:
        raise context.unsupported(
            f"{y.label} has the scale {quant.scale:g} and zero point {quant.zero_point} where only "
            f"1/16 and {highest} are defined",
            "convert the model again with the TFLite converter",
        )
    if x.shape[-1] > _MOST:
        raise context.unsupported(
            f"{x.shape[-1]} classes are more than {_MOST}", "split the softmax"
        )
    scale = context.require_quant(x).scale
    if not scale > 2.0 ** (INTEGER_BITS - 31):
        raise context.unsupported(
            f"the scale of {x.label} is {scale:g}, too small to tell codes apart",
            "quantise the model again",
        )


SPEC = OpSpec(
    name="LOG_SOFTMAX",
    max_version=2,
    lower=lower,
    types=TYPES,
    notes="over the last axis; int8 and uint8: output scale 1/16, highest code as zero point",
)
