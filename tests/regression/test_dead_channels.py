"""Channels that training has switched off: scales of 0 or next to it, biases at the end of int32.

Elsewhere they divided by zero, saturated, or smashed a stack whose arrays ended at fewer channels.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.ops.equality import assert_equal
from tests.tflite_builder import ModelBuilder

CHANNELS = 1001


def many_channels(kind: str, rng: np.random.Generator, first_scales: list[float]) -> bytes:
    builder = ModelBuilder()
    scales = rng.uniform(0.002, 0.02, CHANNELS)
    scales[: len(first_scales)] = first_scales
    bias = rng.integers(-4000, 4000, CHANNELS)
    bias[:4] = (2**31 - 1, 5, -(2**31), -(2**31))
    depthwise, dense = kind == "DEPTHWISE_CONV_2D", kind == "FULLY_CONNECTED"
    shape = (1, 1, 1, CHANNELS) if depthwise else (CHANNELS, 3) if dense else (CHANNELS, 1, 1, 3)
    x = builder.tensor((1, 3) if dense else (1, 1, 2, 1 if depthwise else 3), "int8", 0.05, -3)
    y = builder.tensor((1, CHANNELS) if dense else (1, 1, 2, CHANNELS), "int8", 0.5, 7)
    weights = rng.integers(-127, 128, shape)
    axis = 3 if depthwise else 0
    w = builder.tensor(shape, "int8", scales, data=weights, axis=axis)
    b = builder.tensor((CHANNELS,), "int32", scales * 0.05, data=bias)
    options = {} if dense else {"padding": "SAME", "stride_h": 1, "stride_w": 1}
    if depthwise:
        options["depth_multiplier"] = CHANNELS
    builder.op(kind, [x, w, b], [y], **options)
    return builder.build([x], [y])


@pytest.mark.parametrize("kind", ["CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED"])
def test_dead_channels(kind: str, tmp_path: Path, rng: np.random.Generator) -> None:
    cases = {
        str(first): many_channels(kind, rng, first)
        for first in ([0.0, 0.0, 1e-28], [1e-28, 0.0, 0.0, 1e-38], [1e-20] * 4)
    }
    assert_equal(cases, tmp_path, rng, samples=2, sanitize=True)
