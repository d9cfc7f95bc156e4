"""Operators of one int16 variable: a table of 513 values with straight lines between them.

Maths: TFLite's `LUTPopulate` of kernels/internal/common.h, in float32 or double throughout. A value
is moved by half the error that its line has in the middle.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codegen.graph import Quantization, Tensor
from codegen.ops.base import Alias, Call, Lowered, table, whole

STEPS = 512
_LOW, _HIGH = -(2**15), 2**15 - 1

Floats = NDArray[Any]
"""Of float32 or float64, all in one computation."""

Curve = Callable[[Floats], Floats]


@dataclass(frozen=True)
class Axis:
    """real = scale * (code - zero_point)."""

    scale: float
    zero_point: int

    def ends(self, real: Any) -> Floats:
        """The real values of the lowest and the highest code."""
        codes = np.array([_LOW - self.zero_point, _HIGH - self.zero_point], real)
        return np.asarray(real(self.scale) * codes)


def axis_of(quant: Quantization) -> Axis:
    """A tensor's own codes."""
    return Axis(quant.scale, quant.zero_point)


def interpolation_table(
    curve: Curve, x: Axis, y: Axis, real: Any = np.float32
) -> NDArray[np.int16]:
    """513 codes of `y`: the values of `curve`, a function of that precision, between the steps."""
    first, last = x.ends(real)
    lowest, highest = y.ends(real)
    half, two = real(0.5), real(2)
    step = (last - first) / real(STEPS)
    factor = real(_HIGH - _LOW + 1) / (highest - lowest)
    i = np.arange(STEPS).astype(real)
    value = curve(first + i * step) * factor
    middle = curve(first + i * step + step * half) * factor
    after = curve(first + (i + real(1)) * step) * factor
    error = _rounded((after + _rounded(value)) / two) - _rounded(middle)
    codes = _rounded(value) - _rounded(error / two)
    end = _rounded(curve(np.full(1, last)) * factor)
    return np.asarray(np.clip(np.append(codes, end), _LOW, _HIGH), np.int16)


def _rounded(values: Floats) -> Floats:
    """To the nearest integer, halves away from zero."""
    away = np.trunc(values.astype(np.float64) + np.copysign(0.5, values))
    return np.asarray(away, values.dtype)


def interpolated(x: Tensor, y: Tensor, values: NDArray[np.int16], summary: str = "") -> Lowered:
    """The operator that maps `x` to `y` by a table. Shapes: x of any shape -> y of the same."""
    call = Call(
        kernel="cg_interpolate_s16",
        header="cg_interpolate.h",
        args="cg_interpolate_args",
        params=(("table", table(values)),),
        inputs=(whole(x, Alias.ELEMENT),),
        outputs=(whole(y),),
        pointwise=True,
    )
    return Lowered(calls=(call,), summary=summary)
