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

_GROUP = 16
_APART = 4
_FOUR = 40
_VECTOR = 60
_WIDEN = 6
"""Instructions per group of 4 inputs and four outputs, and more where weights are kept apart; per
four outputs; per vector; and per group to widen it in scratch, which saves two for every four."""


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
    constants, apart = packed.constants, "apart_" if packed.is_apart else ""
    units, depth = values.shape
    groups, fours = -(-depth // 4), -(-units // 4)
    vectors = math.prod(portable.outputs[0].map[:3])
    group = _GROUP + _APART * packed.is_apart
    lean = replace(
        portable,
        kernel=f"cg_fully_connected_{apart}dsp_s8",
        header="cg_fully_connected_dsp.h",
        args="cg_fully_connected_dsp_args",
        params=(
            ("depth", depth),
            ("groups", groups),
            *clamp_params(context, context.output()),
            ("stream", weights(packed.words)),
            ("constants", table(constants)),
            ("next_constants", 12 if len(constants) > 12 or units <= 4 else 0),
        ),
        cost=vectors * (_VECTOR + fours * (_FOUR + groups * group)),
    )
    wide = replace(
        lean,
        kernel=f"cg_fully_connected_wide_{apart}dsp_s8",
        inputs=tuple(_read_first(access) for access in lean.inputs),
        scratch=8 * groups,
        cost=vectors * (_VECTOR + _WIDEN * groups + fours * (_FOUR + groups * (group - 2))),
    )
    return (lean, wide) if depth % 4 == 0 else (wide,)


def _read_first(access: Access) -> Access:
    """The widened vector is read whole before an output is written."""
    return replace(access, alias=Alias.PIXEL) if access.alias is Alias.ROW else access
