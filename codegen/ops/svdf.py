"""SVDF: a layer of low rank whose filters weigh their results over time.

Every filter multiplies the data by its features and keeps the last results; its output is their
weighted sum. A unit is the sum of `rank` filters plus a bias.

Maths (docs/numerics.md): int8 requantises each result to the state's scale and each unit to the
output's, with factors that are products in double. Hybrid weights quantise each input vector.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from codegen.graph import DType, Tensor
from codegen.ops.base import (
    Access,
    Alias,
    Call,
    Lowered,
    OpContext,
    OpSpec,
    Param,
    all_rows,
    table,
    weights,
)
from codegen.ops.float32 import float_bias, float_clamp_params
from codegen.ops.requantize import (
    bias_table,
    factor,
    filter_values,
    folded_bias,
    fused_activation,
)

_BIAS, _STATE = 3, 4

Params = tuple[tuple[str, Param], ...]


@dataclass(frozen=True, eq=False)
class _Form:
    """The two kernels for the types of data and weights, their constants, and bytes of scratch.

    The first makes the new state, in the place of the old one where that is possible; the second
    makes the units of it.
    """

    kernels: tuple[str, str]
    header: str
    keep: Params
    sum: Params
    scratch: int = 0


@dataclass(frozen=True)
class _Svdf:
    """The operands. Shapes: x[batch, inputs], features[filters, inputs], time[filters, memory]."""

    x: Tensor
    features: Tensor
    time: Tensor
    bias: Tensor | None
    state: Tensor
    y: Tensor
    rank: int

    @property
    def units(self) -> int:
        return self.features.shape[0] // self.rank


def lower(context: OpContext) -> Lowered:
    """Shapes: x[batch, inputs] -> y[batch, units], and the new state[batch, filters * memory]."""
    svdf = _operands(context)
    context.require_type(svdf.x, DType.FLOAT32, DType.INT8)
    form = (_int8_form if svdf.x.dtype is DType.INT8 else _float_form)(context, svdf)
    (batch, inputs), (filters, memory) = svdf.x.shape, svdf.time.shape
    after = context.output(1)
    keep = Call(
        kernel=form.kernels[0],
        header=form.header,
        args=f"{form.kernels[0]}_args",
        params=(("inputs", inputs), ("filters", filters), ("memory", memory), *form.keep),
        inputs=(
            Access(svdf.x.index, (1, 1, batch, inputs), rows=all_rows(1)),
            Access(svdf.state.index, (1, 1, 1, after.elements), alias=Alias.ELEMENT, dense=True),
        ),
        outputs=(Access(after.index, (1, 1, 1, after.elements), dense=True),),
        scratch=form.scratch,
    )
    add = Call(
        kernel=form.kernels[1],
        header=form.header,
        args=f"{form.kernels[1]}_args",
        params=(("units", svdf.units), ("rank", svdf.rank), ("memory", memory), *form.sum),
        inputs=(Access(after.index, (1, 1, 1, after.elements), rows=all_rows(1), dense=True),),
        outputs=(Access(svdf.y.index, (1, 1, batch, svdf.units)),),
    )
    summary = f"{inputs} to {svdf.units} rank {svdf.rank} memory {memory}"
    macs = batch * (svdf.features.elements + svdf.time.elements)
    return Lowered(calls=(keep, add), summary=summary, macs=macs)


def _operands(context: OpContext) -> _Svdf:
    svdf = _Svdf(
        context.input(0),
        context.input(1),
        context.input(2),
        context.optional_input(_BIAS),
        context.input(_STATE),
        context.output(),
        context.int_option("rank"),
    )
    for tensor in (svdf.x, svdf.features, svdf.time):
        if len(tensor.shape) != 2 or 0 in tensor.shape:
            raise context.invalid(f"{tensor.label} {tensor.describe()} is no matrix")
    (batch, inputs), (filters, memory) = svdf.x.shape, svdf.time.shape
    if svdf.features.shape != (filters, inputs):
        raise context.invalid(f"{svdf.features.describe()} are no features of {filters} filters")
    if svdf.rank <= 0 or filters % svdf.rank:
        raise context.invalid(f"{filters} filters make no units of rank {svdf.rank}")
    if not svdf.state.is_variable or svdf.state.shape != (batch, filters * memory):
        raise context.invalid(f"{svdf.state.label} {svdf.state.describe()} is not its state")
    context.require_shape(svdf.y, (batch, svdf.units))
    return svdf


def _float_form(context: OpContext, svdf: _Svdf) -> _Form:
    """float32 data with weights of float32, or of int8 (hybrid)."""
    context.require_type(svdf.features, DType.FLOAT32, DType.INT8)
    context.require_type(svdf.time, svdf.features.dtype)
    for tensor in (svdf.state, svdf.y):
        context.require_type(tensor, DType.FLOAT32)
    hybrid = svdf.features.dtype is DType.INT8
    time = weights(context.require_constant(svdf.time))
    add: Params = (
        *float_clamp_params(context),
        ("time_f32", None if hybrid else time),
        ("time_s8", time if hybrid else None),
        ("time_scale", _scale(context, svdf.time) if hybrid else 1.0),
        ("bias", float_bias(context, svdf.bias, svdf.units)),
    )
    keep: Params = (("features", weights(context.require_constant(svdf.features))),)
    if not hybrid:
        return _Form(("cg_svdf_keep_f32", "cg_svdf_sum_f32"), "cg_svdf_f32.h", keep, add)
    keep += (
        ("asymmetric", int(bool(context.option("asymmetric_quantize_inputs")))),
        ("scale", _scale(context, svdf.features)),
    )
    kernels = ("cg_svdf_keep_hybrid", "cg_svdf_sum_f32")
    return _Form(kernels, "cg_svdf_f32.h", keep, add, scratch=svdf.x.shape[1])


def _scale(context: OpContext, matrix: Tensor) -> float:
    """The scale of int8 or int16 weights, which have no zero point."""
    quant = context.require_quant(matrix)
    if quant.zero_point:
        raise context.invalid(f"{matrix.label} has the zero point {quant.zero_point}, not 0")
    return quant.scale


def _int8_form(context: OpContext, svdf: _Svdf) -> _Form:
    """int8 data and features; state and weights over time are both int16 or both int8."""
    context.require_type(svdf.features, DType.INT8)
    context.require_type(svdf.state, DType.INT16, DType.INT8)
    context.require_type(svdf.time, svdf.state.dtype)
    context.require_type(svdf.y, DType.INT8)
    if fused_activation(context) != "RELU":  # which the output's range stands for
        raise context.unsupported("int8 SVDF is defined with RELU alone", "use RELU")
    x, state = context.require_quant(svdf.x), context.require_quant(svdf.state)
    y = context.require_quant(svdf.y)
    narrow = svdf.state.dtype is DType.INT8
    if state.zero_point and not narrow:
        raise context.invalid(f"{svdf.state.label} is int16 with a zero point other than 0")
    features = filter_values(context, svdf.x, svdf.features, 0).astype(np.int8)
    time = weights(context.require_constant(svdf.time))
    inner = factor(context, x.scale * _scale(context, svdf.features) / state.scale)
    outer = factor(context, state.scale * _scale(context, svdf.time) / y.scale)
    keep: Params = (
        ("features", weights(features)),
        ("bias", table(folded_bias(features, None, x.zero_point))),
        ("multiplier", inner[0]),
        ("shift", inner[1]),
        ("is_narrow", int(narrow)),
        ("zero_point", state.zero_point),
    )
    add: Params = (
        ("time_s16", None if narrow else time),
        ("time_s8", time if narrow else None),
        ("state_zero_point", state.zero_point),
        ("bias", bias_table(context, svdf.bias, svdf.units)),
        ("multiplier", outer[0]),
        ("shift", outer[1]),
        ("output_zero_point", y.zero_point),
    )
    return _Form(("cg_svdf_keep_s8", "cg_svdf_sum_s8"), "cg_svdf_s8.h", keep, add)


SPEC = OpSpec(
    name="SVDF",
    max_version=4,
    lower=lower,
    types=(DType.INT8, DType.FLOAT32),
    notes=(
        "any rank; float data with float or int8 weights; int8 data with int16 or int8 state, "
        "RELU alone; weights per tensor; fused clamps"
    ),
)
