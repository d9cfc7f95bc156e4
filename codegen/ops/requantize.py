"""Per-channel requantisation of convolution-like operators, as parameters of their kernels."""

from __future__ import annotations

import numpy as np

from codegen.fixed_point import ACTIVATION_CLAMPS, activation_range, quantize_multiplier
from codegen.graph import DType, Tensor
from codegen.ops.base import OpContext, Param, Table, table, weights


def channel_scales(context: OpContext, filters: Tensor, axis: int) -> tuple[float, ...]:
    """One filter scale per output channel, a per-tensor scale repeated.

    Raises:
        InvalidModel: if the filter has no scale, the wrong number of them or a zero point.
    """
    channels, quant = filters.shape[axis], filters.quant
    if quant is None or not quant.scales:
        raise context.invalid(f"{filters.label} is int8 but has no scale")
    if any(quant.zero_points):
        raise context.invalid(f"{filters.label} is int8 weights with a zero point other than 0")
    scales = quant.scales * channels if len(quant.scales) == 1 else quant.scales
    if len(scales) != channels or (quant.per_channel and quant.axis != axis):
        raise context.invalid(
            f"{filters.label} has {len(quant.scales)} scales along axis {quant.axis} "
            f"where the operator needs {channels} along axis {axis}"
        )
    return scales


def multiplier_tables(real: list[float]) -> tuple[Table, Table]:
    """Real factors as two tables: int32 multipliers and int8 shifts."""
    pairs = [quantize_multiplier(value) for value in real]
    multipliers = np.array([m for m, _ in pairs], np.int32)
    shifts = np.array([s for _, s in pairs], np.int8)
    return table(multipliers), table(shifts)


def bias_table(context: OpContext, bias: Tensor | None, channels: int) -> Table | None:
    """The int32 bias as a table; None when it is absent.

    Raises:
        Unsupported: for another type, or a bias computed at run time.
        InvalidModel: for a wrong length.
    """
    if bias is None:
        return None
    context.require_type(bias, DType.INT32)
    values = context.require_constant(bias)
    if values.size != channels:
        raise context.invalid(f"{bias.label} has {values.size} elements for {channels} channels")
    return weights(values.reshape(-1))


def clamp_params(context: OpContext, out: Tensor) -> tuple[tuple[str, Param], ...]:
    """`act_min` and `act_max` of the fused activation.

    Raises:
        Unsupported: for a fused activation that is not a clamp.
    """
    low, high = activation_range(fused_activation(context), context.require_quant(out), out.dtype)
    return (("act_min", low), ("act_max", high))


def fused_activation(context: OpContext) -> str:
    """The schema name of the fused activation.

    Raises:
        Unsupported: for one that is not a clamp.
    """
    activation = context.str_option("fused_activation_function", "NONE")
    if activation not in ACTIVATION_CLAMPS:
        raise context.unsupported(
            f"the fused activation {activation} is not supported",
            "export it as an operator of its own",
        )
    return activation
