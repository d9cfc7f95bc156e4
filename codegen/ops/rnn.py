"""RNN: one step of a simple recurrent layer per run."""

from __future__ import annotations

from codegen.graph import DType
from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.rnn_common import lower_rnn


def lower(context: OpContext) -> Lowered:
    """Shapes: x[batch, inputs] -> y[batch, units]."""
    x = context.input(0)
    if len(x.shape) != 2:
        raise context.invalid(f"{x.label} {x.describe()} has not two dimensions")
    return lower_rnn(context, 1, x.shape[0], time_major=True)


SPEC = OpSpec(
    name="RNN",
    max_version=3,
    lower=lower,
    types=(DType.FLOAT32,),
    notes="float or int8 weights, one scale per matrix; tanh or a fused clamp",
)
