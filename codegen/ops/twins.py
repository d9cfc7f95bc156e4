"""Kernels that a target's instructions make faster with the same constants and memory.

Where nothing but the C differs, an operator need not know: its calls are exchanged after lowering.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from codegen.ops.base import Call, Lowered, Param
from codegen.target import Kernels, Target

MOST_TAPS = 255
"""Elements of a pool whose sum fits 16 bits."""
LONGEST_ROW = 256
"""Elements of a row whose sum fits 16 bits."""
LARGEST_SHIFT = 14
"""To the left, with which scaled products of codes stay far from the end of int32."""
LARGEST_RIGHT_SHIFT = 22
"""With which a code has room above it."""


def _always(params: Mapping[str, Param]) -> bool:
    return True


def _small_pool(params: Mapping[str, Param]) -> bool:
    """The window's part inside the map, which is all that counts."""
    filter_h, in_h, filter_w, in_w = _integers(params, "filter_h", "in_h", "filter_w", "in_w")
    return min(filter_h, in_h) * min(filter_w, in_w) <= MOST_TAPS


def _short_pool(params: Mapping[str, Param]) -> bool:
    return min(_integers(params, "filter_w", "in_w")) <= LONGEST_ROW


def _short_mean(params: Mapping[str, Param]) -> bool:
    parts, columns = _integers(params, "parts", "columns")
    return parts == 1 and columns <= LONGEST_ROW


def _right_product(params: Mapping[str, Param]) -> bool:
    (shift,) = _integers(params, "shift")
    return 1 <= -shift <= LARGEST_RIGHT_SHIFT


def _integers(params: Mapping[str, Param], *names: str) -> list[int]:
    values = [params[name] for name in names]
    return [value for value in values if isinstance(value, int)]


def _small_mean(params: Mapping[str, Param]) -> bool:
    rows, columns, parts = _integers(
        params, "rows", "columns", "parts"
    )  # rows 0: one, not averaged
    return parts == 1 and max(rows, 1) * max(columns, 1) <= MOST_TAPS and _small_product(params)


def _small_product(params: Mapping[str, Param]) -> bool:
    (shift,) = _integers(params, "shift")
    return shift <= LARGEST_SHIFT


@dataclass(frozen=True)
class Twin:
    """The faster kernel, and whether it is right for a call's constants."""

    kernel: str
    header: str
    holds: Callable[[Mapping[str, Param]], bool] = _always


def _in_the_same_header(family: str) -> dict[str, Twin]:
    """Of kernels for int16 data with int8 weights and for uint8, beside the portable ones."""
    wide = ("conv_2d_s16", "depthwise_conv_2d_s16", "fully_connected_s16")
    parts = (kernel.rpartition("_") for kernel in (*wide, "conv_2d_u8", "depthwise_conv_2d_u8"))
    return {f"cg_{op}_{t}": Twin(f"cg_{op}_{family}_{t}", f"cg_{op}_{t}.h") for op, _, t in parts}


TWINS: Mapping[Kernels, Mapping[str, Twin]] = {
    Kernels.DSP: {
        "cg_mul_s8": Twin("cg_mul_dsp_s8", "cg_mul_dsp.h", _right_product),
        "cg_average_pool_2d_s8": Twin("cg_average_pool_2d_dsp_s8", "cg_pool_2d_dsp.h", _short_pool),
        "cg_max_pool_2d_s8": Twin("cg_max_pool_2d_dsp_s8", "cg_pool_2d_dsp.h"),
        "cg_mean_s8": Twin("cg_mean_dsp_s8", "cg_mean_dsp.h", _short_mean),
        "cg_conv_2d_s8": Twin("cg_conv_2d_runs_dsp_s8", "cg_conv_2d_runs_s8.h"),
        **_in_the_same_header("dsp"),
    },
    Kernels.MVE: {
        "cg_add_s8": Twin("cg_add_mve_s8", "cg_add_mve.h"),
        "cg_mul_s8": Twin("cg_mul_mve_s8", "cg_add_mve.h", _small_product),
        "cg_average_pool_2d_s8": Twin("cg_average_pool_2d_mve_s8", "cg_pool_2d_mve.h", _small_pool),
        "cg_max_pool_2d_s8": Twin("cg_max_pool_2d_mve_s8", "cg_pool_2d_mve.h"),
        "cg_mean_s8": Twin("cg_mean_mve_s8", "cg_mean_mve.h", _small_mean),
        "cg_lookup_8": Twin("cg_lookup_mve_8", "cg_lookup_mve.h"),
        "cg_conv_2d_s8": Twin("cg_conv_2d_runs_mve_s8", "cg_conv_2d_runs_s8.h"),
        **_in_the_same_header("mve"),
    },
}
"""By the kernel that an operator names."""


def with_twins(lowered: Lowered, target: Target) -> Lowered:
    """The same operator with the target's kernels in place of portable ones."""
    twins = TWINS.get(target.kernels, {})

    def exchanged(call: Call) -> Call:
        twin = twins.get(call.kernel)
        if twin is None or not twin.holds(dict(call.params)):
            return call
        return replace(call, kernel=twin.kernel, header=twin.header)

    if not twins:
        return lowered
    return replace(
        lowered,
        calls=tuple(map(exchanged, lowered.calls)),
        alternatives=tuple(tuple(map(exchanged, form)) for form in lowered.alternatives),
    )
