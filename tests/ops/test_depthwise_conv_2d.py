"""DEPTHWISE_CONV_2D against the reference: multipliers, windows, scales, edge sizes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from codegen.errors import CodegenError
from codegen.plan import PlanOptions
from tests.ops.equality import assert_equal
from tests.ops.windows import ACTIVATIONS, INPUT_SCALE, add_bias, size_out, zero_bias
from tests.tflite_builder import ModelBuilder


def depthwise_model(
    rng: np.random.Generator,
    *,
    in_shape: tuple[int, int, int, int] = (1, 7, 8, 4),
    kernel: tuple[int, int] = (3, 3),
    multiplier: int = 1,
    channels: int | None = None,
    stride: tuple[int, int] = (1, 1),
    dilation: tuple[int, int] = (1, 1),
    padding: str = "SAME",
    activation: str = "NONE",
    zero_points: tuple[int, int] = (-3, 7),
    bias: str | int | NDArray[Any] = "random",
    per_channel: bool = True,
    zero_scales: int = 0,
    scale_out: float = 0.2,
    constant: bool = True,
) -> bytes:
    """A model of one depthwise convolution; the first `zero_scales` filters have the scale 0."""
    builder = ModelBuilder()
    channels = in_shape[3] * multiplier if channels is None else channels
    filters = (1, *kernel, channels)
    x = builder.tensor(in_shape, scale=INPUT_SCALE, zero_point=zero_points[0])
    scales = rng.uniform(0.002, 0.02, channels if per_channel else 1)
    scales[:zero_scales] = 0
    values = rng.integers(-127, 128, filters) if constant else None
    w = builder.tensor(filters, scale=scales, data=values, axis=3)
    inputs = [x, w, *add_bias(builder, rng, bias, scales, channels)]
    out = [size_out(in_shape[i + 1], kernel[i], stride[i], dilation[i], padding) for i in (0, 1)]
    y = builder.tensor((in_shape[0], *out, channels), scale=scale_out, zero_point=zero_points[1])
    builder.op(
        "DEPTHWISE_CONV_2D",
        inputs,
        [y],
        padding=padding,
        stride_h=stride[0],
        stride_w=stride[1],
        dilation_h_factor=dilation[0],
        dilation_w_factor=dilation[1],
        depth_multiplier=multiplier,
        fused_activation_function=activation,
    )
    return builder.build([x] if constant else [x, w], [y])


CORNERS: list[dict[str, Any]] = [
    {"in_shape": (1, 1, 9, 3), "kernel": (1, 3)},
    {"in_shape": (1, 9, 1, 3), "kernel": (3, 1)},
    {"in_shape": (1, 1, 1, 8), "kernel": (1, 1)},
    {"in_shape": (3, 5, 6, 2)},
    {"in_shape": (1, 9, 9, 2), "kernel": (2, 2), "stride": (3, 4)},
    {"in_shape": (1, 49, 10, 1), "kernel": (10, 8), "multiplier": 8, "stride": (2, 2)},
    {"multiplier": 2},
    {"multiplier": 3, "stride": (2, 1), "per_channel": False},
    {"in_shape": (1, 4, 5, 1), "multiplier": 7, "padding": "VALID"},
    {"zero_points": (-128, 127)},
    {"zero_points": (127, -128)},
    {"per_channel": False},
    {"per_channel": False, "activation": "RELU"},
    {"bias": "short"},
    {"bias": "short", "per_channel": False},
    {"zero_scales": 2},
    {"zero_scales": 1, "per_channel": False},
    {"in_shape": (1, 2, 1, 1001), "kernel": (2, 1)},
    {"bias": -(2**31)},
    {"bias": 2**31 - 1, "scale_out": 1e-3, "zero_points": (5, -128)},
    {"scale_out": 1e-3},
    {"scale_out": 1e-6},
    {"scale_out": 1e3},
    {"dilation": (2, 3), "in_shape": (1, 11, 13, 4)},
    {"dilation": (2, 2), "padding": "VALID", "in_shape": (1, 9, 10, 4), "multiplier": 2},
    {"dilation": (5, 6), "in_shape": (1, 3, 4, 4)},
    {"dilation": (2, 1), "stride": (2, 2)},
    {"activation": "RELU6", "scale_out": 0.01, "zero_points": (0, -128)},
    {"activation": "RELU_N1_TO_1", "scale_out": 0.01},
    *(
        {"in_shape": (1, h, w, 3), "stride": (2, 2), "activation": activation}
        for h, w, activation in ((8, 8, "NONE"), (7, 8, "RELU"), (8, 7, "RELU6"), (49, 10, "NONE"))
    ),
]

GRID: list[dict[str, Any]] = [
    {
        "in_shape": (1, h, w, 4),
        "kernel": (k, k),
        "stride": (s, s),
        "padding": padding,
        "multiplier": 1 + (h + k) % 2,
        "activation": ACTIVATIONS[(h + w + k + s) % 4],
    }
    for h, w in ((7, 8), (8, 7), (8, 8), (5, 5))
    for k in (1, 2, 3, 5)
    for s in (1, 2, 3)
    for padding in ("SAME", "VALID")
]


FORMS = pytest.mark.parametrize("memory", ["min", "max"])
"""The leanest form and the fastest."""


@FORMS
def test_sweep(
    memory: str, tmp_path: Path, rng: np.random.Generator, sample: Callable[[Any, int], Any]
) -> None:
    chosen = [*CORNERS, *sample(GRID, 12)]
    cases = {f"{i} {c}": depthwise_model(rng, **c) for i, c in enumerate(chosen)}
    assert_equal(cases, tmp_path, rng, plan=PlanOptions(memory=memory))


@FORMS
def test_sanitized(memory: str, tmp_path: Path, rng: np.random.Generator) -> None:
    cases = {str(c): depthwise_model(rng, **c) for c in CORNERS[3:21]}
    assert_equal(cases, tmp_path, rng, samples=1, sanitize=True, plan=PlanOptions(memory=memory))


def test_a_bias_that_is_given_as_absent(tmp_path: Path, seed: int) -> None:
    """The reference refuses this spelling, so a bias of zeros stands in for it there."""
    config = {"bias": "minus one", "multiplier": 2}
    case = depthwise_model(np.random.default_rng(seed), **config)
    same = depthwise_model(np.random.default_rng(seed), **zero_bias(config))
    assert_equal({"case": case}, tmp_path, np.random.default_rng(seed), reference={"case": same})


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"channels": 6}, "6 filters do not divide among 4 channels; convert the model again"),
        ({"constant": False}, "is computed at run time; only a constant"),
        ({"scale_out": 1e-13}, "by a factor of .*; quantise the model again"),
        ({"activation": "TANH"}, "fused activation TANH is not supported"),
        ({"dilation": (0, 1)}, "kernel 3, stride 1 or dilation 0 is below 1"),
        ({"padding": "VALID", "in_shape": (1, 8, 2, 4)}, "window of 3 does not fit into 2"),
    ],
)
def test_refusals(
    config: dict[str, Any], message: str, tmp_path: Path, rng: np.random.Generator
) -> None:
    with pytest.raises(CodegenError, match=rf"operator 0 DEPTHWISE_CONV_2D.*{message}"):
        assert_equal({"refused": depthwise_model(rng, **config)}, tmp_path, rng)
