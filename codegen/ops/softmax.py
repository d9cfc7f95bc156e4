"""SOFTMAX over the last axis, any beta and rank.

Maths, int8: TFLite's reference `Softmax` on gemmlowp's fixed-point exponential and reciprocal, see
docs/numerics.md. A distance to the row's largest code has only 256 values, so their exponentials
are computed here and stand in a table.
"""

from __future__ import annotations

import math

import numpy as np

from codegen.fixed_point import (
    INT32_MAX,
    high_mul,
    quantize_multiplier,
    requantize_twice,
    rounding_shift,
)
from codegen.graph import DType, Tensor
from codegen.ops.base import Alias, Call, Lowered, OpContext, OpSpec, table, whole
from codegen.ops.lookup import typed_pair

INTEGER_BITS = 5  # of the scaled distance, an int32
SUM_SHIFT = 12  # by which exponentials are rounded before they are added
MAX_CHANNELS = 2**13 - 1  # the sum of so many still fits 32 bits
TYPES = (DType.INT8, DType.FLOAT32)


def _fixed(real: float) -> int:
    """`real` with 31 fractional bits."""
    return min(round(real * 2.0**31), INT32_MAX)


def _exp_quarter(a: int) -> int:
    """exp(a), a in [-1/4, 0), both with 31 fractional bits: Taylor's series around -1/8."""
    x = a + _fixed(1 / 8)
    x2 = high_mul(x, x)
    x3, x4 = high_mul(x2, x), high_mul(x2, x2)
    cubic = high_mul(rounding_shift(x4, 2) + x3, _fixed(1 / 3))
    factor = _fixed(math.exp(-1 / 8))
    return factor + high_mul(factor, x + rounding_shift(cubic + x2, 1))


def exp_negative(a: int) -> int:
    """exp(a) with 31 fractional bits, a <= 0 with 26: the quarters' factors one by one."""
    if a == 0:
        return INT32_MAX
    quarter = 1 << 24
    part = (a & (quarter - 1)) - quarter
    result, rest = _exp_quarter(part << INTEGER_BITS), part - a
    for exponent in range(-2, INTEGER_BITS):
        if rest & (1 << (31 - INTEGER_BITS + exponent)):
            result = high_mul(result, _fixed(math.exp(-(2.0**exponent))))
    return result


def exponentials(scale: float) -> list[int]:
    """exp(-scale * d) for d = 0, 1, ... as the reference computes it, as long as it matters.

    Distances beyond the reference's limit weigh nothing, nor do exponentials that round to 0 in
    the sum: those are too small to reach any code but the lowest.
    """
    factor = min(scale * 2.0 ** (31 - INTEGER_BITS), float(INT32_MAX))
    multiplier, shift = quantize_multiplier(factor)
    limit = math.floor((2**INTEGER_BITS - 1) * 2.0 ** (31 - INTEGER_BITS) / 2.0**shift)
    values = [
        exp_negative(requantize_twice(-distance, multiplier, shift))
        for distance in range(min(limit, 255) + 1)
    ]
    while rounding_shift(values[-1], SUM_SHIFT) == 0:
        values.pop()
    return values


def _beta(context: OpContext) -> float:
    beta = context.option("beta", 0.0)
    if not isinstance(beta, int | float):
        raise context.invalid(f"option beta is {beta!r}, not a number")
    return float(beta)


def _scale(context: OpContext, x: Tensor, y: Tensor) -> float:
    """beta times the input's scale, with all that the reference demands of the quantisations."""
    beta = _beta(context)
    quant = context.require_quant(y)
    if quant.zero_point != -128 or abs(quant.scale - 1 / 256) > 0.001 / 256:
        raise context.unsupported(
            f"{y.label} has the scale {quant.scale:g} and zero point {quant.zero_point} "
            "where only 1/256 and -128 are defined",
            "convert the model again with the TFLite converter",
        )
    scale = beta * context.require_quant(x).scale
    if not scale * 2.0 ** (31 - INTEGER_BITS) > 1:
        raise context.unsupported(
            f"beta {beta:g} times the scale of {x.label} is {scale:g}, too small to tell codes "
            "apart",
            "export the model with a larger beta",
        )
    return scale


def lower(context: OpContext) -> Lowered:
    """Shapes: x[..., c] -> y[..., c]."""
    x, y = typed_pair(context, *TYPES)
    if not x.shape:
        raise context.invalid(f"{x.label} is a scalar and has no last axis")
    summary = f"over {x.shape[-1]}"
    if x.dtype is DType.FLOAT32:
        return Lowered(calls=(_float_call(context, x, y),), summary=summary)
    if x.shape[-1] > MAX_CHANNELS:
        raise context.unsupported(
            f"{x.shape[-1]} classes are more than {MAX_CHANNELS}", "split the softmax"
        )
    values = exponentials(_scale(context, x, y))
    call = Call(
        kernel="cg_softmax_s8",
        header="cg_softmax.h",
        args="cg_softmax_args",
        params=(
            ("count", len(values)),
            ("exponentials", table(np.array(values, np.int32))),
        ),
        inputs=(whole(x, Alias.ELEMENT),),
        outputs=(whole(y),),
    )
    return Lowered(calls=(call,), summary=summary)


def _float_call(context: OpContext, x: Tensor, y: Tensor) -> Call:
    """exp(beta * (x - largest)) over the sum of these, added in order."""
    return Call(
        kernel="cg_softmax_f32",
        header="cg_softmax_f32.h",
        args="cg_softmax_f32_args",
        params=(("beta", _beta(context)),),
        inputs=(whole(x, Alias.ELEMENT),),
        outputs=(whole(y),),
    )


SPEC = OpSpec(
    name="SOFTMAX",
    max_version=3,
    lower=lower,
    types=TYPES,
    notes="over the last axis, any beta; int8: output scale 1/256, zero point -128",
)
