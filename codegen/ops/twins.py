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
LARGEST_SHIFT = 14
"""To the left, with which scaled products of codes stay far from the end of int32."""


def _always(params: Mapping[str, Param]) -> bool:
    return True


def _small_pool(params: Mapping[str, Param]) -> bool:
    """The window's part inside the map, which is all that counts."""
    sizes = [params[name] for name in ("filter_h", "in_h", "filter_w", "in_w")]
    filter_h, in_h, filter_w, in_w = (int(size) for size in sizes if isinstance(size, int))
    return min(filter_h, in_h) * min(filter_w, in_w) <= MOST_TAPS


def _small_mean(params: Mapping[str, Param]) -> bool:
    rows, columns = params["rows"], params["columns"]  # 0: one, none are averaged
    if not isinstance(rows, int) or not isinstance(columns, int):
        return False
    return (
        params["parts"] == 1
        and max(rows, 1) * max(columns, 1) <= MOST_TAPS
        and _small_product(params)
    )


def _small_product(params: Mapping[str, Param]) -> bool:
    shift = params["shift"]
    return isinstance(shift, int) and shift <= LARGEST_SHIFT


@dataclass(frozen=True)
class Twin:
    """The faster kernel, and whether it is right for a call's constants."""

    kernel: str
    header: str
    holds: Callable[[Mapping[str, Param]], bool] = _always


TWINS: Mapping[Kernels, Mapping[str, Twin]] = {
    Kernels.MVE: {
        "cg_add_s8": Twin("cg_add_mve_s8", "cg_add_mve.h"),
        "cg_mul_s8": Twin("cg_mul_mve_s8", "cg_add_mve.h", _small_product),
        "cg_average_pool_2d_s8": Twin("cg_average_pool_2d_mve_s8", "cg_pool_2d_mve.h", _small_pool),
        "cg_max_pool_2d_s8": Twin("cg_max_pool_2d_mve_s8", "cg_pool_2d_mve.h"),
        "cg_mean_s8": Twin("cg_mean_mve_s8", "cg_mean_mve.h", _small_mean),
        "cg_lookup_8": Twin("cg_lookup_mve_8", "cg_lookup_mve.h"),
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
