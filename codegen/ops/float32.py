"""What operators on float32 share: clamps, weights and biases, as the file has them.

The reference clamps to the whole finite range where no activation is fused, so that an infinite
sum becomes the largest float.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from codegen.fixed_point import ACTIVATION_CLAMPS
from codegen.graph import DType, Tensor
from codegen.ops.base import Lowered, OpContext, Param, Table, weights
from codegen.ops.broadcast import Kernel, broadcast_calls, operand_summary
from codegen.ops.elements import unary_call, unary_operands
from codegen.ops.requantize import fused_activation

LARGEST_FLOAT = float(np.finfo(np.float32).max)


def float_clamp_params(context: OpContext) -> tuple[tuple[str, float], ...]:
    """`act_min` and `act_max` of the fused activation.

    Raises:
        Unsupported: for a fused activation that is not a clamp.
    """
    low, high = ACTIVATION_CLAMPS[fused_activation(context)]
    return (
        ("act_min", -LARGEST_FLOAT if low is None else low),
        ("act_max", LARGEST_FLOAT if high is None else high),
    )


def float_convolution_params(
    context: OpContext, x: Tensor, filters: Tensor, y: Tensor, axis: int
) -> tuple[tuple[str, Param], ...]:
    """Clamp, filter and bias of a convolution whose output channels lie along `axis`.

    Raises:
        Unsupported: for weights that are computed at run time.
    """
    return (
        *float_clamp_params(context),
        ("weights", weights(context.require_constant(filters))),
        ("bias", float_bias(context, context.optional_input(2), filters.shape[axis])),
    )


def float_bias(context: OpContext, bias: Tensor | None, channels: int) -> Table | None:
    """The float32 bias as a table; None when it is absent.

    Raises:
        Unsupported: for another type, or a bias computed at run time.
        InvalidModel: for a wrong length.
    """
    if bias is None:
        return None
    context.require_type(bias, DType.FLOAT32)
    values = context.require_constant(bias)
    if values.size != channels:
        raise context.invalid(f"{bias.label} has {values.size} elements for {channels} channels")
    return weights(values.reshape(-1))


def float_activation(
    context: OpContext, kernel: str, params: Sequence[tuple[str, float]] = (), summary: str = ""
) -> Lowered:
    """An element-wise operator of one float32 operand; its args struct, if any, is `<kernel>_args`.

    Shapes: x of any shape -> y of the same.
    """
    x, y = unary_operands(context, (DType.FLOAT32,))
    args = f"{kernel}_args" if params else ""
    call = unary_call(kernel, "cg_activation_f32.h", x, y, args, params)
    return Lowered(calls=(call,), summary=summary)


def float_binary(
    context: OpContext,
    kernel: str,
    operands: tuple[Tensor, Tensor, Tensor],
    *,
    clamped: bool = True,
) -> Lowered:
    """An element-wise operator of two float32 operands that broadcast: (a, b, y).

    `clamped`: the operator has a fused activation; others let infinities pass.
    """
    unclamped = (("act_min", -math.inf), ("act_max", math.inf))
    params = float_clamp_params(context) if clamped else unclamped
    words = (operand_summary(*operands), fused_activation(context) if clamped else "")
    form = Kernel(kernel, "cg_binary_f32.h", "cg_binary_f32_args")
    return Lowered(
        calls=broadcast_calls(form, operands, params), summary=" ".join(filter(None, words))
    )
