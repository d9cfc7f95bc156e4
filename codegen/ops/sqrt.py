"""SQRT: the square root.

Maths of codes: LiteRT's reference takes the root of scale * (x - zero point), divides it by y's
scale, all in float32, and cuts off what is behind the point. It refuses to compute codes below the
zero point; here their root is 0.
"""

from __future__ import annotations

import numpy as np

from codegen.graph import DType, Tensor
from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.curves import float_only
from codegen.ops.elements import unary_call, unary_operands
from codegen.ops.lookup import lookup

TYPES = (DType.FLOAT32, DType.INT8, DType.INT16)


def lower(context: OpContext) -> Lowered:
    """Shapes: x of any shape -> y of the same."""
    x, y = unary_operands(context, TYPES)
    if x.dtype is DType.INT8:
        return _tabulated(context, x, y)
    if x.dtype is DType.INT16:
        return _computed(context, x, y)
    return float_only(context, "cg_sqrt_f32")


def _tabulated(context: OpContext, x: Tensor, y: Tensor) -> Lowered:
    x_quant, y_quant = context.require_quant(x), context.require_quant(y)

    def result(code: int) -> int:
        steps = max(code - x_quant.zero_point, 0)
        root = np.sqrt(np.float32(steps) * np.float32(x_quant.scale))
        return int(root / np.float32(y_quant.scale)) + y_quant.zero_point

    return lookup(x, y, result)


def _computed(context: OpContext, x: Tensor, y: Tensor) -> Lowered:
    x_quant, y_quant = context.require_quant(x), context.require_quant(y)
    if x_quant.zero_point or y_quant.zero_point:
        raise context.unsupported(
            f"{x.label} or {y.label} is int16 with a zero point",
            "only 0 is defined, so convert the model again with the TFLite converter",
        )
    params = (("x_scale", x_quant.scale), ("y_scale", y_quant.scale))
    return Lowered(calls=(unary_call("cg_sqrt_qs16", "cg_math.h", x, y, "cg_sqrt_args", params),))


SPEC = OpSpec(
    name="SQRT",
    max_version=2,
    lower=lower,
    types=TYPES,
    notes="any scales",
)
