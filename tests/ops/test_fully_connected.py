"""FULLY_CONNECTED against the reference: ranks, scales, rounding next to ties, refusals."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from codegen.errors import CodegenError
from tests.ops.equality import assert_equal
from tests.ops.windows import INPUT_SCALE, add_bias
from tests.tflite_builder import ModelBuilder


def dense_model(
    rng: np.random.Generator,
    *,
    in_shape: tuple[int, ...] = (1, 16),
    depth: int | None = None,
    units: int = 5,
    keep_num_dims: bool = False,
    out_shape: tuple[int, ...] | None = None,
    activation: str = "NONE",
    zero_points: tuple[int, int] = (-3, 7),
    bias: str | int | NDArray[Any] = "random",
    per_channel: bool = False,
    weight_zero: int = 0,
    weight_scales: Sequence[float] | NDArray[Any] | None = None,
    zero_scales: int = 0,
    scale_in: float = INPUT_SCALE,
    scale_out: float = 0.1,
    weights: int | None = None,
    least_weight: int = -128,
    constant: bool = True,
    shuffled: bool = False,
) -> bytes:
    """A model of one fully connected layer; the first `zero_scales` outputs have the scale 0."""
    builder = ModelBuilder()
    depth = in_shape[-1] if depth is None else depth
    filters = (units, depth)
    x = builder.tensor(in_shape, scale=scale_in, zero_point=zero_points[0])
    scales = rng.uniform(0.002, 0.02, units if per_channel else 1)
    scales = scales if weight_scales is None else np.array(weight_scales)
    scales[:zero_scales] = 0
    values = (
        rng.integers(least_weight, 128, filters) if weights is None else np.full(filters, weights)
    )
    zeros = np.full(scales.size, weight_zero)
    w = builder.tensor(filters, scale=scales, zero_point=zeros, data=values if constant else None)
    inputs = [x, w, *add_bias(builder, rng, bias, scales, units, scale_in)]
    batch = int(np.prod(in_shape)) // depth
    shape = (*in_shape[:-1], units) if keep_num_dims else (batch, units)
    y = builder.tensor(out_shape or shape, scale=scale_out, zero_point=zero_points[1])
    builder.op(
        "FULLY_CONNECTED",
        inputs,
        [y],
        version=4,
        keep_num_dims=keep_num_dims,
        weights_format=int(shuffled),
        fused_activation_function=activation,
    )
    return builder.build([x] if constant else [x, w], [y])


CONFIGS: list[dict[str, Any]] = [
    {},
    {"per_channel": True},
    {"in_shape": (16,)},
    {"in_shape": (3, 16)},
    {"in_shape": (3, 16), "per_channel": True, "activation": "RELU"},
    {"in_shape": (1, 1), "units": 1},
    {"in_shape": (2, 3, 4), "depth": 12},
    {"in_shape": (2, 3, 4), "depth": 4},
    {"in_shape": (1, 4, 3, 5), "depth": 60},
    {"in_shape": (2, 2, 2, 3, 4), "depth": 24},
    {"in_shape": (2, 6), "depth": 3},
    {"in_shape": (5, 7), "keep_num_dims": True},
    {"in_shape": (7,), "keep_num_dims": True},
    {"in_shape": (2, 3, 7), "keep_num_dims": True, "per_channel": True},
    {"in_shape": (2, 3, 2, 7), "keep_num_dims": True},
    {"in_shape": (2, 1, 3, 2, 7), "keep_num_dims": True},
    {"bias": "short"},
    {"bias": "minus one", "per_channel": True},
    {"bias": -(2**31), "scale_out": 1e2},
    {"bias": 2**31 - 1, "scale_out": 1e2},
    {"weight_zero": -128},
    {"weight_zero": 127, "in_shape": (3, 9)},
    {"weight_zero": 5, "per_channel": True},
    {"zero_scales": 2, "per_channel": True},
    {"zero_scales": 1},
    {"zero_points": (-128, 127)},
    {"zero_points": (127, -128), "per_channel": True},
    {"activation": "RELU6", "scale_out": 0.05},
    {"activation": "RELU_N1_TO_1", "scale_out": 0.02, "per_channel": True},
    {"scale_out": 1e-3},
    {"scale_out": 1e-5, "per_channel": True},
    {"scale_out": 1e3},
    {"scale_out": 3e8, "bias": 2**31 - 1},
    {"in_shape": (1, 3), "units": 1001},
    {"in_shape": (1, 700), "units": 3, "scale_out": 1.0},
    {"weight_scales": [0.03] * 5, "activation": "RELU"},
]


def test_sweep(tmp_path: Path, rng: np.random.Generator) -> None:
    cases = {f"{i} {c}": dense_model(rng, **c) for i, c in enumerate(CONFIGS)}
    assert_equal(cases, tmp_path, rng)


def test_sanitized(tmp_path: Path, rng: np.random.Generator) -> None:
    cases = {f"{i} {c}": dense_model(rng, **c) for i, c in enumerate(CONFIGS[12:33])}
    assert_equal(cases, tmp_path, rng, samples=1, sanitize=True)


def sums_next_to_ties(factor: float) -> NDArray[np.int64]:
    """The int32 sums whose product with `factor` is next to, or at, a half-integer code."""
    ties = np.arange(-130, 130) + 0.5
    sums = np.concatenate([np.round(ties / factor) + d for d in (-1, 0, 1)])
    return np.unique(sums[np.abs(sums) < 2**31].astype(np.int64))


def scales_of_ties(rng: np.random.Generator) -> list[tuple[float, float, float]]:
    """(in, weights, out): random ones, powers of two, and ratios 1/n whose doubles are inexact."""
    random = [tuple(2.0 ** rng.uniform(-12, 0, 3)) for _ in range(12)]
    powers = [(2.0**-4, 2.0**-7, 2.0 ** -(9 - k)) for k in range(0, 20, 3)]
    ratios = [(2.0**-5, 2.0**-6, n * 2.0**-11) for n in (3, 6, 7, 49, 98, 103, 107, 1001)]
    return [*random, *powers, *ratios]


@pytest.mark.parametrize("channel_scales", [(1.0,), (1.0, 3.0)])
def test_rounding_next_to_ties(
    channel_scales: tuple[float, ...], tmp_path: Path, rng: np.random.Generator
) -> None:
    """All sums around all steps of the output, given as biases while the products are 0."""
    cases = {}
    for triple in scales_of_ties(rng):
        scale_in, scale_w, scale_out = np.float32(triple).astype(float)
        parts = [
            (k * scale_w, sums_next_to_ties(scale_in * k * scale_w / scale_out))
            for k in channel_scales
        ]
        sums = np.concatenate([part for _, part in parts])
        scales = np.concatenate([np.full(part.size, scale) for scale, part in parts])
        cases[str(triple)] = dense_model(
            rng,
            in_shape=(1, 1),
            units=sums.size,
            weights=0,
            bias=sums,
            weight_scales=scales if len(parts) > 1 else scales[:1],
            scale_in=scale_in,
            scale_out=scale_out,
            zero_points=(0, 0),
        )
    assert_equal(cases, tmp_path, rng, samples=1)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"constant": False}, "is computed at run time; only a constant"),
        ({"shuffled": True}, "weights are shuffled; convert the model with weights_format DEFAULT"),
        ({"activation": "SIGN_BIT"}, "fused activation SIGN_BIT is not supported"),
        ({"in_shape": (3, 5), "depth": 4}, "no whole number of vectors of 4 elements"),
        (
            {"in_shape": (3, 8), "depth": 4, "keep_num_dims": True},
            "does not end in the 4 inputs of the weights",
        ),
        ({"out_shape": (1, 1, 5)}, r"has shape \[1, 1, 5\] where the operator makes \[1, 5\]"),
        ({"scale_out": 1e-10}, "can make an output code of .*; quantise the model again"),
        ({"in_shape": (1, 70000), "weights": -128, "zero_points": (127, 0)}, "into 32 bits"),
    ],
)
def test_refusals(
    config: dict[str, Any], message: str, tmp_path: Path, rng: np.random.Generator
) -> None:
    with pytest.raises(CodegenError, match=rf"operator 0 FULLY_CONNECTED.*{message}"):
        assert_equal({"refused": dense_model(rng, **config)}, tmp_path, rng)
