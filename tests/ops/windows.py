"""Parts of the models of convolutions, fully connected layers and pools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.tflite_builder import ModelBuilder

ACTIVATIONS = ("NONE", "RELU", "RELU6", "RELU_N1_TO_1")
INPUT_SCALE = 0.05


def size_out(size: int, kernel: int, stride: int, dilation: int, padding: str) -> int:
    """Rows or columns of a sliding window's output; 1 for options that make no window."""
    span = (kernel - 1) * dilation + 1 if padding == "VALID" else 1
    return max(1, -(-(size - span + 1) // max(1, stride)))


def zero_bias(config: Mapping[str, Any]) -> dict[str, Any]:
    """The same configuration with a bias of zeros in place of an absent one."""
    return {**config, "bias": 0}


def add_bias(
    builder: ModelBuilder,
    rng: np.random.Generator,
    bias: str | int | NDArray[Any],
    scales: NDArray[Any],
    channels: int,
    scale_in: float = INPUT_SCALE,
) -> list[int]:
    """The operator's third input.

    Args:
        bias: "random", "short" (left out), "minus one" (given as absent), a value or all values.
    """
    if isinstance(bias, str):
        if bias != "random":
            return [] if bias == "short" else [-1]
        bias = rng.integers(-4000, 4000, channels)
    values = np.broadcast_to(bias, (channels,))
    return [builder.tensor((channels,), "int32", scale=scale_in * scales, data=values)]
