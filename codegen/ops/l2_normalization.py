"""L2_NORMALIZATION over the last axis: x / sqrt(sum of x * x).

Maths (docs/numerics.md), int8 and uint8: TFLite's reference, Newton's iteration in fixed point for
the square root. Their output has the scale 1/128.
"""

from __future__ import annotations

from codegen.graph import DType
from codegen.ops.base import Alias, Call, Lowered, OpContext, OpSpec, whole
from codegen.ops.elements import SUFFIX
from codegen.ops.lookup import typed_pair

TYPES = (DType.FLOAT32, DType.INT8, DType.UINT8)
_MOST = 2**31 // 255**2
"""Channels whose squares fit 32 bits together."""
_ZERO_POINTS = {DType.INT8: 0, DType.UINT8: 128}
"""Of the output."""


def lower(context: OpContext) -> Lowered:
    """Shapes: x[..., c] -> y[..., c]."""
    x, y = typed_pair(context, *TYPES)
    if not x.shape:
        raise context.invalid(f"{x.label} is a scalar and has no last axis")
    codes = x.dtype is not DType.FLOAT32
    if codes:
        _require_codes(context)
    call = Call(
        kernel=f"cg_l2_normalization_{SUFFIX[x.dtype]}",
        header="cg_l2_normalization.h",
        args="cg_l2_normalization_args" if codes else "",
        params=(("zero_point", context.require_quant(x).zero_point),) if codes else (),
        inputs=(whole(x, Alias.ELEMENT),),
        outputs=(whole(y),),
    )
    return Lowered(calls=(call,), summary=f"over {x.shape[-1]}")


def _require_codes(context: OpContext) -> None:
    """The output's quantisation as the reference demands it, and sums of squares below 2**31.

    Raises:
        Unsupported: for anything else.
    """
    x, y = context.input(0), context.output()
    quant = context.require_quant(y)
    if quant.scale != 1 / 128 or quant.zero_point != _ZERO_POINTS[y.dtype]:
        raise context.unsupported(
            f"{y.label} has the scale {quant.scale:g} and zero point {quant.zero_point} where only "
            f"1/128 and {_ZERO_POINTS[y.dtype]} are defined",
            "convert the model again with the TFLite converter",
        )
    if x.shape[-1] > _MOST:
        raise context.unsupported(
            f"sums over {x.shape[-1]} channels may not fit into 32 bits",
            f"normalise at most {_MOST} channels",
        )


SPEC = OpSpec(
    name="L2_NORMALIZATION",
    max_version=2,
    lower=lower,
    types=TYPES,
    notes="over the last axis; int8 and uint8: output scale 1/128",
)
