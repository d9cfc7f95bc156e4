"""Quantise the demo network to int8 as TensorFlow Lite does, and write the model file.

The scheme is that of TensorFlow Lite's 8-bit specification:

- activations: real = scale * (q - zero_point), one scale and zero point per tensor, taken
  from the smallest and largest value seen in calibration, with 0 exactly representable;
- convolution weights: symmetric (zero point 0), one scale per output channel, -127..127;
- fully connected weights: symmetric, one scale;
- biases: int32, scale = input scale * weight scale, zero point 0;
- softmax output: scale 1/256, zero point -128, as the operator demands.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from layers import Floats, Layer
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.oracle import run_reference
from tests.tflite_builder import ModelBuilder


@dataclass(frozen=True)
class Affine:
    """Quantisation of one activation: real = scale * (q - zero_point)."""

    scale: np.float32
    zero_point: int

    def quantise(self, real: Floats) -> NDArray[np.int8]:
        """Return the nearest int8 codes of ``real``, clamped to -128..127."""
        codes = np.rint(real / np.float64(self.scale)) + self.zero_point
        return np.asarray(np.clip(codes, -128, 127), dtype=np.int8)


@dataclass(frozen=True)
class Weights:
    """int8 weights with their scales (one, or one per output channel) and int32 biases."""

    codes: NDArray[np.int8]
    scales: NDArray[np.float32]
    bias: NDArray[np.int32]
    bias_scales: NDArray[np.float32]


def affine_for(values: Floats) -> Affine:
    """Spread -128..127 over the range of ``values``, widened to hold 0."""
    low, high = min(0.0, float(values.min())), max(0.0, float(values.max()))
    scale = (high - low) / 255.0
    return Affine(np.float32(scale), round(-128 - low / scale))


def calibrate(maps: Mapping[str, Floats]) -> dict[str, Affine]:
    """Return the quantisation of each activation from the values it took.

    Operators that only move or average codes keep the quantisation of their input.
    """
    ranges = {name: affine_for(values) for name, values in maps.items()}
    ranges["pooled"] = ranges["flat"] = ranges["sum"]
    ranges["output"] = Affine(np.float32(1 / 256), -128)
    return ranges


def quantise_weights(layer: Layer, input_scale: np.float32, axis: int | None) -> Weights:
    """Quantise a layer; ``axis`` is that of the output channels, None for one scale."""
    others = tuple(i for i in range(layer.weight.ndim) if i != axis)
    scales = (np.abs(layer.weight).max(axis=others, keepdims=True) / 127).astype(np.float32)
    codes = np.clip(np.rint(layer.weight / scales), -127, 127).astype(np.int8)
    bias_scales = (input_scale * scales.ravel()).astype(np.float32)
    bias = np.rint(layer.bias / bias_scales).astype(np.int32)
    return Weights(codes, scales.ravel(), bias, bias_scales)


SHAPES = {
    "input": (1, 8, 8, 1),
    "stem": (1, 8, 8, 16),
    "down": (1, 4, 4, 16),
    "mix": (1, 4, 4, 16),
    "residual": (1, 4, 4, 16),
    "sum": (1, 4, 4, 16),
    "pooled": (1, 2, 2, 16),
    "flat": (1, 64),
    "logits": (1, 10),
    "output": (1, 10),
}


def model_bytes(layers: Mapping[str, Layer], ranges: Mapping[str, Affine]) -> bytes:
    """Return the .tflite file of the network in train.py's docstring.

    Args:
        layers: the trained layers; each is named after the activation it yields.
        ranges: the quantisation of every activation in ``SHAPES``.
    """
    builder = ModelBuilder(description="digits demo", name="digits")
    maps = {
        name: builder.tensor(
            shape, "int8", float(ranges[name].scale), ranges[name].zero_point, name=name
        )
        for name, shape in SHAPES.items()
    }

    def operands(source: str, target: str, axis: int | None) -> list[int]:
        """Add the weights and biases that make ``target`` from ``source``."""
        w = quantise_weights(layers[target], ranges[source].scale, axis)
        shape, scales = w.codes.shape, w.scales
        return [
            maps[source],
            builder.tensor(shape, "int8", scales, data=w.codes, axis=axis or 0, name=f"{target}/w"),
            builder.tensor(w.bias.shape, "int32", w.bias_scales, data=w.bias, name=f"{target}/b"),
        ]

    def conv(kind: str, source: str, target: str, axis: int, relu: bool, stride: int) -> None:
        """Add a SAME convolution with one weight scale per output channel."""
        options: dict[str, Any] = {
            "padding": "SAME",
            "stride_h": stride,
            "stride_w": stride,
            "fused_activation_function": "RELU" if relu else "NONE",
        }
        if kind == "DEPTHWISE_CONV_2D":
            options["depth_multiplier"] = 1
        builder.op(kind, operands(source, target, axis), [maps[target]], version=3, **options)

    conv("CONV_2D", "input", "stem", axis=0, relu=True, stride=1)
    conv("DEPTHWISE_CONV_2D", "stem", "down", axis=3, relu=True, stride=2)
    conv("CONV_2D", "down", "mix", axis=0, relu=True, stride=1)
    conv("CONV_2D", "mix", "residual", axis=0, relu=False, stride=1)
    builder.op(
        "ADD",
        [maps["mix"], maps["residual"]],
        [maps["sum"]],
        version=2,
        fused_activation_function="RELU",
    )
    builder.op(
        "AVERAGE_POOL_2D",
        [maps["sum"]],
        [maps["pooled"]],
        version=2,
        padding="VALID",
        stride_h=2,
        stride_w=2,
        filter_height=2,
        filter_width=2,
    )
    shape = builder.tensor((2,), "int32", data=[-1, 64], name="flat/shape")
    builder.op("RESHAPE", [maps["pooled"], shape], [maps["flat"]], new_shape=[-1, 64])
    builder.op("FULLY_CONNECTED", operands("flat", "logits", None), [maps["logits"]], version=4)
    builder.op("SOFTMAX", [maps["logits"]], [maps["output"]], version=2, beta=1.0)
    return builder.build([maps["input"]], [maps["output"]])


def multiply_accumulates(layers: Mapping[str, Layer]) -> int:
    """Return the products of one inference: per output pixel, every weight once."""
    total = 0
    for name, layer in layers.items():
        shape = SHAPES[name]
        pixels = shape[1] * shape[2] if len(shape) == 4 else 1
        total += pixels * layer.weight.size
    return total


def run_model(model: bytes, images: NDArray[np.int8]) -> NDArray[np.int8]:
    """Run images [n, 8, 8, 1] one by one through LiteRT's reference kernels; return [n, 10]."""
    outputs = run_reference(model, [[image[None]] for image in images])
    return np.concatenate([scores for (scores,) in outputs])
