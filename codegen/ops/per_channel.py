"""Codes with a scale per slice of an axis, which the operators between codes and floats know."""

from __future__ import annotations

import math

import numpy as np

from codegen.graph import Tensor
from codegen.ops.base import Access, Alias, Call, Map, OpContext, table


def channel_call(
    context: OpContext, kernel: str, header: str, x: Tensor, y: Tensor, coded: Tensor
) -> Call:
    """One pass over all elements, the slices of the axis seen as the columns of a map.

    `coded` is `x` or `y`, whichever has the scales.

    Raises:
        InvalidModel: for a scale of 0.
    """
    quant = coded.quant
    assert quant is not None
    if not all(quant.scales):
        raise context.invalid(f"{coded.label} has the scale 0")
    before, behind = coded.shape[: quant.axis], coded.shape[quant.axis + 1 :]
    view: Map = (1, math.prod(before), len(quant.scales), math.prod(behind))
    return Call(
        kernel=kernel,
        header=header,
        args="cg_channel_codes_args",
        params=(
            ("scale", table(np.array(quant.scales, np.float32))),
            ("zero_point", table(np.array(quant.zero_points, np.int32))),
        ),
        inputs=(Access(x.index, view, alias=Alias.ELEMENT, dense=True),),
        outputs=(Access(y.index, view, dense=True),),
    )
