"""Tables that the reference fills by a float32 function: LOGISTIC and TANH.

The function's value is rounded to float32 from double precision. C libraries that round `tanhf`
otherwise give a code one unit off in about one table of 10,000.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from codegen.fixed_point import round_half_away
from codegen.ops.base import Lowered, OpContext
from codegen.ops.lookup import BYTES, lookup, typed_pair


def float_curve(context: OpContext, curve: Callable[[np.float32], np.float32]) -> Lowered:
    """y = round(curve(x) / y scale) + zero point, every step in float32.

    Shapes: x of any shape -> y of the same. Source: `PopulateLookupTable` of TFLite's
    kernels/internal/common.h.
    """
    x, y = typed_pair(context, *BYTES)
    x_quant, y_quant = context.require_quant(x), context.require_quant(y)
    with np.errstate(over="ignore"):
        inverse = np.float32(1) / np.float32(y_quant.scale)
    if not np.isfinite(inverse):
        raise context.unsupported(
            f"{y.label} has the scale {y_quant.scale:g}, which is too small to divide by",
            "quantise the model again",
        )

    def result(code: int) -> int:
        with np.errstate(over="ignore"):
            real = np.float32(x_quant.scale) * np.float32(code - x_quant.zero_point)
            return round_half_away(float(curve(real) * inverse)) + y_quant.zero_point

    return lookup(x, y, result)
