"""RESIZE_BILINEAR, int8: positions and weights in 1/1024 pixel, all in integers.

Maths: docs/numerics.md; source: `ResizeBilinearInteger` of TFLite's reference kernels.
"""

from __future__ import annotations

from dataclasses import dataclass

from codegen.graph import DType
from codegen.ops.base import Access, Call, Lowered, OpContext, OpSpec, RowMap, nhwc, whole
from codegen.ops.resize_common import Resizing, resizing


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
    """Inputs: x[n,h,w,c], size[2] -> y[n,size[0],size[1],c], both int8."""
    resize = resizing(context)
    x, y = resize.x, resize.y
    context.require_type(x, DType.INT8)
    h, w = _positions(resize, 1), _positions(resize, 2)
    pairs = [h.neighbours(i) for i in range(y.shape[1])]
    needed = RowMap(table=tuple((low, high + 1) for low, high in pairs))
    call = Call(
        kernel="cg_resize_bilinear_s8",
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
    return Lowered(calls=(call,), summary=resize.words())


SPEC = OpSpec(
    name="RESIZE_BILINEAR",
    max_version=4,
    lower=lower,
    types=(DType.INT8,),
    notes="constant size, all three ways to line up pixels",
)
