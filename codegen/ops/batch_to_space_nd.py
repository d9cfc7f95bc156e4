"""BATCH_TO_SPACE_ND: images put together again from the pixels of their blocks."""

from __future__ import annotations

from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.movement import MOVED_TYPES, moved_type
from codegen.ops.space_batch import as_map, as_shape, block_call, blocks


def lower(context: OpContext) -> Lowered:
    """Inputs: x[n, h, w, c] or [n, h, c], block[k], crops[k, 2] -> y with fewer images."""
    x, y = context.input(0), context.output()
    moved_type(context, x, y)
    cut = blocks(context)
    (n, h, w, c), (block_h, block_w) = as_map(x), cut.size
    if n % (block_h * block_w):
        raise context.invalid(f"{n} images make no blocks of {block_h}x{block_w}")
    height, width = h * block_h - sum(cut.rows), w * block_w - sum(cut.columns)
    made = (n // (block_h * block_w), height, width, c)
    context.require_shape(y, as_shape(made, len(x.shape)))
    call = block_call("cg_batch_to_space", (x, y), cut, None)
    return Lowered(calls=(call,), summary=cut.summary("crop"))


SPEC = OpSpec(
    name="BATCH_TO_SPACE_ND",
    max_version=4,
    lower=lower,
    types=MOVED_TYPES,
    notes="constant block and crops, three or four dimensions",
)
