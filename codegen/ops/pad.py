"""PAD: fills around a tensor with the output's zero point."""

from __future__ import annotations

from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.pad_common import PADDED_TYPES, lower_padding, zero_value


def lower(context: OpContext) -> Lowered:
    """Inputs: x of rank 1 to 5, paddings[rank, 2] -> y larger by the paddings."""
    return lower_padding(context, zero_value(context.output()))


SPEC = OpSpec(
    name="PAD",
    max_version=6,
    lower=lower,
    types=PADDED_TYPES,
    notes="constant paddings, rank up to 5",
)
