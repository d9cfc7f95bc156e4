"""Windows that slide over a map: what convolutions and pooling share.

Source of the padding rule: `ComputePaddingWithOffset` of TFLite's kernels/padding.h.
"""

from __future__ import annotations

from dataclasses import dataclass

from codegen.ops.base import OpContext, RowMap

EXPLICIT = "EXPLICIT"
"""The value of the option `padding` where a pass has set pad_top, pad_bottom, ..._left, ..._right;
no file can hold it."""


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

    @property
    def is_identity(self) -> bool:
        """Whether every element of the output needs the one at its own place alone."""
        return (self.kernel, self.stride, self.pad, self.out) == (1, 1, 0, self.size)

    @property
    def is_padded(self) -> bool:
        """Whether some taps lie outside the map."""
        span = (self.kernel - 1) * self.dilation + 1
        return self.pad > 0 or (self.out - 1) * self.stride + span - self.pad > self.size


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


@dataclass(frozen=True)
class _Options:
    """Names of the options that shape one direction."""

    stride: str
    dilation: str
    before: str
    after: str


_ROWS = _Options("stride_h", "dilation_h_factor", "pad_top", "pad_bottom")
_COLUMNS = _Options("stride_w", "dilation_w_factor", "pad_left", "pad_right")


def _axis(context: OpContext, names: _Options, size: int, kernel: int, padding: str) -> Axis:
    stride = context.int_option(names.stride, 1)
    dilation = context.int_option(names.dilation, 1)
    span = (kernel - 1) * dilation + 1
    if min(kernel, stride, dilation) < 1:
        raise context.invalid(f"kernel {kernel}, stride {stride} or dilation {dilation} is below 1")
    if padding == EXPLICIT:
        pad = context.int_option(names.before)
        out = (size + pad + context.int_option(names.after) - span) // stride + 1
    elif padding == "SAME":
        out = -(-size // stride)
        pad = max(0, (out - 1) * stride + span - size) // 2
    elif padding == "VALID":
        out, pad = -(-(size - span + 1) // stride), 0
    else:
        raise context.invalid(f"padding {padding} is not SAME or VALID")
    if out < 1:
        raise context.invalid(f"a window of {span} does not fit into {size} rows or columns")
    return Axis(size, out, kernel, stride, dilation, pad)


def window(context: OpContext, in_hw: tuple[int, int], kernel_hw: tuple[int, int]) -> Window:
    """The window of a node from its stride, dilation and padding options.

    Raises:
        InvalidModel: for options that make no window.
    """
    padding = context.str_option("padding", "SAME")
    h = _axis(context, _ROWS, in_hw[0], kernel_hw[0], padding)
    w = _axis(context, _COLUMNS, in_hw[1], kernel_hw[1], padding)
    return Window(h, w, padding)


def explicit_padding(
    view: Window, before: tuple[int, int], size: tuple[int, int]
) -> dict[str, int]:
    """The options of a node that slides the window over a smaller map than `view` was made for.

    `size` is that map's height and width, `before` the rows and columns by which it starts later.
    """

    def after(axis: Axis, pad: int, inner: int) -> int:
        span = (axis.kernel - 1) * axis.dilation + 1
        return max(0, (axis.out - 1) * axis.stride + span - inner - pad)

    top, left = view.h.pad + before[0], view.w.pad + before[1]
    return {
        _ROWS.before: top,
        _ROWS.after: after(view.h, top, size[0]),
        _COLUMNS.before: left,
        _COLUMNS.after: after(view.w, left, size[1]),
    }
