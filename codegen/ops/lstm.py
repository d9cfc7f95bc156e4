"""LSTM: one step per run, or one per row of a batch."""

from __future__ import annotations

from codegen.graph import DType
from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.lstm_common import lower_lstm


def lower(context: OpContext) -> Lowered:
    """Shapes: x[batch, inputs] -> y[batch, outputs]."""
    x = context.input(0)
    context.require_type(x, DType.FLOAT32, DType.INT8)
    if len(x.shape) != 2:
        raise context.invalid(f"{x.label} {x.describe()} has not two dimensions")
    if context.int_option("kernel_type"):
        raise context.unsupported("the basic kernel", "convert the model with the full one")
    return lower_lstm(context, 1, x.shape[0], time_major=True)


SPEC = OpSpec(
    name="LSTM",
    max_version=4,
    lower=lower,
    types=(DType.INT8, DType.FLOAT32),
    notes="the full kernel; as UNIDIRECTIONAL_SEQUENCE_LSTM",
)
