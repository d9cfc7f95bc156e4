"""UNIDIRECTIONAL_SEQUENCE_LSTM: an LSTM over all steps of a sequence."""

from __future__ import annotations

from codegen.graph import DType
from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.lstm_common import lower_lstm


def lower(context: OpContext) -> Lowered:
    """Shapes: x[batch, steps, inputs], or with `time_major` x[steps, batch, inputs]."""
    x = context.input(0)
    context.require_type(x, DType.FLOAT32, DType.INT8)
    if len(x.shape) != 3:
        raise context.invalid(f"{x.label} {x.describe()} has not three dimensions")
    time_major = bool(context.option("time_major"))
    steps, batch = x.shape[:2] if time_major else x.shape[1::-1]
    if context.option("diagonal_recurrent_tensors"):
        raise context.unsupported("diagonal recurrent weights", "use full matrices")
    return lower_lstm(context, steps, batch, time_major)


SPEC = OpSpec(
    name="UNIDIRECTIONAL_SEQUENCE_LSTM",
    max_version=4,
    lower=lower,
    types=(DType.INT8, DType.FLOAT32),
    notes=(
        "coupled gates, peepholes, projection, normalised sums; float data with float or int8 "
        "weights; int8 data with an int16 cell; both orders of axes"
    ),
)
