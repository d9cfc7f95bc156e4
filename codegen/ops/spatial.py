"""Windows that slide over a map: what convolutions and pooling share.

Source of the padding rule: `ComputePaddingWithOffset` of TFLite's kernels/padding.h.
"""

from __future__ import annotations

from dataclasses import dataclass

from codegen.ops.base import OpContext, RowMap


@dataclass(frozen=True)
class Axis:
    """One direction of a sliding window: sizes in elements, `pad` before the first one."""

    size: int
    out: int
    kernel: int
    stride: int
    dilation: int
    pad: int

    @property
    def rows(self) -> RowMap:
        """The receptive field along this axis."""
        span = (self.kernel - 1) * self.dilation + 1
        return RowMap(self.stride, -self.pad, span)


@dataclass(frozen=True)
class Window:
    """A sliding window in both directions, with the words that describe it."""

    h: Axis
    w: Axis
    padding: str

    def params(self) -> tuple[tuple[str, int], ...]:
        """The struct fields that every spatial kernel shares, dilation excepted."""
        return (
            ("in_h", self.h.size),
            ("in_w", self.w.size),
            ("filter_h", self.h.kernel),
            ("filter_w", self.w.kernel),
            ("stride_h", self.h.stride),
            ("stride_w", self.w.stride),
            ("pad_top", self.h.pad),
            ("pad_left", self.w.pad),
        )

    def dilation_params(self) -> tuple[tuple[str, int], ...]:
        return (("dilation_h", self.h.dilation), ("dilation_w", self.w.dilation))

    def summary(self) -> str:
        dilated = self.h.dilation > 1 or self.w.dilation > 1
        dilation = f" d{self.h.dilation}x{self.w.dilation}" if dilated else ""
        size = f"{self.h.kernel}x{self.w.kernel} s{self.h.stride}x{self.w.stride}"
        return f"{size}{dilation} {self.padding}"


def _axis(
    context: OpContext, size: int, kernel: int, stride: int, dilation: int, padding: str
) -> Axis:
    span = (kernel - 1) * dilation + 1
    if min(kernel, stride, dilation) < 1:
        raise context.invalid(f"kernel {kernel}, stride {stride} or dilation {dilation} is below 1")
    if padding == "SAME":
        out = -(-size // stride)
    elif padding == "VALID":
        out = -(-(size - span + 1) // stride)
    else:
        raise context.invalid(f"padding {padding} is not SAME or VALID")
    if out < 1:
        raise context.invalid(f"a window of {span} does not fit into {size} rows or columns")
    pad = max(0, (out - 1) * stride + span - size) // 2
    return Axis(size, out, kernel, stride, dilation, pad)


def window(context: OpContext, in_hw: tuple[int, int], kernel_hw: tuple[int, int]) -> Window:
    """The window of a node from its stride, dilation and padding options.

    Raises:
        InvalidModel: for options that make no window.
    """
    padding = context.str_option("padding", "SAME")
    h = _axis(
        context,
        in_hw[0],
        kernel_hw[0],
        context.int_option("stride_h", 1),
        context.int_option("dilation_h_factor", 1),
        padding,
    )
    w = _axis(
        context,
        in_hw[1],
        kernel_hw[1],
        context.int_option("stride_w", 1),
        context.int_option("dilation_w_factor", 1),
        padding,
    )
    return Window(h, w, padding)
