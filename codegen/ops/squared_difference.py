"""SQUARED_DIFFERENCE with broadcasting: (a - b) * (a - b).

Maths of codes: TFLite's reference `SquaredDifference`: operands with 7 more bits at twice the
larger scale; two roundings at each of the three changes of scale.
"""

from __future__ import annotations

from codegen.graph import DType
from codegen.ops.base import Lowered, OpContext, OpSpec, Param
from codegen.ops.broadcast import Kernel, broadcast_calls, operand_summary, operands_of
from codegen.ops.elements import SUFFIX
from codegen.ops.requantize import common_scale, common_scale_params

TYPES = (DType.FLOAT32, DType.INT8, DType.INT32)
EXTRA_BITS = 7

_HEADER = "cg_squared_difference.h"


def lower(context: OpContext) -> Lowered:
    """Shapes: a and b of any shapes that broadcast -> y of the common one."""
    tensors = operands_of(context, *TYPES)
    params: tuple[tuple[str, Param], ...] = ()
    kernel = Kernel(f"cg_squared_difference_{SUFFIX[tensors[0].dtype]}", _HEADER, "cg_binary_args")
    if tensors[0].dtype is DType.INT8:
        kernel = Kernel("cg_squared_difference_qs8", _HEADER, "cg_squared_difference_args")
        params = _code_params(context)
    return Lowered(
        calls=broadcast_calls(kernel, tensors, params), summary=operand_summary(*tensors)
    )


def _code_params(context: OpContext) -> tuple[tuple[str, Param], ...]:
    a, b, y = (
        context.require_quant(t) for t in (context.input(0), context.input(1), context.output())
    )
    common = common_scale(a, b)
    real = common * common / (2 ** (2 * EXTRA_BITS) * y.scale)
    return common_scale_params(context, a, b, y, real)


SPEC = OpSpec(
    name="SQUARED_DIFFERENCE",
    max_version=2,
    lower=lower,
    types=TYPES,
    notes="broadcasting",
)
