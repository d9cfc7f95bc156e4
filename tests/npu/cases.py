"""Random models of one operator that is too large for a small scratchpad."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from codegen.boards import load_board
from codegen.importer import parse_model
from codegen.npu.search import Schedule
from codegen.pipeline import BuildOptions, build
from codegen.targets.npu import Work
from tests.ops.binary import Binary, binary_model
from tests.ops.test_conv_2d import conv_model
from tests.ops.test_depthwise_conv_2d import depthwise_model
from tests.ops.test_fully_connected import dense_model
from tests.ops.test_pool_2d import pool_model
from tests.ops.windows import ACTIVATIONS

MOST_MACS = 30_000_000
BOARD = "npu-32k"


@dataclass(frozen=True)
class Case:
    """A model, what it is, and along which dimensions the planner has split its operator."""

    label: str
    data: bytes
    splits: frozenset[str]


def random_case(seed: int) -> Case:
    """The first model of the seed's random ones that the planner splits."""
    rng = np.random.default_rng(seed)
    while True:
        kind = str(rng.choice(list(_MAKERS)))
        made = _MAKERS[kind](rng)
        if made is None:
            continue
        splits = splits_of(made)
        if splits:
            return Case(f"{seed} {kind} {'+'.join(sorted(splits))}", made, splits)


def splits_of(data: bytes) -> frozenset[str]:
    """The dimensions ("rows", ...) along which the only operator is split."""
    plan = build(parse_model(data), "case", load_board(BOARD), BuildOptions()).plan
    assert plan.npu is not None
    (work,) = (s.work for s in plan.npu.network.steps)
    assert work is not None, "the NPU has to run it"
    return _splits(work, plan.npu.schedule)


def _splits(work: Work, schedule: Schedule) -> frozenset[str]:
    (tiling,) = schedule.tilings.values()
    parts = {
        "rows": tiling.rows < work.result.h,
        "columns": tiling.cols < work.result.w,
        "channels": tiling.channels < work.result.c,
        "depth": tiling.depth < work.source.c,
    }
    return frozenset(name for name, split in parts.items() if split)


def _size(rng: np.random.Generator, low: int, high: int) -> int:
    """Small numbers as likely as large ones."""
    return int(np.exp(rng.uniform(np.log(low), np.log(high + 1))))


def _pair(rng: np.random.Generator, high: int) -> tuple[int, int]:
    return int(rng.integers(1, high + 1)), int(rng.integers(1, high + 1))


def _window(rng: np.random.Generator) -> dict[str, object]:
    strides = rng.random() < 0.5
    return {
        "stride": _pair(rng, 4) if strides else (1, 1),
        "padding": str(rng.choice(["SAME", "VALID"])),
        "activation": str(rng.choice(ACTIVATIONS)),
        "zero_points": (int(rng.integers(-128, 128)), int(rng.integers(-128, 128))),
    }


def _conv(rng: np.random.Generator) -> bytes | None:
    h, w, c = _size(rng, 1, 200), _size(rng, 1, 200), _size(rng, 1, 512)
    kernel, out = _pair(rng, 5 if rng.random() < 0.7 else 1), _size(rng, 1, 512)
    dilation = _pair(rng, 2) if rng.random() < 0.3 else (1, 1)
    window = _window(rng)
    if window["padding"] == "VALID" and (
        (kernel[0] - 1) * dilation[0] >= h or (kernel[1] - 1) * dilation[1] >= w
    ):
        return None
    stride = window["stride"]
    assert isinstance(stride, tuple)
    macs = h * w * c * kernel[0] * kernel[1] * out // (stride[0] * stride[1])
    if macs > MOST_MACS or h * w * c > 1 << 20:
        return None
    filters = (out, *kernel, c)
    return conv_model(rng, in_shape=(1, h, w, c), filters=filters, dilation=dilation, **window)  # type: ignore[arg-type]


