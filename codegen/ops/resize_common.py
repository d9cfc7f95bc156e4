"""What both resizing operators read: sizes and the two options on how pixels line up."""

from __future__ import annotations

from dataclasses import dataclass

from codegen.graph import Tensor
from codegen.ops.base import OpContext
from codegen.ops.movement import constant_ints, moved_type

_MAX_SIZE = 2**15 - 1  # index tables are int16, positions in 1/1024 are int32


@dataclass(frozen=True)
class Resizing:
    """One resize: maps of n x h x w x c, and the rule for positions."""

    x: Tensor
    y: Tensor
    align_corners: bool
    half_pixel: bool

    def words(self) -> str:
        """`12x16 -> 24x32 half_pixel`, for comments."""
        (_, h, w, _), (_, oh, ow, _) = self.x.shape, self.y.shape
        rule = " align_corners" * self.align_corners + " half_pixel" * self.half_pixel
        return f"{h}x{w} -> {oh}x{ow}{rule}"


def resizing(context: OpContext) -> Resizing:
    """Check shapes and options. Inputs: x[n,h,w,c], size[2] -> y[n,size[0],size[1],c].

    Raises:
        Unsupported: if the size is computed at run time, or huge.
        InvalidModel: for shapes or options that contradict each other.
    """
    x, y = context.input(0), context.output()
    moved_type(context, x, y)
    size = constant_ints(context, context.input(1))
    if len(x.shape) != 4 or len(size) != 2:
        raise context.invalid(f"{x.label} must have four dimensions and the size two elements")
    n, h, w, c = x.shape
    context.require_shape(y, (n, *size, c))
    if max(h, w, *size) > _MAX_SIZE:
        raise context.unsupported(
            f"a map of {x.describe()} is too large", f"resize at most {_MAX_SIZE} rows or columns"
        )
    align, half = bool(context.option("align_corners")), bool(context.option("half_pixel_centers"))
    if align and half:
        raise context.invalid("align_corners and half_pixel_centers exclude each other")
    return Resizing(x, y, align, half)
