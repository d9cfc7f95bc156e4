"""RESIZE_BILINEAR: of int8 and int16 with positions and weights in 1/1024 pixel, else in float32.

Maths: docs/numerics.md; source: `ResizeBilinearInteger` and `ResizeBilinear` of TFLite's reference
kernels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from codegen.graph import DType
from codegen.ops.base import Access, Call, Lowered, OpContext, OpSpec, RowMap, nhwc, whole
from codegen.ops.codes import CODES
from codegen.ops.elements import SUFFIX
from codegen.ops.resize_common import Resizing, resizing

TYPES = (*CODES, DType.FLOAT32)

_IN_FLOAT = (DType.FLOAT32, DType.UINT8)


@dataclass(frozen=True)
class _Positions:
    """Where the outputs of one axis lie in the input: i * step + first, in 1/1024."""

    size: int
    step: int
    first: int

    def neighbours(self, i: int) -> tuple[int, int]:
        """The two input indices between which output `i` lies."""
        position = i * self.step + self.first
        low, high = position >> 10, -(-position >> 10)
        return min(max(low, 0), self.size - 1), min(max(high, 0), self.size - 1)


def _positions(resize: Resizing, axis: int) -> _Positions:
    size, outputs = resize.x.shape[axis], resize.y.shape[axis]
    if resize.align_corners and outputs > 1:
        step = (1024 * (size - 1) + (outputs - 1) // 2) // (outputs - 1)
    else:
        step = (1024 * size + outputs // 2) // outputs
    return _Positions(size, step, step // 2 - 512 if resize.half_pixel else 0)


def lower(context: OpContext) -> Lowered:
    """Inputs: x[n,h,w,c], size[2] -> y[n,size[0],size[1],c], of one type."""
    resize = resizing(context)
    context.require_type(resize.x, *TYPES)
    call = _float_call if resize.x.dtype in _IN_FLOAT else _integer_call
    return Lowered(calls=(call(resize),), summary=resize.words())


def _integer_call(resize: Resizing) -> Call:
    x, y = resize.x, resize.y
    h, w = _positions(resize, 1), _positions(resize, 2)
    pairs = [h.neighbours(i) for i in range(y.shape[1])]
    needed = RowMap(table=tuple((low, high + 1) for low, high in pairs))
    return Call(
        kernel=f"cg_resize_bilinear_{SUFFIX[x.dtype]}",
        header="cg_resize_bilinear.h",
        args="cg_resize_bilinear_args",
        params=(
            ("in_h", h.size),
            ("in_w", w.size),
            ("step_h", h.step),
            ("step_w", w.step),
            ("first_h", h.first),
            ("first_w", w.first),
        ),
        inputs=(Access(x.index, nhwc(x.shape), rows=needed),),
        outputs=(whole(y),),
    )


@dataclass(frozen=True)
class _FloatPositions:
    """Where the outputs of one axis lie in the input: (i + shift) * step - shift, in float32."""

    size: int
    step: np.float32
    shift: np.float32

    def neighbours(self, i: int) -> tuple[int, int]:
        """The two input indices between which output `i` lies."""
        position = float((np.float32(i) + self.shift) * self.step - self.shift)
        low, high = math.floor(position), math.ceil(position)
        return min(max(low, 0), self.size - 1), min(max(high, 0), self.size - 1)


def _float_positions(resize: Resizing, axis: int) -> _FloatPositions:
    size, outputs = resize.x.shape[axis], resize.y.shape[axis]
    corners = 1 if resize.align_corners and outputs > 1 else 0
    step = np.float32(size - corners) / np.float32(outputs - corners)
    return _FloatPositions(size, step, np.float32(0.5 if resize.half_pixel else 0))


def _float_call(resize: Resizing) -> Call:
    x, y = resize.x, resize.y
    h, w = _float_positions(resize, 1), _float_positions(resize, 2)
    pairs = [h.neighbours(i) for i in range(y.shape[1])]
    needed = RowMap(table=tuple((low, high + 1) for low, high in pairs))
    return Call(
        kernel=f"cg_resize_bilinear_{SUFFIX[x.dtype]}",
        header=f"cg_resize_bilinear_{SUFFIX[x.dtype]}.h",
        args="cg_resize_bilinear_f32_args",
        params=(
            ("in_h", h.size),
            ("in_w", w.size),
            ("step_h", float(h.step)),
            ("step_w", float(w.step)),
            ("shift", float(h.shift)),
        ),
        inputs=(Access(x.index, nhwc(x.shape), rows=needed),),
        outputs=(whole(y),),
    )


SPEC = OpSpec(
    name="RESIZE_BILINEAR",
    max_version=4,
    lower=lower,
    types=TYPES,
    notes="constant size, all three ways to line up pixels",
)
