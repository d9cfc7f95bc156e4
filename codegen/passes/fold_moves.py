"""What operators that move data make of constants, with numpy, for folding."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codegen.ops.base import OpContext
from codegen.ops.gather import gathering
from codegen.ops.movement import constant_ints, resolved_axis
from codegen.ops.range import numbers
from codegen.ops.reverse_v2 import reversed_axes
from codegen.ops.split_v import part_sizes
from codegen.ops.tile import multiples
from codegen.passes.rewrite import Array, Evaluate

_MOST_FOLDED = 1 << 16
"""Elements; a larger tensor of equal elements takes less flash as an operator."""


def _packed(context: OpContext) -> list[Array]:
    arrays = [context.input(i).array for i in range(len(context.node.inputs))]
    if any(a.shape != arrays[0].shape or a.dtype != arrays[0].dtype for a in arrays):
        raise context.invalid("the inputs differ in shape or type")
    axis = resolved_axis(context, context.int_option("axis"), arrays[0].ndim + 1)
    return [np.stack(arrays, axis=axis)]


def _unpacked(context: OpContext) -> list[Array]:
    axis = context.int_option("axis")
    return [np.take(context.input(0).array, i, axis) for i in range(len(context.node.outputs))]


def _split(context: OpContext) -> list[Array]:
    (axis,) = constant_ints(context, context.input(0))
    return np.split(context.input(1).array, len(context.node.outputs), axis=axis)


def _split_v(context: OpContext) -> list[Array]:
    axis, sizes = part_sizes(context)
    return np.split(context.input(0).array, np.cumsum(sizes)[:-1], axis=axis)


def _tiled(context: OpContext) -> list[Array] | None:
    x, times = context.input(0), multiples(context)
    if tuple(n * t for n, t in zip(x.shape, times, strict=True)) != context.output().shape:
        return None  # before numpy makes something absurdly large
    return [np.tile(x.array, times)]


def _stretched(context: OpContext) -> list[Array] | None:
    y = context.output()
    if y.elements > _MOST_FOLDED:
        return None
    return [np.broadcast_to(context.input(0).array, y.shape)]


def _broadcast_shape(context: OpContext) -> list[Array]:
    a, b = (constant_ints(context, context.input(i)) for i in (0, 1))
    try:
        shape = np.broadcast_shapes(a, b)
    except ValueError:
        raise context.invalid(f"{list(a)} and {list(b)} do not broadcast") from None
    return [np.array(shape, context.output().dtype.numpy)]


def _filled(context: OpContext) -> list[Array] | None:
    value, y = context.input(1), context.output()
    if y.elements > _MOST_FOLDED:
        return None
    return [np.full(y.shape, value.array.reshape(-1)[0])]


def _gathered(context: OpContext) -> list[Array] | None:
    taken = gathering(context)
    x: NDArray[Any] = context.input(0).array
    indices: NDArray[Any] = context.input(1).array
    if taken.batch or (indices < 0).any() or (indices >= x.shape[taken.axis]).any():
        return None
    return [np.take(x, indices, axis=taken.axis)]


def _reversed(context: OpContext) -> list[Array]:
    return [np.flip(context.input(0).array, tuple(reversed_axes(context)))]


def _numbered(context: OpContext) -> list[Array]:
    return [numbers(context)]


MOVES: Mapping[str, Evaluate] = {
    "BROADCAST_ARGS": _broadcast_shape,
    "BROADCAST_TO": _stretched,
    "FILL": _filled,
    "GATHER": _gathered,
    "PACK": _packed,
    "RANGE": _numbered,
    "REVERSE_V2": _reversed,
    "SPLIT": _split,
    "SPLIT_V": _split_v,
    "TILE": _tiled,
    "UNPACK": _unpacked,
}
