"""DYNAMIC_UPDATE_SLICE: a copy of the operand with a box exchanged, placed at run time."""

from __future__ import annotations

import numpy as np

from codegen.graph import DType
from codegen.ops.base import Access, Alias, Call, Lowered, OpContext, OpSpec, table
from codegen.ops.movement import MOVED_TYPES, flat, moved_type, strides_of


def lower(context: OpContext) -> Lowered:
    """Inputs: x, update (no axis larger than that of x), start[rank] -> y of the shape of x.

    The start is moved so that the update lies inside.
    """
    x, update, start = (context.input(i) for i in range(3))
    y = context.output()
    moved_type(context, x, update, y)
    context.require_type(start, DType.INT32, DType.INT64)
    context.require_shape(y, x.shape)
    if len(update.shape) != len(x.shape) or start.shape != (len(x.shape),):
        raise context.invalid(
            f"{update.describe()} at {start.describe()} does not fit {x.describe()}"
        )
    if any(small > full for small, full in zip(update.shape, x.shape, strict=True)):
        raise context.invalid(f"{update.describe()} is larger than {x.describe()}")
    call = Call(
        kernel="cg_update_slice",
        header="cg_update_slice.h",
        args="cg_update_slice_args",
        params=(
            ("element_bytes", x.dtype.size),
            ("index_bytes", start.dtype.size),
            ("rank", len(x.shape)),
            ("update_elements", update.elements),
            ("sizes", table(np.array(update.shape, np.int32))),
            ("limits", table(np.array(x.shape, np.int32) - np.array(update.shape, np.int32))),
            ("strides", table(np.array(strides_of(x.shape), np.int32))),
        ),
        inputs=(
            Access(x.index, (1, 1, 1, x.elements), alias=Alias.ELEMENT, dense=True),
            flat(update),
            flat(start),
        ),
        outputs=(Access(y.index, (1, 1, 1, y.elements), dense=True),),
    )
    return Lowered(calls=(call,), summary=f"[{','.join(map(str, update.shape))}]")


SPEC = OpSpec(
    name="DYNAMIC_UPDATE_SLICE",
    max_version=4,
    lower=lower,
    types=MOVED_TYPES,
    notes="int32 or int64 start; rank 1 and above",
)
