"""Functions of one real variable: computed on float32, tabulated for quantised codes.

Maths of the tables: TFLite's `LUTPopulate` of kernels/internal/common.h; see float_curve.py for
8 bits and interpolation.py for 16.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codegen.graph import DType
from codegen.ops.base import Lowered, OpContext
from codegen.ops.elements import unary_call, unary_operands
from codegen.ops.float_curve import float_curve
from codegen.ops.interpolation import axis_of, interpolated, interpolation_table

Curve = Callable[[Any], Any]
"""From float32 values to float32 values, arrays or single ones."""


def curve(context: OpContext, kernel: str, types: Sequence[DType], function: Curve) -> Lowered:
    """y = function(x), by the float32 kernel `kernel` of cg_math.h or by a table.

    Shapes: x of any shape -> y of the same.
    """
    x, y = unary_operands(context, types)
    if x.dtype is DType.FLOAT32:
        return Lowered(calls=(unary_call(kernel, "cg_math.h", x, y),))
    x_quant, y_quant = context.require_quant(x), context.require_quant(y)
    # Far beyond every code, and still a number when it is divided by the scale.
    farthest = np.float32(min(2.0**100 * y_quant.scale, 1e38))

    def finite(values: Any) -> Any:
        return np.clip(function(values), -farthest, farthest)

    if x.dtype is DType.INT16:
        return interpolated(x, y, interpolation_table(finite, axis_of(x_quant), axis_of(y_quant)))
    return float_curve(context, finite)


def float_only(context: OpContext, kernel: str, header: str = "cg_math.h") -> Lowered:
    """y = the function that the kernel is named after, on float32 alone.

    Shapes: x of any shape -> y of the same.
    """
    x, y = unary_operands(context, (DType.FLOAT32,))
    return Lowered(calls=(unary_call(kernel, header, x, y),))


def in_double(function: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> Curve:
    """`function` with arguments and results rounded to float32, as a good C library computes it."""

    def rounded(values: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(np.asarray(values, np.float64)).astype(np.float32)[()]

    return rounded
