"""SOFTMAX over the last axis, any beta and rank.

Maths: TFLite's reference `Softmax` on gemmlowp's fixed-point exponential and reciprocal, see
docs/numerics.md. A distance of 8-bit codes has only 256 values, so their exponentials are
computed here and stand in a table.
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
from codegen.ops.codes import CODES, SUFFIXES
from codegen.ops.interpolation import Axis, Floats, interpolation_table
from codegen.ops.requantize import factor
from codegen.target import Reference

INTEGER_BITS = 5  # of the scaled distance, an int32
SUM_SHIFT = 12  # by which exponentials are rounded before they are added
TYPES = (*CODES, DType.FLOAT32)

_WIDER = {DType.INT8: (DType.INT16,), DType.UINT8: (DType.INT16,)}
"""Results of another type than the data."""

_MAX_CHANNELS = {DType.INT8: 2**13 - 1, DType.UINT8: 2**13 - 1, DType.INT16: 2**16 - 1}
"""The sum of so many exponentials, of 19 or 15 fractional bits, still fits 32 bits."""


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


def _scale(context: OpContext, x: Tensor) -> float:
    """beta times the input's scale, large enough for the fixed-point exponential."""
    scale = _beta(context) * context.require_quant(x).scale
    if not scale * 2.0 ** (31 - INTEGER_BITS) > 1:
        raise context.unsupported(
            f"beta times the scale of {x.label} is {scale:g}, too small to tell codes apart",
            "export the model with a larger beta",
        )
    return scale


def _require_output(context: OpContext, y: Tensor, parts: int, zero_point: int) -> None:
    """Demand the output's quantisation, the scale to 1 in 1,000 like the reference."""
    quant = context.require_quant(y)
    if quant.zero_point != zero_point or abs(quant.scale * parts - 1) > 0.001:
        raise context.unsupported(
            f"{y.label} has the scale {quant.scale:g} and zero point {quant.zero_point} "
            f"where only 1/{parts} and {zero_point} are defined",
            "convert the model again with the TFLite converter",
        )


def _pair(context: OpContext) -> tuple[Tensor, Tensor]:
    x, y = context.input(0), context.output()
    context.require_type(x, *TYPES)
    context.require_type(y, x.dtype, *_WIDER.get(x.dtype, ()))
    context.require_shape(y, x.shape)
    if not x.shape:
        raise context.invalid(f"{x.label} is a scalar and has no last axis")
    most = _MAX_CHANNELS.get(x.dtype, x.shape[-1])
    if x.shape[-1] > most:
        raise context.unsupported(
            f"{x.shape[-1]} classes are more than {most}", "split the softmax"
        )
    return x, y


def lower(context: OpContext) -> Lowered:
    """Shapes: x[..., c] -> y[..., c]."""
    x, y = _pair(context)
    call = _FORMS[x.dtype](context, x, y)
    return Lowered(calls=(call,), summary=f"over {x.shape[-1]}")


def _from_bytes(context: OpContext, x: Tensor, y: Tensor) -> Call:
    """The reference demands the output's quantisation of int8 alone."""
    if y.dtype is DType.INT8:
        _require_output(context, y, 256, -128)
    values = exponentials(_scale(context, x))
    same = x.dtype is y.dtype
    suffix = SUFFIXES[x.dtype] if same else f"{SUFFIXES[x.dtype]}_{SUFFIXES[y.dtype]}"
    return Call(
        kernel=f"cg_softmax_{suffix}",
        header="cg_softmax.h",
        args="cg_softmax_args",
        params=(
            ("count", len(values)),
            ("exponentials", table(np.array(values, np.int32))),
        ),
        inputs=(whole(x, Alias.ELEMENT if same else Alias.NONE),),
        outputs=(whole(y),),
    )


def _from_int16(context: OpContext, x: Tensor, y: Tensor) -> Call:
    """Exponentials and reciprocals by tables of straight lines."""
    _require_output(context, y, 2**15, 0)
    beta = np.float32(_beta(context)) * np.float32(context.require_quant(x).scale)
    multiplier, shift = factor(context, float(beta) / (10 / 65535), limit=2.0**15)
    unit = Axis(2 / 65535, 0)
    distance, fraction = Axis(10 / 65535, 2**15 - 1), Axis(1 / 65535, -(2**15))
    real = np.float32 if context.target.reference is Reference.TFLM else np.float64
    exponentials = interpolation_table(_exp, distance, unit, real)
    reciprocals = interpolation_table(lambda a: 1 / (1 + a), fraction, unit, real)
    return Call(
        kernel="cg_softmax_s16",
        header="cg_softmax_s16.h",
        args="cg_softmax_s16_args",
        params=(
            ("multiplier", multiplier),
            ("shift", shift),
            ("exponentials", table(exponentials)),
            ("reciprocals", table(reciprocals)),
        ),
        inputs=(whole(x, Alias.ELEMENT),),
        outputs=(whole(y),),
    )


def _exp(values: Floats) -> Floats:
    """In double, rounded to the type of the values."""
    return np.exp(values.astype(np.float64)).astype(values.dtype)


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


_FORMS = {
    DType.INT8: _from_bytes,
    DType.UINT8: _from_bytes,
    DType.INT16: _from_int16,
    DType.FLOAT32: _float_call,
}

SPEC = OpSpec(
    name="SOFTMAX",
    max_version=3,
    lower=lower,
    types=TYPES,
    notes=(
        "over the last axis, any beta; output scale and zero point 1/256 and -128 of int8, "
        "1/32768 and 0 of int16; 8-bit data also to int16"
    ),
)
