"""Windows that hang over the map's border on one side only, and read nothing beyond it.

Even extents with stride 2 and SAME are padded at the bottom and on the right alone; kernels that
take the padding for symmetric get the last row and column wrong, or read past the input. Inputs
and outputs are the caller's here, so that the sanitizer sees the byte behind each of them.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from codegen.plan import PlanOptions
from tests.ops.equality import assert_equal
from tests.regression.nets import Net

SIZES = ((8, 8), (7, 8), (8, 7), (49, 10), (1, 8), (8, 1), (2, 2))


def three_windows(size: tuple[int, int], kernel: tuple[int, int], stride: tuple[int, int]) -> bytes:
    """A convolution, a depthwise one and both pools over the same map."""
    net = Net()
    x = net.input((1, *size, 3))
    pools = [net.pool(x, kernel, stride, kind=k) for k in ("MAX_POOL_2D", "AVERAGE_POOL_2D")]
    return net.build(
        net.conv(x, 4, kernel, stride), net.conv(x, 6, kernel, stride, depthwise=True), *pools
    )


def test_uneven_padding(tmp_path: Path, rng: np.random.Generator) -> None:
    cases = {
        f"{size} {kernel} {stride}": three_windows(size, kernel, stride)
        for size in SIZES
        for kernel, stride in (((3, 3), (2, 2)), ((10, 4), (2, 1)), ((2, 4), (3, 1)))
    }
    plan = PlanOptions(caller_io=True)
    assert_equal(cases, tmp_path, rng, samples=1, sanitize=True, plan=plan)


def test_shapes_at_random(
    tmp_path: Path, rng: np.random.Generator, sample: Callable[[Any, int], Any]
) -> None:
    """Even kernels, strides beyond the kernel, dilation, channels of all remainders of 8."""
    grid = list(product((5, 12, 23), (1, 3, 8, 9), (1, 2, 3), (1, 2), ("SAME", "VALID")))
    cases = {}
    for height, channels, stride, dilation, padding in sample(grid, 24):
        kernel = (2, 3) if height % 2 else (3, 2)
        net = Net(height)
        x = net.input((1, height, 17 - height % 7, channels))
        strides = (1, 1) if dilation > 1 else (stride, 3 - stride // 2)
        window = {"dilation": (dilation, 2 * dilation - 1), "padding": padding}
        y = net.conv(x, channels * 2, kernel, strides, depthwise=True, **window)
        z = net.conv(x, 5, kernel, strides, **window)
        cases[f"{height} {channels} {stride} {dilation} {padding}"] = net.build(y, z)
    plan = PlanOptions(caller_io=True)
    assert_equal(cases, tmp_path, rng, samples=1, sanitize=True, plan=plan)
