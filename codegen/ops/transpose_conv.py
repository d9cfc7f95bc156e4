"""TRANSPOSE_CONV: every input pixel spreads over a window of the output, weighted by the filter.

Maths (docs/numerics.md): an output is the sum of x * w over the inputs whose windows reach it, in
their order in memory, plus bias; integers are requantised like those of CONV_2D.
"""

from __future__ import annotations

from dataclasses import replace

from codegen.graph import DType, Tensor
from codegen.ops.base import (
    Access,
    Alias,
    Call,
    Lowered,
    OpContext,
    OpSpec,
    RowMap,
    all_rows,
    nhwc,
    whole,
)
from codegen.ops.float32 import float_convolution_params
from codegen.ops.forms import Form, Params, data_types, select_form
from codegen.ops.hybrid import hybrid_params
from codegen.ops.int16 import wide_convolution_params
from codegen.ops.movement import constant_ints
from codegen.ops.requantize import convolution_params, fused_activation
from codegen.ops.spatial import Axis, Window, window
from codegen.ops.uint8 import byte_form


def _hybrid_params(context: OpContext, x: Tensor, filters: Tensor, y: Tensor, axis: int) -> Params:
    per_channel = filters.quant is not None and filters.quant.per_channel
    return (("per_channel", int(per_channel)), *hybrid_params(context, x, filters, y, axis))


FORMS = (
    Form(
        types=(DType.INT8, DType.INT8, DType.INT8),
        kernel="cg_transpose_conv_s8",
        header="cg_transpose_conv.h",
        args="cg_transpose_conv_args",
        params=convolution_params,
    ),
    Form(
        types=(DType.FLOAT32, DType.FLOAT32, DType.FLOAT32),
        kernel="cg_transpose_conv_f32",
        header="cg_transpose_conv_f32.h",
        args="cg_transpose_conv_f32_args",
        params=float_convolution_params,
    ),
    Form(
        types=(DType.FLOAT32, DType.INT8, DType.FLOAT32),
        kernel="cg_transpose_conv_hybrid",
        header="cg_transpose_conv_hybrid.h",
        args="cg_transpose_conv_hybrid_args",
        params=_hybrid_params,
        quantises=True,
    ),
    Form(
        types=(DType.INT16, DType.INT8, DType.INT16),
        kernel="cg_transpose_conv_s16",
        header="cg_transpose_conv_s16.h",
        args="cg_transpose_conv_s16_args",
        params=wide_convolution_params,
    ),
    byte_form("transpose_conv"),
)


def lower(context: OpContext) -> Lowered:
    """Inputs: the output's shape, filter[co,kh,kw,ci], x[n,h,w,ci], bias[co] -> y[n,oh,ow,co].

    A shape that is computed at run time is not read: it can only repeat what the file says.
    """
    if not states_shape(context.input(0), context.output()):
        context.require_shape(context.output(), constant_ints(context, context.input(0)))
    context = _in_order_of_conv_2d(context)
    x, filters, y = context.input(0), context.input(1), context.output()
    form = select_form(context, FORMS)
    if any(len(t.shape) != 4 for t in (x, filters, y)):
        raise context.invalid(f"{x.label} and {filters.label} must have four dimensions")
    channels, kernel_h, kernel_w, channels_in = filters.shape
    view = window(context, (y.shape[1], y.shape[2]), (kernel_h, kernel_w))
    if x.shape != (y.shape[0], view.h.out, view.w.out, channels_in) or y.shape[3] != channels:
        raise context.invalid(f"{x.label} {x.describe()} does not spread over {y.describe()}")
    call = Call(
        kernel=form.kernel,
        header=form.header,
        args=form.args,
        params=(*_window_params(x, view), *form.params(context, x, filters, y, 0)),
        inputs=(_input(form, x, view),),
        outputs=(whole(y),),
        scratch=form.scratch(x.elements // x.shape[0]),
    )
    return Lowered(
        calls=(call,),
        summary=f"{view.summary()} {fused_activation(context)}",
        macs=x.elements * channels * kernel_h * kernel_w,
    )


def states_shape(shape: Tensor, y: Tensor) -> bool:
    """Whether the file states the output's shape, and the operand for it is no constant."""
    return not shape.is_constant and len(y.shape) == 4 and not y.free_dims


def _in_order_of_conv_2d(context: OpContext) -> OpContext:
    """The same operator with its inputs as CONV_2D has them: data, filter, bias."""
    data, bias = context.node.input(2), context.node.input(3)
    inputs = (data, context.node.input(1), bias)
    return replace(context, node=replace(context.node, inputs=inputs))


def _window_params(x: Tensor, view: Window) -> Params:
    """The window slides over the output, and its places are the input's pixels."""
    return (
        ("in_h", x.shape[1]),
        ("in_w", x.shape[2]),
        ("in_channels", x.shape[3]),
        *((name, value) for name, value in view.params() if not name.startswith("in_")),
    )


def _input(form: Form, x: Tensor, view: Window) -> Access:
    if form.quantises:
        return whole(x, Alias.NONE, all_rows(x.shape[1]))
    rows = RowMap(table=tuple(_reaching(view.h, y) for y in range(view.h.size)))
    return Access(x.index, nhwc(x.shape), rows=rows, alias=Alias.ROW)


def _reaching(axis: Axis, o: int) -> tuple[int, int]:
    """[first, end) of the inputs whose windows reach output `o`."""
    end = min((o + axis.pad) // axis.stride + 1, axis.out)
    first = max(0, -(-(o + axis.pad - axis.kernel + 1) // axis.stride))
    return min(first, end), end


SPEC = OpSpec(
    name="TRANSPOSE_CONV",
    max_version=5,
    lower=lower,
    types=data_types(FORMS),
    notes=(
        "output shape constant or as the file states it; any stride, padding and fused "
        "activation; weights per tensor or per channel, of uint8 per tensor, constant; bias int32 "
        "(of int16 data int32 or int64, of float data float32) or absent"
    ),
)
