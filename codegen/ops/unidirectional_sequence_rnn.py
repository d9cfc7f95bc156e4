"""UNIDIRECTIONAL_SEQUENCE_RNN: a simple recurrent layer over all steps of a sequence."""

from __future__ import annotations

from codegen.graph import DType
from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.rnn_common import lower_rnn


def lower(context: OpContext) -> Lowered:
    """Shapes: x[batch, steps, inputs], or with `time_major` x[steps, batch, inputs]."""
    x = context.input(0)
    if len(x.shape) != 3:
        raise context.invalid(f"{x.label} {x.describe()} has not three dimensions")
    time_major = bool(context.option("time_major"))
    steps, batch = x.shape[:2] if time_major else x.shape[1::-1]
    return lower_rnn(context, steps, batch, time_major)


SPEC = OpSpec(
    name="UNIDIRECTIONAL_SEQUENCE_RNN",
    max_version=3,
    lower=lower,
    types=(DType.FLOAT32,),
    notes="as RNN; both orders of axes",
)
