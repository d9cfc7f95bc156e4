"""Element-wise operators of two operands whose dimensions of 1 stretch to the other's.

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
    """A C kernel of two operands; its args struct starts with `cg_step a, b`."""

    name: str
    header: str
    args: str


def operands_of(context: OpContext, *types: DType) -> tuple[Tensor, Tensor, Tensor]:
    """Both operands and the output: all of one of `types`, with shapes that broadcast.

    Raises:
        Unsupported: for another type, or a mixture.
        InvalidModel: for shapes that do not go together.
    """
    a, b, y = context.input(0), context.input(1), context.output()
    context.require_type(a, *types)
    for tensor in (b, y):
        context.require_type(tensor, a.dtype)
    try:
        shape = np.broadcast_shapes(a.shape, b.shape)
    except ValueError:
        raise context.invalid(
            f"{a.label} {a.describe()} and {b.label} {b.describe()} do not broadcast"
        ) from None
    context.require_shape(y, shape)
    return a, b, y


def operand_summary(a: Tensor, b: Tensor, y: Tensor) -> str:
    """Names the smaller operand, if there is one: "broadcast [1,1,1,8]"."""
    small = [t for t in (a, b) if t.shape != y.shape]
    shapes = " and ".join(f"[{','.join(map(str, t.shape))}]" for t in small)
    return f"broadcast {shapes}" if small else ""


def broadcast_calls(
    kernel: Kernel,
    operands: tuple[Tensor, Tensor, Tensor],
    params: Sequence[tuple[str, Param]],
) -> tuple[Call, ...]:
    """The calls that compute `y` of `operands` = (a, b, y), all of any rank.

    One call for up to four dimensions, or more that merge into four; else one per index of the
    outermost ones.
    """
    a, b, y = operands
    a_dims, b_dims, y_dims = _merged(a.shape, b.shape, y.shape)
    outer = y_dims[:-3]
    if math.prod(outer) == outer[-1]:
        boxes: list[tuple[Box | None, ...]] = [(None, None, None)]
    else:
        indices = itertools.product(*(range(size) for size in outer[:-1]))
        boxes = [tuple(_box(dims, i) for dims in (a_dims, b_dims, y_dims)) for i in indices]
    steps = (*_steps("a", a_dims, y_dims), *_steps("b", b_dims, y_dims))
    return tuple(
        Call(
            kernel=kernel.name,
            header=kernel.header,
            args=kernel.args,
            params=(*steps, *params),
            inputs=(
                _operand(a, a_dims, y_dims, box_a),
                _operand(b, b_dims, y_dims, box_b),
            ),
            outputs=(Access(y.index, _map(y_dims), box=box_y),),
            pointwise=True,
        )
        for box_a, box_b, box_y in boxes
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


def _box(dims: Dims, index: Sequence[int]) -> Box:
    """The images of a map that belong to `index` of all outer dimensions but the last."""
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
