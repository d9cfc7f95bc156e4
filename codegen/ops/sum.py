"""SUM over any axes.

Maths of codes: TFLite's reference `QuantizedMeanOrSum`: the sum of (x - zero point), in 32 bits,
times x scale / y scale, a factor in double; two roundings. A sum of bools is whether any holds.
"""

from __future__ import annotations

from codegen.fixed_point import integer_range, wrapped
from codegen.graph import DType
from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.elements import SUFFIX
from codegen.ops.reduction import Reduction, reduced, reduction
from codegen.ops.requantize import factor

TYPES = (
    DType.FLOAT32,
    DType.INT8,
    DType.UINT8,
    DType.INT16,
    DType.INT32,
    DType.INT64,
    DType.BOOL,
)


def lower(context: OpContext) -> Lowered:
    """Shapes: x of any shape, axes[k] -> y, x's shape without these axes (or 1 there)."""
    task = reduction(context, TYPES)
    if task.x.dtype is DType.BOOL:
        return reduced(context, task, "cg_reduce_any_b8")
    if task.x.dtype in (DType.INT8, DType.UINT8, DType.INT16):
        return _codes(context, task)
    return reduced(context, task, f"cg_sum_{SUFFIX[task.x.dtype]}")


def _codes(context: OpContext, task: Reduction) -> Lowered:
    x_quant, y_quant = context.require_quant(task.x), context.require_quant(task.y)
    multiplier, shift = factor(context, x_quant.scale / y_quant.scale)
    low, high = integer_range(task.y.dtype)
    params = (
        ("offset", wrapped(-x_quant.zero_point * task.count)),
        ("multiplier", multiplier),
        ("shift", shift),
        ("output_offset", y_quant.zero_point),
        ("low", low),
        ("high", high),
    )
    return reduced(context, task, f"cg_sum_q{SUFFIX[task.x.dtype]}", "cg_sum_args", params)


SPEC = OpSpec(
    name="SUM",
    max_version=2,
    lower=lower,
    types=TYPES,
    notes="constant axes, any scales",
)
