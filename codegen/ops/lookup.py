"""Operators of one 8-bit variable: a table with the result of each of the 256 codes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from codegen.fixed_point import integer_range
from codegen.graph import DType, Tensor
from codegen.ops.base import Access, Alias, Call, Lowered, OpContext, table, whole

BYTES = (DType.INT8, DType.UINT8)


def typed_pair(context: OpContext, *types: DType) -> tuple[Tensor, Tensor]:
    """The only input and output: both of one of `types` and of one shape, integers quantised.

    Raises:
        Unsupported: for another type, or two.
        InvalidModel: for a missing quantisation or a different shape.
    """
    x, y = context.input(0), context.output()
    context.require_type(x, *types)
    context.require_type(y, x.dtype)
    if x.dtype is not DType.FLOAT32:
        context.require_quant(x)
        context.require_quant(y)
    context.require_shape(y, x.shape)
    return x, y


def int8_pair(context: OpContext) -> tuple[Tensor, Tensor]:
    """The only input and output: both int8, quantised and of one shape.

    Raises:
        Unsupported, InvalidModel: as `typed_pair`.
    """
    return typed_pair(context, DType.INT8)


def lookup(x: Tensor, y: Tensor, result: Callable[[int], int], summary: str = "") -> Lowered:
    """The operator that maps every code c of `x` to `result(c)`, saturated to the type of `y`.

    Shapes: x of any shape -> y of the same; int8 or uint8 on either side.
    """
    call = lookup_call(x, y, result, whole(x, Alias.ELEMENT), whole(y))
    return Lowered(calls=(replace(call, pointwise=True),), summary=summary)


def lookup_call(
    x: Tensor, y: Tensor, result: Callable[[int], int], source: Access, target: Access
) -> Call:
    """The same for parts of `x` and `y`."""
    (first, last), (low, high) = integer_range(x.dtype), integer_range(y.dtype)
    # In the order of the codes as bytes: int8 starts at 0 and has its negative half behind.
    codes = (*range(last + 1), *range(first, 0))
    results = [min(max(result(code), low), high) % 256 for code in codes]
    return Call(
        kernel="cg_lookup_8",
        header="cg_lookup.h",
        args="cg_lookup_args",
        params=(("table", table(np.array(results, np.uint8))),),
        inputs=(source,),
        outputs=(target,),
    )
