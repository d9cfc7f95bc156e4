"""RESIZE_NEAREST_NEIGHBOR: each output pixel is the one input pixel nearest to it.

The reference finds indices in float32; they are constants here, one table per direction.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from codegen.ops.base import Access, Call, Lowered, OpContext, OpSpec, RowMap, nhwc, table, whole
from codegen.ops.movement import MOVED_TYPES
from codegen.ops.resize_common import resizing


def nearest_indices(
    size: int, outputs: int, *, align_corners: bool, half_pixel: bool
) -> NDArray[np.int16]:
    """The input index of each output index, in float32 as docs/numerics.md states."""
    if align_corners and outputs > 1:
        scale = np.float32(size - 1) / np.float32(outputs - 1)
    else:
        scale = np.float32(size) / np.float32(outputs)
    centre = np.float32(0.5 if half_pixel else 0.0)
    position = (np.arange(outputs).astype(np.float32) + centre) * scale
    index = np.floor(position + np.float32(0.5) if align_corners else position)
    return np.asarray(np.clip(index, 0, size - 1), np.int16)


def lower(context: OpContext) -> Lowered:
    """Inputs: x[n,h,w,c], size[2] -> y[n,size[0],size[1],c] of the same type."""
    resize = resizing(context)
    x, y = resize.x, resize.y
    rows, columns = (
        nearest_indices(
            x.shape[axis],
            y.shape[axis],
            align_corners=resize.align_corners,
            half_pixel=resize.half_pixel,
        )
        for axis in (1, 2)
    )
    needed = RowMap(table=tuple((int(r), int(r) + 1) for r in rows))
    call = Call(
        kernel="cg_resize_nearest",
        header="cg_resize_nearest.h",
        args="cg_resize_nearest_args",
        params=(
            ("element_bytes", x.dtype.size),
            ("rows", table(rows)),
            ("columns", table(columns)),
        ),
        inputs=(Access(x.index, nhwc(x.shape), rows=needed),),
        outputs=(whole(y),),
    )
    return Lowered(calls=(call,), summary=resize.words())


SPEC = OpSpec(
    name="RESIZE_NEAREST_NEIGHBOR",
    max_version=4,
    lower=lower,
    types=MOVED_TYPES,
    notes="constant size, all three ways to line up pixels",
)