def _deep_conv(rng: np.random.Generator) -> bytes | None:
    """Filters so deep that not even a few channels of them fit."""
    c, kernel = int(rng.integers(256, 513)), _pair(rng, 7)
    if c * kernel[0] * kernel[1] < 8000:
        return None
    h, w = _size(rng, 1, 12), _size(rng, 1, 12)
    filters = (_size(rng, 1, 40), *kernel, c)
    if h * w * int(np.prod(filters)) > MOST_MACS:
        return None
    return conv_model(rng, in_shape=(1, h, w, c), filters=filters)


def _wide_conv(rng: np.random.Generator) -> bytes | None:
    """Rows so long that the few which one output row needs do not fit."""
    h, w, c = int(rng.integers(3, 9)), int(rng.integers(60, 201)), int(rng.integers(64, 513))
    kernel, out = (int(rng.integers(2, 6)), int(rng.integers(1, 4))), int(rng.integers(1, 9))
    if h * w * c * kernel[0] * kernel[1] * out > MOST_MACS or kernel[0] * w * c < 40_000:
        return None
    return conv_model(rng, in_shape=(1, h, w, c), filters=(out, *kernel, c))


def _depthwise(rng: np.random.Generator) -> bytes | None:
    h, w, c = _size(rng, 1, 200), _size(rng, 1, 200), _size(rng, 1, 512)
    kernel, multiplier = _pair(rng, 5), int(rng.choice([1, 1, 2, 3]))
    window = _window(rng)
    too_small = window["padding"] == "VALID" and (kernel[0] > h or kernel[1] > w)
    if too_small or h * w * c > 1 << 20 or h * w * c * multiplier * 9 > MOST_MACS:
        return None
    return depthwise_model(
        rng,
        in_shape=(1, h, w, c),
        kernel=kernel,
        multiplier=multiplier,
        **window,  # type: ignore[arg-type]
    )


def _dense(rng: np.random.Generator) -> bytes | None:
    depth, units = _size(rng, 8, 40000), _size(rng, 1, 1500)
    if not 30_000 < depth * units < 4_000_000:
        return None
    return dense_model(
        rng, in_shape=(1, depth), units=units, per_channel=bool(rng.integers(2)), scale_out=2.0
    )


def _deep_dense(rng: np.random.Generator) -> bytes | None:
    """Not even a few units' weights fit."""
    return dense_model(
        rng,
        in_shape=(1, int(rng.integers(9000, 40001))),
        units=_size(rng, 1, 40),
        per_channel=bool(rng.integers(2)),
        scale_out=2.0,
    )


def _pool(rng: np.random.Generator) -> bytes | None:
    h, w, c = _size(rng, 1, 200), _size(rng, 1, 200), _size(rng, 1, 512)
    kernel = (h, w) if rng.random() < 0.2 else _pair(rng, 5)
    if h * w * c > 1 << 20 or kernel[0] > h or kernel[1] > w:
        return None
    stride, padding = _pair(rng, 4), str(rng.choice(["SAME", "VALID"]))
    out = [-(-size // s) for size, s in zip((h, w), stride, strict=True)]
    if out[0] * out[1] * kernel[0] * kernel[1] * c > MOST_MACS:
        return None
    kind = str(rng.choice(["AVERAGE_POOL_2D", "MAX_POOL_2D"]))
    return pool_model(kind, in_shape=(1, h, w, c), kernel=kernel, stride=stride, padding=padding)


def _binary(rng: np.random.Generator) -> bytes | None:
    shape = (1, _size(rng, 1, 200), _size(rng, 1, 200), _size(rng, 1, 512))
    if np.prod(shape) > 1 << 20:
        return None
    return binary_model([Binary(str(rng.choice(["ADD", "SUB", "MUL"])), shape, shape)], rng)


_MAKERS: Mapping[str, Callable[[np.random.Generator], bytes | None]] = {
    "conv": _conv,
    "deep conv": _deep_conv,
    "wide conv": _wide_conv,
    "depthwise": _depthwise,
    "dense": _dense,
    "deep dense": _deep_dense,
    "pool": _pool,
    "binary": _binary,
}
