"""SPACE_TO_BATCH_ND: the pixels of every block dealt out to images of their own."""

from __future__ import annotations

from codegen.graph import DType
from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.movement import moved_type
from codegen.ops.pad_common import PADDED_TYPES, zero_value
from codegen.ops.space_batch import as_map, as_shape, block_call, blocks

TYPES = (*PADDED_TYPES, DType.FLOAT64, DType.UINT16, DType.UINT32, DType.UINT64)


def lower(context: OpContext) -> Lowered:
    """Inputs: x[n, h, w, c] or [n, h, c], block[k], paddings[k, 2] -> y with more images.

    What is added around an image is the output's zero point.
    """
    x, y = context.input(0), context.output()
    moved_type(context, x, y)
    context.require_type(y, *TYPES)
    cut = blocks(context)
    n, h, w, c = as_map(x)
    (block_h, block_w), height, width = cut.size, h + sum(cut.rows), w + sum(cut.columns)
    if height % block_h or width % block_w:
        raise context.invalid(f"{height}x{width} pixels make no blocks of {block_h}x{block_w}")
    made = (n * block_h * block_w, height // block_h, width // block_w, c)
    context.require_shape(y, as_shape(made, len(x.shape)))
    call = block_call("cg_space_to_batch", (x, y), cut, zero_value(y))
    return Lowered(calls=(call,), summary=cut.summary("pad"))


SPEC = OpSpec(
    name="SPACE_TO_BATCH_ND",
    max_version=4,
    lower=lower,
    types=TYPES,
    notes="constant block and paddings, three or four dimensions",
)
