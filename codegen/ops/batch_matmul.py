"""BATCH_MATMUL: products of two matrices, with broadcasting over the dimensions before them.

Maths (docs/numerics.md): float32 adds products in the order of the inner dimension; int8 rounds
twice, int16 once with a multiplier of 15 bits; float32 with int8 quantises each row of the first
operand when it runs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from codegen.fixed_point import integer_range, quantize_multiplier
from codegen.graph import DType, Tensor
from codegen.ops.base import SAME_ROW, Access, Call, Lowered, OpContext, OpSpec, RowMap, nhwc
from codegen.ops.forms import Form, Params, ParamsOf, data_types, select_form
from codegen.ops.int16 import require_symmetric
from codegen.ops.movement import strides_of
from codegen.ops.requantize import float32_factor, require_factor

_MAX_RANK = 5  # of the reference
_LARGEST_WIDE_FACTOR = 2.0**14
_WIDEST_SUM = 2**47  # times a multiplier of 15 bits it fits 64


@dataclass(frozen=True)
class _Products:
    """Which matrices are multiplied: sizes and, per operand, strides of three outer indices."""

    sizes: tuple[int, ...]
    a: tuple[int, ...]
    b: tuple[int, ...]
    depth: int

    def rows(self, strides: tuple[int, ...]) -> RowMap:
        """The matrix of an operand that each product reads."""
        indices = np.ndindex(*self.sizes)
        matrices = [sum(i * s for i, s in zip(index, strides, strict=True)) for index in indices]
        return RowMap(table=tuple((m, m + 1) for m in matrices))


def lower(context: OpContext) -> Lowered:
    """Shapes: a[..., i, k], b[..., k, j] -> y[..., i, j]; adj_x, adj_y: stored transposed."""
    a, b, y = context.input(0), context.input(1), context.output()
    form = select_form(context, FORMS)
    products = _products(context, a, b, y)
    call = Call(
        kernel=form.kernel,
        header=form.header,
        args=form.args,
        params=(*_product_params(context, products), *form.params(context, a, b, y, 0)),
        inputs=(_matrices(a, products.rows(products.a)), _matrices(b, products.rows(products.b))),
        outputs=(_matrices(y),),
        scratch=form.scratch(products.depth),
    )
    i, j = y.shape[-2:]
    count = math.prod(products.sizes)
    return Lowered(
        calls=(call,),
        summary=f"{count} x {i}x{products.depth} * {products.depth}x{j}",
        macs=y.elements * products.depth,
    )


def _products(context: OpContext, a: Tensor, b: Tensor, y: Tensor) -> _Products:
    """Check all shapes against each other."""
    if min(len(a.shape), len(b.shape)) < 2 or max(len(a.shape), len(b.shape)) > _MAX_RANK:
        raise context.invalid(f"{a.label} and {b.label} must have 2 to {_MAX_RANK} dimensions")
    rows, depth = _stored(context, "adj_x", a)
    inner, columns = _stored(context, "adj_y", b)
    if depth != inner or not depth:
        raise context.invalid(f"{a.describe()} and {b.describe()} have no common inner dimension")
    try:
        outer = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    except ValueError:
        raise context.invalid(f"{a.describe()} and {b.describe()} do not broadcast") from None
    context.require_shape(y, (*outer, rows, columns))
    sizes = (1,) * (3 - len(outer)) + outer
    return _Products(sizes, _strides(a.shape[:-2]), _strides(b.shape[:-2]), depth)


def _stored(context: OpContext, option: str, x: Tensor) -> tuple[int, int]:
    """Rows and columns of a matrix that may be stored transposed."""
    first, second = x.shape[-2:]
    return (second, first) if context.option(option) else (first, second)


def _strides(outer: Sequence[int]) -> tuple[int, ...]:
    """Matrices from one index to the next of three outer dimensions; 0 where one serves all."""
    padded = (1,) * (3 - len(outer)) + tuple(outer)
    steps = zip(padded, strides_of(padded), strict=True)
    return tuple(stride if size > 1 else 0 for size, stride in steps)


def _matrices(x: Tensor, rows: RowMap | None = None) -> Access:
    """One matrix per row of a map."""
    height, width = x.shape[-2:]
    view = (1, math.prod(x.shape[:-2]), height, width)
    return Access(x.index, view, rows=rows or SAME_ROW, dense=view != nhwc(x.shape))


def _product_params(context: OpContext, products: _Products) -> Params:
    fields = {
        "depth": products.depth,
        "adj_x": int(bool(context.option("adj_x"))),
        "adj_y": int(bool(context.option("adj_y"))),
        "size1": products.sizes[1],
        "size2": products.sizes[2],
        **{f"a{i}": stride for i, stride in enumerate(products.a)},
        **{f"b{i}": stride for i, stride in enumerate(products.b)},
    }
    return tuple((f"products.{name}", value) for name, value in fields.items())


def _depth(context: OpContext, a: Tensor) -> int:
    return _stored(context, "adj_x", a)[1]


def _factor(context: OpContext, a: Tensor, b: Tensor, y: Tensor) -> float:
    """a scale * b scale in float32, over y scale in double: so does the reference here alone."""
    quants = [context.require_quant(t) for t in (a, b, y)]
    factor = float32_factor(quants[0].scale, quants[1].scale, 1.0) / quants[2].scale
    require_factor(context, factor)
    return factor


def _params_f32(context: OpContext, a: Tensor, b: Tensor, y: Tensor, axis: int) -> Params:
    return ()


def _params_s8(context: OpContext, a: Tensor, b: Tensor, y: Tensor, axis: int) -> Params:
    multiplier, shift = quantize_multiplier(_factor(context, a, b, y))
    low, high = integer_range(DType.INT8)
    _require_sums(context, _depth(context, a) * (high - low) ** 2)
    return (
        ("a_offset", -context.require_quant(a).zero_point),
        ("b_offset", -context.require_quant(b).zero_point),
        ("output_offset", context.require_quant(y).zero_point),
        ("multiplier", multiplier),
        ("shift", shift),
    )


def _params_s16(context: OpContext, a: Tensor, b: Tensor, y: Tensor, axis: int) -> Params:
    if b.quant is not None and b.quant.per_channel:
        raise context.unsupported(
            f"{b.label} has a scale per channel, with which TFLite computes zeros here",
            "quantise that operand per tensor",
        )
    require_symmetric(context, a, b, y)
    factor = _factor(context, a, b, y)
    if factor >= _LARGEST_WIDE_FACTOR:
        raise context.unsupported(
            f"its scales turn sums into codes by a factor of {factor:.3g}",
            f"quantise the model again so that it is below {_LARGEST_WIDE_FACTOR:.3g}",
        )
    multiplier, shift = quantize_multiplier(factor)
    _require_sums(context, _depth(context, a) * 2**30, _WIDEST_SUM)
    narrow = min((multiplier + 2**15) >> 16, 2**15 - 1)
    return (("multiplier", narrow), ("shift", 15 - shift), ("b_bytes", b.dtype.size))


def _params_hybrid(context: OpContext, a: Tensor, b: Tensor, y: Tensor, axis: int) -> Params:
    """The reference's results are wrong for more outer dimensions, and for b computed at run time.

    Raises:
        Unsupported: for these.
    """
    context.require_constant(b)
    if sum(size > 1 for size in y.shape[:-2]) > 1:
        raise context.unsupported(
            f"{b.label} is int8 and {y.label} has several outer dimensions",
            "reshape the operands to three dimensions before it",
        )
    quant = context.require_quant(b)
    if quant.zero_point:
        raise context.invalid(f"{b.label} is int8 weights with a zero point other than 0")
    _require_sums(context, _depth(context, a) * 255 * 128)
    asymmetric = bool(context.option("asymmetric_quantize_inputs"))
    return (("asymmetric", int(asymmetric)), ("scale", quant.scale))


def _require_sums(context: OpContext, largest: int, limit: int = 2**31) -> None:
    if largest >= limit:
        raise context.unsupported(
            "sums over its inner dimension may not fit the accumulator",
            "split the operator into several with a smaller inner dimension",
        )


def _form(data: DType, second: DType, suffix: str, params: ParamsOf, **more: bool) -> Form:
    return Form(
        types=(data, second, data),
        kernel=f"cg_batch_matmul_{suffix}",
        header=f"cg_batch_matmul_{suffix}.h",
        args=f"cg_batch_matmul_{suffix}_args",
        params=params,
        **more,
    )


FORMS = (
    _form(DType.FLOAT32, DType.FLOAT32, "f32", _params_f32),
    _form(DType.INT8, DType.INT8, "s8", _params_s8),
    _form(DType.INT16, DType.INT16, "s16", _params_s16),
    _form(DType.INT16, DType.INT8, "s16", _params_s16),
    _form(DType.FLOAT32, DType.INT8, "hybrid", _params_hybrid, quantises=True),
)

SPEC = OpSpec(
    name="BATCH_MATMUL",
    max_version=4,
    lower=lower,
    types=data_types(FORMS),
    notes="2 to 5 dimensions, broadcasting, adj_x and adj_y; int16 also times int8, float32 also "
    "times constant int8",
)
