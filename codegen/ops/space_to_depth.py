"""SPACE_TO_DEPTH: every square of pixels becomes the channels of one pixel."""

from __future__ import annotations

from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.movement import MOVED_TYPES, block_size, gather_calls, moved_type, strides_of


def lower(context: OpContext) -> Lowered:
    """Shapes: x[n, h * b, w * b, c] -> y[n, h, w, b * b * c]."""
    x, y = context.input(0), context.output()
    moved_type(context, x, y)
    b = block_size(context)
    n, h, w, c = x.shape
    if h % b or w % b:
        raise context.invalid(f"{h}x{w} pixels make no squares of {b}x{b}")
    context.require_shape(y, (n, h // b, w // b, b * b * c))
    image, row, pixel, _ = strides_of(x.shape)
    axes = [(n, image), (h // b, b * row), (w // b, b * pixel), (b, row), (b, pixel), (c, 1)]
    return Lowered(calls=gather_calls(context, x, y, 0, axes), summary=f"block {b}")


SPEC = OpSpec(
    name="SPACE_TO_DEPTH",
    max_version=2,
    lower=lower,
    types=MOVED_TYPES,
    notes="four dimensions",
)
