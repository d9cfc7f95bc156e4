"""MEAN over any axes, input and output of different scales.

Maths (docs/numerics.md), int8: the sum of (x - zero point) is requantised by in_scale / out_scale,
whose Q31 multiplier is divided by the number of elements beforehand; two roundings. float32: the
sum in the order of memory, divided by the number of elements. int32, int64: a sum of 64 bits,
divided and cut off behind the point.
"""

from __future__ import annotations

from dataclasses import dataclass

from codegen.fixed_point import integer_range, quantize_multiplier
from codegen.graph import DType, Tensor
from codegen.ops.base import (
    SAME_ROW,
    Access,
    Call,
    Lowered,
    Map,
    OpContext,
    OpSpec,
    all_rows,
    nhwc,
)
from codegen.ops.codes import CODES
from codegen.ops.elements import SUFFIX
from codegen.ops.movement import constant_ints, resolved_axis
from codegen.ops.requantize import require_factor

TYPES = (*CODES, DType.FLOAT32, DType.INT32, DType.INT64)
_HEADERS = {
    DType.FLOAT32: "cg_mean_f32.h",
    DType.INT32: "cg_mean_integers.h",
    DType.INT64: "cg_mean_integers.h",
}
"""Of the kernels for numbers; those for codes share another."""


@dataclass(frozen=True)
class _Layout:
    """The input as (n, h, w, parts * c); `rows` and `columns` are averaged if set, parts always."""

    image: Map
    rows: bool
    columns: bool
    parts: int

    @property
    def count(self) -> int:
        """Elements per mean."""
        _, h, w, _ = self.image
        return (h if self.rows else 1) * (w if self.columns else 1) * self.parts

    @property
    def result(self) -> Map:
        n, h, w, c = self.image
        return (n, 1 if self.rows else h, 1 if self.columns else w, c // self.parts)


def lower(context: OpContext) -> Lowered:
    """Shapes: x of any shape, axes[k] -> y, x's shape without these axes (or 1 there)."""
    x, y = context.input(0), context.output()
    context.require_type(x, *TYPES)
    context.require_type(y, x.dtype)
    reduced = _axes(context, x)
    keep = bool(context.option("keep_dims"))
    kept = [1 if a in reduced else d for a, d in enumerate(x.shape) if keep or a not in reduced]
    context.require_shape(y, tuple(kept))
    layout = _layout(context, x, reduced)
    coded = x.dtype in CODES
    params = _params_of_codes if coded else _params_of_numbers
    rows = all_rows(layout.image[1]) if layout.rows else SAME_ROW
    call = Call(
        kernel=f"cg_mean_{SUFFIX[x.dtype]}",
        header=_HEADERS.get(x.dtype, "cg_mean.h"),
        args="cg_mean_args" if coded else "cg_mean_f32_args",
        params=(*_layout_params(layout), *params(context, layout)),
        inputs=(Access(x.index, layout.image, rows, dense=layout.image != nhwc(x.shape)),),
        outputs=(Access(y.index, layout.result, dense=layout.result != nhwc(y.shape)),),
    )
    axes = ",".join(map(str, sorted(reduced)))
    return Lowered(calls=(call,), summary=f"axes {axes}")


def _layout_params(layout: _Layout) -> tuple[tuple[str, int], ...]:
    _, h, w, channels = layout.image
    return (
        ("rows", h if layout.rows else 0),
        ("columns", w if layout.columns else 0),
        ("parts", layout.parts),
        ("out_c", channels // layout.parts),
    )


def _params_of_numbers(context: OpContext, layout: _Layout) -> tuple[tuple[str, int], ...]:
    return (("count", layout.count),)


def _params_of_codes(context: OpContext, layout: _Layout) -> tuple[tuple[str, int], ...]:
    """Offsets and factor.

    Raises:
        Unsupported: for sums or a factor that 32-bit arithmetic has no room for.
    """
    low, high = integer_range(context.output().dtype)
    most = 2**31 // (high - low)
    if layout.count > most:
        raise context.unsupported(
            f"it averages {layout.count} elements at a time",
            f"average at most {most}, in two steps",
        )
    x_quant = context.require_quant(context.input(0))
    y_quant = context.require_quant(context.output())
    factor = x_quant.scale / y_quant.scale
    require_factor(context, factor)
    multiplier, shift = quantize_multiplier(factor)
    extra = min(layout.count.bit_length() - 1, 32, 31 + shift)
    return (
        ("offset", -x_quant.zero_point * layout.count),
        ("output_offset", y_quant.zero_point),
        ("multiplier", (multiplier << extra) // layout.count),
        ("shift", shift - extra),
        ("low", low),
        ("high", high),
    )


def _axes(context: OpContext, x: Tensor) -> frozenset[int]:
    """The axes to average, none of them negative, each once."""
    axes = context.input(1)
    context.require_type(axes, DType.INT32)
    return frozenset(resolved_axis(context, a, len(x.shape)) for a in constant_ints(context, axes))


def _layout(context: OpContext, x: Tensor, reduced: frozenset[int]) -> _Layout:
    """x's own map if its images are averaged one by one, else its axes merged to fit one."""
    if not x.elements:
        raise context.unsupported(f"{x.label} is empty", "remove the operator from the model")
    rank = len(x.shape)
    if all(a >= rank - 3 or x.shape[a] == 1 for a in reduced):
        h, w, c = nhwc(x.shape)[1:]
        rows, columns, channels = (a in reduced for a in (rank - 3, rank - 2, rank - 1))
        return _Layout(nhwc(x.shape), rows, columns, c if channels else 1)
    groups = _merged(x.shape, reduced)
    c = groups.pop()[0] if not groups[-1][1] else 1
    parts = groups.pop()[0] if groups and groups[-1][1] else 1
    w, columns = groups.pop() if groups else (1, False)
    h, rows = groups.pop() if groups else (1, False)
    n, images = groups.pop() if groups else (1, False)
    if groups or images:
        raise context.unsupported(
            f"averaging axes {sorted(reduced)} of {x.label} {x.describe()} is not supported",
            "average neighbouring axes first and the others by a second MEAN",
        )
    return _Layout((n, h, w, parts * c), rows, columns, parts)


def _merged(shape: tuple[int, ...], reduced: frozenset[int]) -> list[tuple[int, bool]]:
    """Sizes of runs of axes that are all kept or all averaged, axes of size 1 left out."""
    runs: list[tuple[int, bool]] = []
    for a, size in enumerate(shape):
        averaged = a in reduced
        if size == 1:
            continue
        if runs and runs[-1][1] == averaged:
            runs[-1] = (runs[-1][0] * size, averaged)
        else:
            runs.append((size, averaged))
    return runs


SPEC = OpSpec(
    name="MEAN",
    max_version=3,
    lower=lower,
    types=TYPES,
    notes="constant axes; those averaged must not be more than three groups of neighbours",
)
