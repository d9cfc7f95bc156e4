"""int16 operators of one variable that change the scale, see cg_rescale.h."""

from __future__ import annotations

from dataclasses import dataclass

from codegen.graph import Tensor
from codegen.ops.base import Lowered, OpContext
from codegen.ops.elements import unary_call
from codegen.ops.int16 import require_symmetric

Factor = tuple[int, int]
"""Multiplier and shift."""


@dataclass(frozen=True)
class Rescaling:
    """y = clamp(requantised x), two roundings.

    `below` is the factor of negative codes, whose result `sign` multiplies.
    """

    above: Factor
    below: Factor
    clamp: tuple[int, int]
    sign: int = 1


def rescaled(
    context: OpContext, x: Tensor, y: Tensor, rescaling: Rescaling, summary: str = ""
) -> Lowered:
    """Shapes: x of any shape -> y of the same, both int16.

    Raises:
        Unsupported: for zero points.
    """
    require_symmetric(context, x, y)
    params = (
        ("multiplier", rescaling.above[0]),
        ("shift", rescaling.above[1]),
        ("below_multiplier", rescaling.below[0]),
        ("below_shift", rescaling.below[1]),
        ("below_sign", rescaling.sign),
        ("act_min", rescaling.clamp[0]),
        ("act_max", rescaling.clamp[1]),
    )
    call = unary_call("cg_rescale_s16", "cg_rescale.h", x, y, "cg_rescale_args", params)
    return Lowered(calls=(call,), summary=summary)
