"""FULLY_CONNECTED as TFLite Micro rounds it: like a convolution of one tap over the vectors."""

from __future__ import annotations

from dataclasses import replace

from codegen.graph import DType, Tensor
from codegen.ops.base import Access, Call, OpContext
from codegen.ops.int16 import wide_convolution_params
from codegen.ops.requantize import convolution_params, weights_zero_point


def as_convolution(
    context: OpContext, x: Tensor, filters: Tensor, y: Tensor, places: tuple[Access, Access]
) -> Call:
    """Vectors are the pixels of the maps in `places`, those of `x` and `y`.

    Raises:
        Unsupported: for weights with a zero point.
    """
    if weights_zero_point(filters):
        raise context.unsupported(
            f"{filters.label} has a zero point, which TFLite Micro's rounding is not offered for",
            "leave out --reference tflm",
        )
    units, depth = filters.shape
    _, height, width, _ = places[0].map
    taps = replace(filters, shape=(units, 1, 1, depth))
    wide = x.dtype is DType.INT16
    params = wide_convolution_params if wide else convolution_params
    names = ("filter_h", "filter_w", "stride_h", "stride_w", "dilation_h", "dilation_w")
    return Call(
        kernel="cg_conv_2d_s16" if wide else "cg_conv_2d_s8",
        header="cg_conv_2d_s16.h" if wide else "cg_conv_2d.h",
        args="cg_conv_2d_s16_args" if wide else "cg_conv_2d_args",
        params=(
            ("in_h", height),
            ("in_w", width),
            *((name, 1) for name in names),
            ("pad_top", 0),
            ("pad_left", 0),
            ("group_in", depth),
            ("group_out", units),
            *params(context, x, taps, y, 0),
        ),
        inputs=places[:1],
        outputs=places[1:],
    )
