"""MIRROR_PAD: fills around a tensor with its own elements, mirrored at its borders."""

from __future__ import annotations

import math
from dataclasses import dataclass

from codegen.ops.base import Access, Call, Lowered, OpContext, OpSpec, RowMap
from codegen.ops.movement import MOVED_TYPES, moved_type
from codegen.ops.pad_common import paddings

_MODES = {"REFLECT": 0, "SYMMETRIC": 1}


@dataclass(frozen=True)
class _Axis:
    """One axis: its size and the elements added. `repeated` is 1 if the border element is too."""

    size: int
    before: int
    after: int
    repeated: int

    @property
    def out(self) -> int:
        return self.before + self.size + self.after

    def source(self, position: int) -> int:
        """The input index of an output index; the kernel computes the same."""
        inside = position - self.before
        if inside < 0:
            return -inside - self.repeated
        if inside >= self.size:
            return 2 * self.size - 2 + self.repeated - inside
        return inside


def lower(context: OpContext) -> Lowered:
    """Inputs: x of any shape, paddings[rank, 2] -> y larger by the paddings.

    Raises:
        Unsupported: where more than one axis in front of the last three is padded.
        InvalidModel: for a mirror image longer than the axis.
    """
    x, y = context.input(0), context.output()
    moved_type(context, x, y)
    mode = context.str_option("mode", "REFLECT")
    repeated = _MODES[mode]
    pads = paddings(context)
    axes = [_Axis(n, *pad, repeated) for n, pad in zip(x.shape, pads, strict=True)]
    for axis in axes:
        if max(axis.before, axis.after) > axis.size - 1 + repeated:
            raise context.invalid(f"an axis of {axis.size} has no mirror image that long")
    context.require_shape(y, tuple(axis.out for axis in axes))
    shown = ",".join(f"{before}+{after}" for before, after in pads)
    call = _call(x.index, y.index, x.dtype.size, _four(context, axes))
    return Lowered(calls=(call,), summary=f"{mode} [{shown}]")


def _four(context: OpContext, axes: list[_Axis]) -> list[_Axis]:
    """The axes as n, h, w, c."""
    repeated = axes[0].repeated if axes else 0
    *outer, h, w, c = [_Axis(1, 0, 0, repeated)] * (4 - len(axes)) + axes
    if len(outer) > 1 and any(axis.before or axis.after for axis in outer):
        raise context.unsupported(
            "padding in front of the last three axes of more than four is not supported",
            "reshape to four dimensions before it",
        )
    return [_merged(outer), h, w, c]


def _merged(outer: list[_Axis]) -> _Axis:
    if len(outer) == 1:
        return outer[0]
    return _Axis(math.prod(axis.size for axis in outer), 0, 0, outer[0].repeated)


def _call(x: int, y: int, element_bytes: int, axes: list[_Axis]) -> Call:
    """The rows of all images are one column of rows; each needs one row of the input."""
    n, h, w, c = axes
    sources = [
        n.source(image) * h.size + h.source(row) for image in range(n.out) for row in range(h.out)
    ]
    rows = RowMap(table=tuple((row, row + 1) for row in sources))
    return Call(
        kernel="cg_mirror_pad",
        header="cg_mirror_pad.h",
        args="cg_mirror_pad_args",
        params=(
            ("element_bytes", element_bytes),
            ("repeated", n.repeated),
            ("in_n", n.size),
            ("in_h", h.size),
            ("in_w", w.size),
            ("in_c", c.size),
            ("out_h", h.out),
            ("pad_images", n.before),
            ("pad_top", h.before),
            ("pad_left", w.before),
            ("pad_front", c.before),
        ),
        inputs=(Access(x, (1, n.size * h.size, w.size, c.size), rows=rows),),
        outputs=(Access(y, (1, n.out * h.out, w.out, c.out)),),
    )


SPEC = OpSpec(
    name="MIRROR_PAD",
    max_version=3,
    lower=lower,
    types=MOVED_TYPES,
    notes="constant paddings; above rank 4 of the last three axes",
)
