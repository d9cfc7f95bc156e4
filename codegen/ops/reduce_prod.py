"""REDUCE_PROD over any axes.

Maths of codes: TFLite's reference `QuantizedReduceProd`: products of (x - zero point), each times
x scale / (y scale to the power of 1 / number of elements), a factor of 15 bits; one rounding each.
Integers without a scale wrap. A product of bools is whether all hold.
"""

from __future__ import annotations

from codegen.fixed_point import integer_range, quantize_multiplier
from codegen.graph import DType
from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.elements import SUFFIX, is_quantized
from codegen.ops.reduction import Reduction, reduced, reduction

CODES = (DType.INT8, DType.INT16)
TYPES = (DType.FLOAT32, *CODES, DType.INT32, DType.INT64, DType.BOOL)

_LARGEST_SHIFT = 7  # to the left, of factors


def lower(context: OpContext) -> Lowered:
    """Shapes: x of any shape, axes[k] -> y, x's shape without these axes (or 1 there)."""
    task = reduction(context, (*TYPES, DType.UINT8))
    if task.x.dtype is DType.BOOL:
        return reduced(context, task, "cg_reduce_all_b8")
    if task.x.dtype in CODES and is_quantized(task.x):
        return _codes(context, task)
    if task.x.dtype is DType.UINT8 and is_quantized(task.x):
        raise context.unsupported(
            f"{task.x.label} is uint8 with a scale", "quantise the model to int8"
        )
    return reduced(context, task, f"cg_prod_{SUFFIX[task.x.dtype]}")


def _codes(context: OpContext, task: Reduction) -> Lowered:
    x_quant, y_quant = context.require_quant(task.x), context.require_quant(task.y)
    real = x_quant.scale / y_quant.scale ** (1.0 / task.count)
    multiplier, shift = quantize_multiplier(real)
    if shift > _LARGEST_SHIFT:
        raise context.unsupported(
            f"its scales multiply each product by {real:.3g}",
            f"quantise the model again so that it is below {2**_LARGEST_SHIFT}",
        )
    low, high = integer_range(task.y.dtype)
    params = (
        ("input_offset", -x_quant.zero_point),
        ("output_offset", y_quant.zero_point),
        ("multiplier", min((multiplier + 2**15) >> 16, 2**15 - 1)),
        ("shift", 15 - shift),
        ("low", low),
        ("high", high),
    )
    return reduced(context, task, f"cg_prod_q{SUFFIX[task.x.dtype]}", "cg_prod_args", params)


SPEC = OpSpec(
    name="REDUCE_PROD",
    max_version=2,
    lower=lower,
    types=TYPES,
    notes="constant axes, any scales; also uint8 without a scale",
)
