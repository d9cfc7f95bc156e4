"""What operators share that read at places which they learn at run time.

The reference stops with an error at an index outside of its axis. There is nobody to tell in
firmware, so kernels move such an index to the nearest one that exists.
"""

from __future__ import annotations

from codegen.graph import DType, Tensor
from codegen.ops.base import Access, Call, OpContext
from codegen.ops.movement import flat

INDEX_TYPES = (DType.INT16, DType.INT32, DType.INT64)


def take_call(
    x: Access, indices: Tensor, y: Tensor, walk: tuple[int, int, int, int], axis_size: int
) -> Call:
    """y[b, o, i, :] = x[b, o, indices[b, i], :], all four sizes (b, o, i, inner) given by `walk`.

    `x` is flat; out of `axis_size` entries of the axis one is taken.
    """
    batch, outer, count, inner = walk
    return Call(
        kernel="cg_take",
        header="cg_take.h",
        args="cg_take_args",
        params=(
            ("element_bytes", y.dtype.size),
            ("index_bytes", indices.dtype.size),
            ("outer", outer),
            ("axis", axis_size),
            ("count", count),
            ("inner", inner),
        ),
        inputs=(x, flat(indices)),
        outputs=(Access(y.index, (1, batch * outer, count, inner)),),
    )


def index_vectors(context: OpContext, indices: Tensor, shape: tuple[int, ...]) -> tuple[int, int]:
    """(number of index vectors, entries of each) of indices[..., entries] into `shape`.

    Raises:
        InvalidModel: if they have more entries than there are axes.
    """
    if not indices.shape or not 1 <= indices.shape[-1] <= len(shape):
        raise context.invalid(f"{indices.label} {indices.describe()} indexes {len(shape)} axes")
    depth = indices.shape[-1]
    return indices.elements // depth, depth
