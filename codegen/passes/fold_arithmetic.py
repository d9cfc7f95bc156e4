"""The arithmetic that exporters do on shapes, with numpy, for folding.

Integers wrap around as in the reference's kernels; a float32 operation is rounded once on both
sides, so its result is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codegen.graph import DType
from codegen.ops.base import OpContext
from codegen.ops.movement import constant_ints, resolved_axis
from codegen.passes.rewrite import Array, Evaluate

_INTEGERS = (DType.INT32, DType.INT64)
_NUMBERS = (*_INTEGERS, DType.FLOAT32)

Binary = Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]]


def _binary(compute: Binary, types: tuple[DType, ...]) -> Evaluate:
    """An operator of two operands of one of `types`, without a fused activation."""

    def evaluate(context: OpContext) -> list[Array] | None:
        a, b = context.input(0), context.input(1)
        if a.dtype not in types or b.dtype is not a.dtype:
            return None
        if context.str_option("fused_activation_function", "NONE") != "NONE":
            return None
        try:
            shape = np.broadcast_shapes(a.shape, b.shape)
        except ValueError:
            raise context.invalid(
                f"{a.label} {a.describe()} and {b.label} {b.describe()} do not broadcast"
            ) from None
        if shape != context.output().shape:
            return None  # before numpy makes something absurdly large
        with np.errstate(all="ignore"):
            return [np.asarray(compute(a.array, b.array))]

    return evaluate


def _quotient(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """Division that rounds integers towards zero; the caller has seen to the divisor."""
    if a.dtype.kind == "f":
        return np.asarray(a / b)
    whole = np.abs(a) // np.abs(b)
    return np.asarray(np.where((a < 0) != (b < 0), -whole, whole).astype(a.dtype))


def _division(compute: Binary, types: tuple[DType, ...]) -> Evaluate:
    """As `_binary`, but for a divisor of 0, which is left to be refused by name."""
    inner = _binary(compute, types)

    def evaluate(context: OpContext) -> list[Array] | None:
        return inner(context) if np.all(context.input(1).array != 0) else None

    return evaluate


def _cast(context: OpContext) -> list[Array] | None:
    """Between integers, from integers to float32, and back where the value fits."""
    x, y = context.input(0), context.output()
    if x.dtype not in (*_NUMBERS, DType.BOOL) or y.dtype not in _NUMBERS:
        return None
    if x.dtype is DType.FLOAT32 and not np.all(np.abs(x.array.astype(np.float64)) < 2**31):
        return None
    return [x.array.astype(y.dtype.value)]


def _product(context: OpContext) -> list[Array] | None:
    x = context.input(0)
    if x.dtype not in _INTEGERS:
        return None
    rank = len(x.shape)
    axes = {resolved_axis(context, a, rank) for a in constant_ints(context, context.input(1))}
    array: NDArray[Any] = x.array
    keep = bool(context.option("keep_dims"))
    product = np.prod(array, axis=tuple(sorted(axes)), keepdims=keep, dtype=array.dtype)
    return [np.asarray(product)]


def _selected(context: OpContext) -> list[Array] | None:
    condition, a, b = (context.input(i) for i in range(3))
    if condition.dtype is not DType.BOOL or a.dtype not in _NUMBERS or b.dtype is not a.dtype:
        return None
    if not condition.shape == a.shape == b.shape:
        return None
    return [np.where(condition.array, a.array, b.array)]


ARITHMETIC: Mapping[str, Evaluate] = {
    "ADD": _binary(np.add, _NUMBERS),
    "CAST": _cast,
    "DIV": _division(_quotient, _NUMBERS),
    "EQUAL": _binary(np.equal, _NUMBERS),
    "FLOOR_DIV": _division(np.floor_divide, _INTEGERS),
    "FLOOR_MOD": _division(np.mod, _INTEGERS),
    "GREATER": _binary(np.greater, _NUMBERS),
    "GREATER_EQUAL": _binary(np.greater_equal, _NUMBERS),
    "LESS": _binary(np.less, _NUMBERS),
    "LESS_EQUAL": _binary(np.less_equal, _NUMBERS),
    "MAXIMUM": _binary(np.maximum, _INTEGERS),
    "MINIMUM": _binary(np.minimum, _INTEGERS),
    "MUL": _binary(np.multiply, _NUMBERS),
    "NOT_EQUAL": _binary(np.not_equal, _NUMBERS),
    "REDUCE_PROD": _product,
    "SELECT": _selected,
    "SELECT_V2": _selected,
    "SUB": _binary(np.subtract, _NUMBERS),
}
