"""CONV_2D against the reference: strides, dilation, padding, groups, activations, edge sizes."""

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
    bias: str | int | NDArray[Any] = "random",
    per_channel: bool = True,
    zero_scales: int = 0,
    scale_out: float = 0.5,
    weights: int | None = None,
    least_weight: int = -127,
    constant: bool = True,
) -> bytes:
    """A model of one convolution; the first `zero_scales` filters have the scale 0."""
    builder = ModelBuilder()
    channels = filters[0]
    x = builder.tensor(in_shape, scale=INPUT_SCALE, zero_point=zero_points[0])
    scales = rng.uniform(0.002, 0.02, channels if per_channel else 1)
    scales[:zero_scales] = 0
    values = (
        rng.integers(least_weight, 128, filters) if weights is None else np.full(filters, weights)
    )
    values[:, 0, 0, 0] = least_weight if weights is None else weights
    w = builder.tensor(filters, scale=scales, data=values if constant else None)
    inputs = [x, w, *add_bias(builder, rng, bias, scales, channels)]
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
    return builder.build([x] if constant else [x, w], [y])


CORNERS: list[dict[str, Any]] = [
    {"in_shape": (1, 1, 9, 3), "filters": (4, 1, 3, 3)},
    {"in_shape": (1, 9, 1, 3), "filters": (4, 3, 1, 3)},
    {"in_shape": (1, 1, 1, 8), "filters": (3, 1, 1, 8)},
    {"in_shape": (3, 5, 6, 2), "filters": (4, 3, 3, 2)},
    {"in_shape": (1, 9, 9, 2), "filters": (4, 2, 2, 2), "stride": (3, 4)},
    {"in_shape": (1, 49, 10, 1), "filters": (8, 10, 4, 1), "stride": (2, 1)},
    {"in_shape": (1, 6, 6, 8), "filters": (6, 3, 3, 4)},
    {"in_shape": (1, 6, 6, 6), "filters": (12, 3, 3, 1)},
    {"in_shape": (1, 9, 8, 6), "filters": (4, 3, 2, 3), "dilation": (2, 3), "stride": (2, 1)},
    {"zero_points": (-128, 127)},
    {"zero_points": (127, -128)},
    {"per_channel": False},
    {"zero_scales": 2},
    {"zero_scales": 1, "per_channel": False, "activation": "RELU"},
    {"in_shape": (1, 2, 1, 3), "filters": (1001, 1, 1, 3)},
    {"bias": -(2**31)},
    {"bias": -(2**31), "scale_out": 1e-3},
    {"bias": 2**31 - 1, "zero_points": (5, -128)},
    {"scale_out": 1e-3},
    {"scale_out": 1e-6},
    {"scale_out": 1e3},
    {"dilation": (2, 3), "in_shape": (1, 11, 13, 4)},
    {"dilation": (2, 2), "padding": "VALID", "in_shape": (1, 9, 10, 4)},
    {"dilation": (5, 6), "in_shape": (1, 3, 4, 4)},
    {"activation": "RELU6", "scale_out": 0.01, "zero_points": (0, -128)},
    {"activation": "RELU_N1_TO_1", "scale_out": 0.01},
    *(
        {"in_shape": (1, h, w, 3), "filters": (4, 3, 3, 3), "stride": (2, 2), "activation": act}
        for h, w, act in ((8, 8, "NONE"), (7, 8, "RELU"), (8, 7, "RELU6"), (49, 10, "NONE"))
    ),
]

GRID: list[dict[str, Any]] = [
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


FORMS = pytest.mark.parametrize("memory", ["min", "max"])
"""The leanest form and the fastest."""


@FORMS
def test_sweep(
    memory: str, tmp_path: Path, rng: np.random.Generator, sample: Callable[[Any, int], Any]
) -> None:
    chosen = [*CORNERS, *sample(GRID, 16)]
    cases = {f"{i} {c}": conv_model(rng, **c) for i, c in enumerate(chosen)}
    assert_equal(cases, tmp_path, rng, plan=PlanOptions(memory=memory))


@FORMS
def test_sanitized(memory: str, tmp_path: Path, rng: np.random.Generator) -> None:
    cases = {str(c): conv_model(rng, **c) for c in CORNERS[3:23]}
    assert_equal(cases, tmp_path, rng, samples=1, sanitize=True, plan=PlanOptions(memory=memory))


@pytest.mark.parametrize("spelling", ["short", "minus one"])
def test_absent_bias_is_a_bias_of_zeros(spelling: str, tmp_path: Path, seed: int) -> None:
    """The reference wants a bias here, so zeros stand in for it there."""
    configs: list[dict[str, Any]] = [
        {"bias": spelling},
        {"bias": spelling, "per_channel": False, "activation": "RELU"},
        {"bias": spelling, "in_shape": (1, 6, 6, 8), "filters": (6, 3, 3, 4)},
    ]
    model = conv_model
    cases = {str(c): model(np.random.default_rng(seed), **c) for c in configs}
    same = {str(c): model(np.random.default_rng(seed), **zero_bias(c)) for c in configs}
    assert_equal(cases, tmp_path, np.random.default_rng(seed), reference=same)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (
            {"in_shape": (1, 4, 4, 3), "filters": (4, 3, 3, 2)},
            "3 input channels do not form groups of 2",
        ),
        (
            {"in_shape": (1, 4, 4, 6), "filters": (4, 3, 3, 2)},
            "6 input channels do not form groups of 2",
        ),
        ({"constant": False}, "is computed at run time; only a constant"),
        ({"scale_out": 1e-13}, "by a factor of .*; quantise the model again"),
        ({"activation": "TANH"}, "fused activation TANH is not supported"),
        ({"stride": (0, 1)}, "kernel 3, stride 0 or dilation 1 is below 1"),
        ({"padding": "VALID", "in_shape": (1, 2, 8, 4)}, "window of 3 does not fit into 2"),
        (
            {
                "in_shape": (1, 1, 1, 70000),
                "filters": (1, 1, 1, 70000),
                "weights": -128,
                "zero_points": (127, 0),
            },
            "may not fit into 32 bits; split the operator",
        ),
    ],
)
def test_refusals(
    config: dict[str, Any], message: str, tmp_path: Path, rng: np.random.Generator
) -> None:
    with pytest.raises(CodegenError, match=rf"operator 0 CONV_2D.*{message}"):
        assert_equal({"refused": conv_model(rng, **config)}, tmp_path, rng)
