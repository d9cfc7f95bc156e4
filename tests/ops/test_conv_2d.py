"""CONV_2D against the reference: strides, dilation, padding, groups, activations, edge sizes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen.errors import CodegenError
from tests.ops.equality import assert_equal
from tests.tflite_builder import ModelBuilder

ACTIVATIONS = ("NONE", "RELU", "RELU6", "RELU_N1_TO_1")


def conv_model(
    rng: np.random.Generator,
    *,
    in_shape: tuple[int, int, int, int] = (1, 7, 8, 4),
    filters: tuple[int, int, int, int] = (5, 3, 3, 4),
    stride: tuple[int, int] = (1, 1),
    dilation: tuple[int, int] = (1, 1),
    padding: str = "SAME",
    activation: str = "NONE",
    zero_points: tuple[int, int] = (-3, 7),
    bias: bool = True,
    per_channel: bool = True,
    scale_out: float = 0.5,
) -> bytes:
    """A model of one convolution with random weights."""
    builder = ModelBuilder()
    channels = filters[0]
    x = builder.tensor(in_shape, scale=0.05, zero_point=zero_points[0])
    scales = rng.uniform(0.002, 0.02, channels if per_channel else 1)
    weights = rng.integers(-127, 128, filters)
    w = builder.tensor(filters, scale=scales, zero_point=np.zeros(scales.size, int), data=weights)
    inputs = [x, w]
    if bias:
        values = rng.integers(-4000, 4000, channels)
        inputs.append(builder.tensor((channels,), "int32", scale=0.05 * scales, data=values))
    out = [
        size_out(in_shape[i + 1], filters[i + 1], stride[i], dilation[i], padding) for i in (0, 1)
    ]
    y = builder.tensor((in_shape[0], *out, channels), scale=scale_out, zero_point=zero_points[1])
    builder.op(
        "CONV_2D",
        inputs,
        [y],
        padding=padding,
        stride_h=stride[0],
        stride_w=stride[1],
        dilation_h_factor=dilation[0],
        dilation_w_factor=dilation[1],
        fused_activation_function=activation,
    )
    return builder.build([x], [y])


def size_out(size: int, kernel: int, stride: int, dilation: int, padding: str) -> int:
    span = (kernel - 1) * dilation + 1
    return -(-size // stride) if padding == "SAME" else -(-(size - span + 1) // stride)


def sweep() -> list[dict[str, Any]]:
    """The named corners first, then every mix of window, stride and padding that fits."""
    corners: list[dict[str, Any]] = [
        {"in_shape": (1, 1, 9, 3), "filters": (4, 1, 3, 3)},
        {"in_shape": (1, 9, 1, 3), "filters": (4, 3, 1, 3)},
        {"in_shape": (1, 1, 1, 8), "filters": (3, 1, 1, 8)},
        {"in_shape": (3, 5, 6, 2), "filters": (4, 3, 3, 2)},
        {"in_shape": (1, 9, 9, 2), "filters": (4, 2, 2, 2), "stride": (3, 4)},
        {"in_shape": (1, 49, 10, 1), "filters": (8, 10, 4, 1), "stride": (2, 1)},
        {"in_shape": (1, 6, 6, 8), "filters": (6, 3, 3, 4)},
        {"in_shape": (1, 6, 6, 6), "filters": (12, 3, 3, 1)},
        {"zero_points": (-128, 127)},
        {"zero_points": (127, -128)},
        {"per_channel": False},
        {"scale_out": 1e-3},
        {"scale_out": 1e3},
        {"dilation": (2, 3), "in_shape": (1, 11, 13, 4)},
        {"dilation": (2, 2), "padding": "VALID", "in_shape": (1, 9, 10, 4)},
    ]
    grid = [
        {
            "in_shape": (1, h, w, 4),
            "filters": (5, k, k, 4),
            "stride": (s, s),
            "padding": padding,
            "activation": ACTIVATIONS[(h + w + k + s) % 4],
        }
        for h, w in ((7, 8), (8, 7), (8, 8), (5, 5))
        for k in (1, 2, 3, 5)
        for s in (1, 2, 3)
        for padding in ("SAME", "VALID")
    ]
    return corners + grid


def test_sweep(tmp_path: Path, rng: np.random.Generator, sample: Callable[[Any, int], Any]) -> None:
    configs = sweep()
    chosen = configs[:16] + sample(configs[16:], 24)
    cases = {f"{i} {c}": conv_model(rng, **c) for i, c in enumerate(chosen)}
    assert_equal(cases, tmp_path, rng)


def test_sanitized(tmp_path: Path, rng: np.random.Generator) -> None:
    cases = {str(c): conv_model(rng, **c) for c in sweep()[:12]}
    assert_equal(cases, tmp_path, rng, samples=1, sanitize=True)


@pytest.mark.parametrize("channels_in", [3, 5])
def test_filters_that_do_not_divide_the_channels_are_refused(
    channels_in: int, tmp_path: Path, rng: np.random.Generator
) -> None:
    data = conv_model(rng, in_shape=(1, 4, 4, channels_in), filters=(4, 3, 3, 2))
    with pytest.raises(CodegenError, match=r"operator 0 CONV_2D.*do not form groups of 2"):
        assert_equal({"odd": data}, tmp_path, rng)
