"""DEPTH_TO_SPACE: the channels of a pixel spread over a square of pixels."""

from __future__ import annotations

from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.movement import MOVED_TYPES, block_size, gather_calls, moved_type, strides_of


def lower(context: OpContext) -> Lowered:
    """Shapes: x[n, h, w, b * b * c] -> y[n, h * b, w * b, c]."""
    x, y = context.input(0), context.output()
    moved_type(context, x, y)
    b = block_size(context)
    n, h, w, depth = x.shape
    if depth % (b * b):
        raise context.invalid(f"{depth} channels make no squares of {b}x{b}")
    c = depth // (b * b)
    context.require_shape(y, (n, h * b, w * b, c))
    image, row, pixel, _ = strides_of(x.shape)
    axes = [(n, image), (h, row), (b, b * c), (w, pixel), (b, c), (c, 1)]
    return Lowered(calls=gather_calls(context, x, y, 0, axes), summary=f"block {b}")


SPEC = OpSpec(
    name="DEPTH_TO_SPACE",
    max_version=2,
    lower=lower,
    types=MOVED_TYPES,
    notes="four dimensions",
)
