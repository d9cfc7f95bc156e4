"""CAST between numbers and bools; integers of one size keep their bytes."""

from __future__ import annotations

from codegen.graph import DType
from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.copy import reshaped_copy
from codegen.ops.elements import SUFFIX, unary_call

_FLOATS = (DType.FLOAT32, DType.FLOAT16, DType.FLOAT64)
TYPES = (
    *_FLOATS,
    DType.INT8,
    DType.UINT8,
    DType.INT16,
    DType.UINT16,
    DType.INT32,
    DType.UINT32,
    DType.INT64,
    DType.BOOL,
)

_UNSIGNED = {DType.INT8: "u8", DType.INT16: "u16", DType.INT32: "u32"}
"""What kernels between integers call their results, of which only the size matters."""


def lower(context: OpContext) -> Lowered:
    """Shapes: x of any shape -> y of the same."""
    x, y = context.input(0), context.output()
    for tensor in (x, y):
        context.require_type(tensor, *TYPES)
    context.require_shape(y, x.shape)
    summary = f"{x.dtype.value} to {y.dtype.value}"
    if _same_bytes(x.dtype, y.dtype):
        return Lowered(calls=(reshaped_copy(x, y),), summary=summary, view_of=x.index)
    source = "u8" if x.dtype is DType.BOOL else SUFFIX[x.dtype]
    result = SUFFIX[y.dtype]
    if x.dtype not in _FLOATS:
        result = _UNSIGNED.get(y.dtype, result)
    call = unary_call(f"cg_cast_{source}_{result}", "cg_cast.h", x, y)
    return Lowered(calls=(call,), summary=summary)


def _same_bytes(x: DType, y: DType) -> bool:
    """Whether every value is stored alike: one type, integers of one size, bools as integers."""
    floats, bools = x in _FLOATS or y in _FLOATS, y is DType.BOOL
    return x is y or (x.size == y.size and not floats and not bools)


SPEC = OpSpec(
    name="CAST",
    max_version=9,
    lower=lower,
    types=TYPES,
    notes="between any two of these; a view where lifetimes allow for integers of one size",
)
