"""Element-wise operators of several operands whose dimensions of 1 stretch to the others'.

A kernel sees its operands as (n, h, w, c) maps and is told by `cg_step` in which directions an
operand moves along with the output (runtime_c/kernels/cg_broadcast.h). What four dimensions
cannot say becomes several calls on boxes of n.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from codegen.graph import DType, Tensor
from codegen.ops.base import (
    SAME_ROW,
    Access,
    Alias,
    Box,
    Call,
    OpContext,
    Param,
    RowMap,
    nhwc,
)

Dims = tuple[int, ...]
FIRST_ROW = RowMap(stride=0, offset=0, span=1)


@dataclass(frozen=True)
class Kernel:
    """A C kernel of several operands; its args struct starts with a `cg_step` for each."""

    name: str
    header: str
    args: str
    operands: tuple[str, ...] = ("a", "b")
    """The names of these steps."""


def operands_of(
    context: OpContext, *types: DType, result: DType | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Both operands and the output, with shapes that broadcast to the output's.

    The operands are both of one of `types`, the output is of `result` or of their type.

    Raises:
        Unsupported: for another type, or a mixture.
        InvalidModel: for shapes that do not go together.
    """
    a, b, y = context.input(0), context.input(1), context.output()
    context.require_type(a, *types)
    context.require_type(b, a.dtype)
    context.require_type(y, result or a.dtype)
    require_broadcast(context, (a, b), y)
    return a, b, y


def require_broadcast(context: OpContext, operands: Sequence[Tensor], y: Tensor) -> None:
    """Hold the output's shape against what the operands' broadcast to.

    Raises:
        InvalidModel: if they do not broadcast, or to another shape.
    """
    try:
        shape = np.broadcast_shapes(*(t.shape for t in operands))
    except ValueError:
        names = " and ".join(f"{t.label} {t.describe()}" for t in operands)
        raise context.invalid(f"{names} do not broadcast") from None
    context.require_shape(y, shape)


def operand_summary(*tensors: Tensor) -> str:
    """Names the operands that are smaller than the output (last): "broadcast [1,1,1,8]"."""
    *operands, y = tensors
    small = [t for t in operands if t.shape != y.shape]
    shapes = " and ".join(f"[{','.join(map(str, t.shape))}]" for t in small)
    return f"broadcast {shapes}" if small else ""


def broadcast_calls(
    kernel: Kernel, tensors: Sequence[Tensor], params: Sequence[tuple[str, Param]] = ()
) -> tuple[Call, ...]:
    """The calls that compute the last of `tensors` from the others, all of any rank.

    One call for up to four dimensions, or more that merge into four; else one per index of the
    outermost ones.
    """
    *operands, y = tensors
    *dims, y_dims = _merged(*(t.shape for t in tensors))
    outer = y_dims[:-3]
    indices: Sequence[Dims | None] = [None]
    if math.prod(outer) != outer[-1]:
        indices = list(itertools.product(*(range(size) for size in outer[:-1])))
    steps = [
        field
        for name, d in zip(kernel.operands, dims, strict=True)
        for field in _steps(name, d, y_dims)
    ]
    return tuple(
        Call(
            kernel=kernel.name,
            header=kernel.header,
            args=kernel.args,
            params=(*steps, *params),
            inputs=tuple(
                _operand(t, d, y_dims, _box(d, index)) for t, d in zip(operands, dims, strict=True)
            ),
            outputs=(Access(y.index, _map(y_dims), box=_box(y_dims, index)),),
            pointwise=True,
        )
        for index in indices
    )


def _merged(*shapes: Dims) -> tuple[Dims, ...]:
    """The shapes (operands, then output) with equal rank of four or more.

    Above four, neighbours along which each operand either moves or stands become one dimension.
    """
    rank = max(4, len(shapes[-1]))
    padded = [(1,) * (rank - len(shape)) + shape for shape in shapes]
    if rank == 4:
        return tuple(padded)
    columns: list[Dims] = []
    for sizes in zip(*padded, strict=True):
        if sizes[-1] == 1:
            continue
        if columns and _standing(columns[-1]) == _standing(sizes):
            columns[-1] = tuple(p * q for p, q in zip(columns[-1], sizes, strict=True))
        else:
            columns.append(sizes)
    ones = [(1,) * len(shapes)] * max(0, 4 - len(columns))
    return tuple(zip(*ones, *columns, strict=True))


def _standing(sizes: Dims) -> tuple[bool, ...]:
    """For each operand whether it has one element where the output (last) has several."""
    return tuple(size != sizes[-1] for size in sizes[:-1])


def _map(dims: Dims) -> tuple[int, int, int, int]:
    return nhwc((math.prod(dims[:-3]), *dims[-3:]))


def _box(dims: Dims, index: Dims | None) -> Box | None:
    """The images of a map that belong to `index` of all outer dimensions but the last."""
    if index is None:
        return None
    image = 0
    for size, i in zip(dims[:-4], index, strict=True):
        image = image * size + (i if size > 1 else 0)
    images, h, w, c = dims[-4:]
    return Box((image * images, 0, 0, 0), (images, h, w, c))


def _steps(name: str, dims: Dims, y_dims: Dims) -> list[tuple[str, int]]:
    """The fields of an operand's `cg_step`; an operand as large as the output always moves."""
    standing = [0 if size == 1 and dims != y_dims else 1 for size in dims[-3:]]
    fields = ("row", "col", "channel")
    return [(f"{name}.{field}", step) for field, step in zip(fields, standing, strict=True)]


def _operand(tensor: Tensor, dims: Dims, y_dims: Dims, box: Box | None) -> Access:
    same_size = tensor.elements == math.prod(y_dims)
    return Access(
        tensor=tensor.index,
        map=_map(dims),
        rows=SAME_ROW if dims[-3] == y_dims[-3] else FIRST_ROW,
        box=box,
        alias=Alias.ELEMENT if same_size else Alias.NONE,
        shared=dims[-4] == 1 and y_dims[-4] > 1,
    )
