"""LOGISTIC and TANH of int16: one table of the logistic function serves both.

Maths: docs/numerics.md. Input codes are brought to 1 / (3 * 4096) per unit: exactly where the scale
is a power of two that fits, else by a factor of 15 bits, which is cut and not rounded.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codegen.graph import DType
from codegen.ops.base import Lowered, OpContext, table
from codegen.ops.elements import unary_call
from codegen.ops.int16 import require_symmetric
from codegen.ops.lookup import typed_pair

_UNITS = 3 * 4096
_LARGEST_MULTIPLIER = 2**16 - 1
"""Times any int16 it fits 32 bits."""


def sigmoid_table() -> NDArray[np.uint16]:
    """1 / (1 + exp(-i / 24)) for i = 0 ... 255 with 16 fractional bits; the last is the limit.

    Each value is raised by half the error that the line to the next one has in its middle.
    """
    i = np.arange(255).astype(np.float64)
    error = _logistic(i + 0.5) - (_logistic(i) + _logistic(i + 1)) / 2
    values = np.round(_logistic(i) + error / 2)
    return np.append(values, 2**16 - 1).astype(np.uint16)


def _logistic(position: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    return np.asarray(2**16 / (1 + np.exp(-position / 24)))


def position_factor(context: OpContext, scale: float, shifts: tuple[int, ...]) -> tuple[int, int]:
    """(multiplier, shift to the right) from input codes to table positions.

    `shifts` are the powers of two, counted from 1/4096, that scales may be to be exact.

    Raises:
        Unsupported: for a scale with which products leave 32 bits.
    """
    power = near_power_of_two(scale)
    if power is not None and power + 12 in shifts:
        return 3 << (power + 12), 0
    multiplier, shift = scale * _UNITS, 0
    while multiplier <= 32767 / 2 and shift <= 30:
        multiplier, shift = multiplier * 2, shift + 1
    if int(multiplier) > _LARGEST_MULTIPLIER:
        raise context.unsupported(
            f"its input has the scale {scale:g}", "quantise the model again with a scale below 5"
        )
    return int(multiplier), shift


def near_power_of_two(scale: float) -> int | None:
    """The exponent of the power of two that a scale is, to about 1 in 1,000; None if it is none."""
    exponent = math.log2(scale)
    return round(exponent) if abs(exponent - round(exponent)) < 1e-3 else None


def sigmoid(context: OpContext, kernel: str, shifts: tuple[int, ...]) -> Lowered:
    """Shapes: x of any shape -> y of the same, both int16."""
    x, y = typed_pair(context, DType.INT16)
    require_symmetric(context, x, y)
    multiplier, shift = position_factor(context, context.require_quant(x).scale, shifts)
    params = (
        ("multiplier", multiplier),
        ("shift", shift),
        ("table", table(sigmoid_table())),
    )
    call = unary_call(kernel, "cg_sigmoid_s16.h", x, y, "cg_sigmoid_s16_args", params)
    return Lowered(calls=(call,))
