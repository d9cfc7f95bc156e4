"""FULLY_CONNECTED for cores with the DSP extension: cg_fully_connected_dsp.h."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from codegen.graph import Tensor
from codegen.ops.base import Access, Alias, Call, OpContext, table, weights
from codegen.ops.conv_2d_dsp import packed_layer
from codegen.ops.packing_dsp import dense_stream
from codegen.ops.requantize import clamp_params, filter_values, weights_zero_point

_GROUP = {False: 16, True: 14}
_FOUR = 40
_VECTOR = 60
"""Instructions per group of 4 inputs and four outputs, by whether the inputs are widened in
scratch; per four outputs; per vector."""


def fully_connected_forms(context: OpContext, filters: Tensor, portable: Call) -> tuple[Call, ...]:
    """The fast forms of a portable call, the leanest first, if weights and scales allow it.

    Shapes: filters[out, in].
    """
    if weights_zero_point(filters) != 0:
        return ()
    values = filter_values(context, context.input(0), filters, 0).astype(np.int64)
    packed = dense_stream(packed_layer(context, values, 0, shifted=True))
    if packed is None:
        return ()
    stream, constants = packed
    units, depth = values.shape
    groups = -(-depth // 4)
    lean = replace(
        portable,
        kernel="cg_fully_connected_dsp_s8",
        header="cg_fully_connected_dsp.h",
        args="cg_fully_connected_dsp_args",
        params=(
            ("depth", depth),
            ("groups", groups),
            *clamp_params(context, context.output()),
            ("stream", weights(stream)),
            ("constants", table(constants)),
            ("next_constants", 12 if len(constants) > 12 or units <= 4 else 0),
        ),
        cost=_instructions(portable, units, groups, wide=False),
    )
    wide = replace(
        lean,
        kernel="cg_fully_connected_wide_dsp_s8",
        inputs=tuple(_read_first(access) for access in lean.inputs),
        scratch=8 * groups,
        cost=_instructions(portable, units, groups, wide=True),
    )
    return (lean, wide) if depth % 4 == 0 else (wide,)


def _read_first(access: Access) -> Access:
    """The widened vector is read whole before an output is written."""
    return replace(access, alias=Alias.PIXEL) if access.alias is Alias.ROW else access


def _instructions(call: Call, units: int, groups: int, wide: bool) -> int:
    fours = -(-units // 4)
    vector = _VECTOR + fours * (_FOUR + _GROUP[wide] * groups) + (6 * groups if wide else 0)
    return math.prod(call.outputs[0].map[:3]) * vector
