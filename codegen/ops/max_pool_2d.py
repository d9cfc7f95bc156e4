"""MAX_POOL_2D: any window, stride and padding.

Maths (docs/numerics.md): the largest element inside the map.
"""

from __future__ import annotations

from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.pooling import TYPES, lower_pool


def lower(context: OpContext) -> Lowered:
    """Shapes: x[n,h,w,c] -> y[n,oh,ow,c]."""
    return lower_pool(context, "cg_max_pool_2d")


SPEC = OpSpec(
    name="MAX_POOL_2D",
    max_version=3,
    lower=lower,
    types=TYPES,
    notes="any window, stride, padding and fused activation",
)
