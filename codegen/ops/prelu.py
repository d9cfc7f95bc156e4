"""PRELU: x where it is not negative, alpha * x elsewhere; alpha is a tensor that broadcasts.

Maths of codes: TFLite's reference `Prelu`: one factor for each side of the zero point, both
computed in float32; two roundings. The alpha of int16 data is int8.
"""

from __future__ import annotations

from codegen.fixed_point import integer_range
from codegen.graph import DType
from codegen.ops.base import Lowered, OpContext, OpSpec, Param
from codegen.ops.broadcast import Kernel, broadcast_calls, operand_summary, require_broadcast
from codegen.ops.elements import SUFFIX
from codegen.ops.requantize import factor, float32_factor

TYPES = (DType.FLOAT32, DType.INT8, DType.UINT8, DType.INT16)


def lower(context: OpContext) -> Lowered:
    """Shapes: x of any shape, alpha that broadcasts to it -> y of x's shape."""
    tensors = x, alpha, y = context.input(0), context.input(1), context.output()
    context.require_type(x, *TYPES)
    context.require_type(alpha, DType.INT8 if x.dtype is DType.INT16 else x.dtype)
    context.require_type(y, x.dtype)
    require_broadcast(context, (x, alpha), y)
    context.require_shape(y, x.shape)
    kernel = Kernel("cg_prelu_f32", "cg_prelu.h", "cg_binary_args")
    params: tuple[tuple[str, Param], ...] = ()
    if x.dtype is not DType.FLOAT32:
        kernel = Kernel(f"cg_prelu_q{SUFFIX[x.dtype]}", "cg_prelu.h", "cg_prelu_args")
        params = _code_params(context)
    return Lowered(
        calls=broadcast_calls(kernel, tensors, params), summary=operand_summary(*tensors)
    )


def _code_params(context: OpContext) -> tuple[tuple[str, Param], ...]:
    x, alpha, y = (
        context.require_quant(t) for t in (context.input(0), context.input(1), context.output())
    )
    positive = factor(context, float32_factor(x.scale, 1.0, y.scale))
    negative = factor(context, float32_factor(x.scale, alpha.scale, y.scale))
    low, high = integer_range(context.output().dtype)
    return (
        ("a_offset", -x.zero_point),
        ("b_offset", -alpha.zero_point),
        ("output_offset", y.zero_point),
        ("positive_multiplier", positive[0]),
        ("positive_shift", positive[1]),
        ("negative_multiplier", negative[0]),
        ("negative_shift", negative[1]),
        ("low", low),
        ("high", high),
    )


SPEC = OpSpec(
    name="PRELU",
    max_version=1,
    lower=lower,
    types=TYPES,
    notes="any alpha that broadcasts, computed or constant; int8 for int16 data",
)
