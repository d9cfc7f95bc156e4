"""TOPK_V2: the largest elements of the last axis, and where they stand."""

from __future__ import annotations

from codegen.graph import DType
from codegen.ops.base import Access, Call, Lowered, OpContext, OpSpec
from codegen.ops.movement import constant_ints, moved_type

_UNSIGNED, _SIGNED, _FLOAT = 0, 1, 2  # cg_number of the kernel

_NUMBERS = {
    DType.INT8: _SIGNED,
    DType.UINT8: _UNSIGNED,
    DType.INT16: _SIGNED,
    DType.INT32: _SIGNED,
    DType.INT64: _SIGNED,
    DType.FLOAT32: _FLOAT,
}


def lower(context: OpContext) -> Lowered:
    """Inputs: x[..., n], k -> values[..., k] from the largest down, indices[..., k].

    Of equal elements the first counts as larger.
    """
    x, values, indices = context.input(0), context.output(0), context.output(1)
    moved_type(context, x, values)
    context.require_type(x, *_NUMBERS)
    context.require_type(indices, DType.INT16, DType.INT32)
    wanted = constant_ints(context, context.input(1))
    if len(wanted) != 1 or not x.shape or not 0 < wanted[0] <= x.shape[-1]:
        raise context.invalid(f"{list(wanted)} of the last axis of {x.describe()}")
    (k,), n = wanted, x.shape[-1]
    for y in (values, indices):
        context.require_shape(y, (*x.shape[:-1], k))
    rows = x.elements // n
    call = Call(
        kernel="cg_top_k",
        header="cg_top_k.h",
        args="cg_top_k_args",
        params=(
            ("number", _NUMBERS[x.dtype]),
            ("element_bytes", x.dtype.size),
            ("index_bytes", indices.dtype.size),
            ("count", n),
        ),
        inputs=(Access(x.index, (1, rows, 1, n)),),
        outputs=(Access(values.index, (1, rows, 1, k)), Access(indices.index, (1, rows, 1, k))),
    )
    return Lowered(calls=(call,), summary=f"{k} of {n}")


SPEC = OpSpec(
    name="TOPK_V2",
    max_version=3,
    lower=lower,
    types=tuple(_NUMBERS),
    notes="constant k; int16 or int32 indices",
)
