"""Whether a kernel may overwrite its own input: exact times of last reads and first writes.

Time within one execution of a step counts blocks of `rows_per_step` output rows, pixels or
elements of the range, as the alias class of the input says. A byte may be written when it has been
read for the last time: strictly before (row), or at the same time at the latest (pixel, element).
"""

from __future__ import annotations

import numpy as np

from codegen.planner.checker.document import Kernel, Read
from codegen.planner.checker.regions import Array, Region, Touch, in_step, row_bounds

_NEVER_WRITTEN = 2**62
_ALWAYS_READ = 2**62 - 1


def overwritten_too_early(kernel: Kernel, view: Read, source: Touch, result: Touch) -> Array:
    """Addresses of bytes of `source` that `result` overwrites before their last read."""
    nothing = np.empty(0, np.int64)
    if source.space != result.space or not source.regions or not result.regions:
        return nothing
    if source.end <= result.start or result.end <= source.start:
        return nothing
    low, high = min(source.start, result.start), max(source.end, result.end)
    unit = view.alias
    if unit in ("pixel", "element") and not in_step(view, kernel):
        unit = "none"
    last_read = np.full(high - low, -1, np.int64)
    for region in source.regions:
        window = region.in_space(last_read, low)
        np.maximum(window, _read_times(kernel, view, unit, region, source.element), out=window)
    first_write = np.full(high - low, _NEVER_WRITTEN, np.int64)
    for region in result.regions:
        window = region.in_space(first_write, low)
        np.minimum(window, _output_times(kernel, unit, region, result.element), out=window)
    late = last_read > first_write if unit in ("pixel", "element") else last_read >= first_write
    return np.flatnonzero(late) + low


def _read_times(kernel: Kernel, view: Read, unit: str, region: Region, element: int) -> Array:
    if unit == "none":
        return np.full((1, 1, 1), _ALWAYS_READ, np.int64)
    if unit != "row":
        return _output_times(kernel, unit, region, element)
    rows = np.arange(region.first[0], region.first[0] + region.shape[0])
    return _last_block(kernel, view, rows)[:, None, None]


def _last_block(kernel: Kernel, view: Read, rows: Array) -> Array:
    """The last block of output rows that needs each of the input rows; -1 for none."""
    first, end = row_bounds(view, kernel)
    if (np.diff(first) >= 0).all() and (np.diff(end) >= 0).all():
        y = np.searchsorted(first, rows, side="right") - 1
        return np.where((y >= 0) & (rows < end[y]), y // kernel.rows_per_step, -1)
    last = np.full(rows.shape, -1, np.int64)
    for block, (a, b) in enumerate(zip(first.tolist(), end.tolist(), strict=True)):
        last[(rows >= a) & (rows < b)] = block // kernel.rows_per_step
    return last


def _output_times(kernel: Kernel, unit: str, region: Region, element: int) -> Array:
    """When each byte of a region of the output is written, or one of an input in step with it."""
    y0, _, x0, x1, c0, c1 = kernel.range
    rows, columns, size = (
        np.arange(first, first + count, dtype=np.int64)
        for first, count in zip(region.first, region.shape, strict=True)
    )
    if unit in ("none", "row"):
        return ((rows - y0) // kernel.rows_per_step)[:, None, None]
    pixels = (rows - y0)[:, None] * (x1 - x0) + (columns - x0)
    if unit == "pixel":
        return pixels[:, :, None]
    return pixels[:, :, None] * (c1 - c0) + (size // element - c0)
