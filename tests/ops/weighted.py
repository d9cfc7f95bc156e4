"""Models of one convolution or fully connected layer in any number format."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tflite

from tests.ops.windows import size_out
from tests.tflite_builder import ModelBuilder

Size = tuple[int, int]


@dataclass(frozen=True)
class Format:
    """Element types, `bias` empty for none; `zero_points` are of input, weights and output."""

    data: str
    weights: str
    bias: str
    zero_points: tuple[int, int, int] = (0, 0, 0)
    per_channel: bool = True
    scale_in: float = 0.05
    scale_out: float = 0.5
    bias_range: int = 4000
    extreme_weights: bool = False


@dataclass(frozen=True)
class Layer:
    """What the layer does; `groups` is of a CONV_2D, `multiplier` of a DEPTHWISE_CONV_2D."""

    op: str
    in_shape: tuple[int, ...] = (1, 7, 8, 4)
    channels: int = 5
    kernel: Size = (3, 3)
    stride: Size = (1, 1)
    dilation: Size = (1, 1)
    padding: str = "SAME"
    activation: str = "NONE"
    groups: int = 1
    multiplier: int = 1

    @property
    def filter_shape(self) -> tuple[int, ...]:
        if self.op == "FULLY_CONNECTED":
            return (self.channels, self.in_shape[-1])
        if self.op == "CONV_2D":
            return (self.channels, *self.kernel, self.in_shape[3] // self.groups)
        return (1, *self.kernel, self.in_shape[3] * self.multiplier)

    @property
    def channel_axis(self) -> int:
        return 3 if self.op == "DEPTHWISE_CONV_2D" else 0

    @property
    def out_shape(self) -> tuple[int, ...]:
        channels = self.filter_shape[self.channel_axis]
        if self.op == "FULLY_CONNECTED":
            return (*self.in_shape[:-1], channels)
        sizes = zip(self.in_shape[1:3], self.kernel, self.stride, self.dilation, strict=True)
        h, w = (size_out(*axis, self.padding) for axis in sizes)
        return (self.in_shape[0], h, w, channels)

    @property
    def options(self) -> dict[str, Any]:
        if self.op == "FULLY_CONNECTED":
            return {"keep_num_dims": True, "fused_activation_function": self.activation}
        return {
            "padding": self.padding,
            "stride_h": self.stride[0],
            "stride_w": self.stride[1],
            "dilation_h_factor": self.dilation[0],
            "dilation_w_factor": self.dilation[1],
            "fused_activation_function": self.activation,
        } | ({"depth_multiplier": self.multiplier} if self.op != "CONV_2D" else {})


RANGES = {"int8": (-127, 128), "uint8": (0, 256), "int4": (-7, 8)}


def weighted_model(rng: np.random.Generator, *cases: tuple[Layer, Format]) -> bytes:
    """Layers side by side, each with an input, random weights and biases, and an output."""
    builder = ModelBuilder()
    ends = [_add_layer(builder, rng, *case) for case in cases]
    return builder.build([x for x, _ in ends], [y for _, y in ends])


def _add_layer(
    builder: ModelBuilder, rng: np.random.Generator, layer: Layer, form: Format
) -> tuple[int, int]:
    x = builder.tensor(layer.in_shape, form.data, form.scale_in, form.zero_points[0])
    channels = layer.out_shape[-1]
    scales = rng.uniform(0.002, 0.02, channels if form.per_channel else 1)
    low, high = RANGES[form.weights]
    values = rng.integers(low, high, layer.filter_shape)
    if form.extreme_weights:
        values = np.where(values > (low + high) // 2, high - 1, low)
    zeros = np.full(scales.size, form.zero_points[1])
    w = builder.tensor(
        layer.filter_shape, form.weights, scales, zeros, values, axis=layer.channel_axis
    )
    inputs, options = [x, w], layer.options
    if form.bias:
        bias = rng.integers(-form.bias_range, form.bias_range + 1, channels)
        inputs.append(builder.tensor((channels,), form.bias, form.scale_in * scales, data=bias))
        if form.data == "int16" and layer.op != "DEPTHWISE_CONV_2D":
            options["quantized_bias_type"] = getattr(tflite.TensorType, form.bias.upper())
    y = builder.tensor(layer.out_shape, form.data, form.scale_out, form.zero_points[2])
    builder.op(layer.op, inputs, [y], 4, **options)
    return x, y


_ACTIVATIONS = ("NONE", "RELU", "RELU6", "RELU_N1_TO_1")


def spatial_layers(op: str, sample: Callable[[Any, int], Any]) -> list[Layer]:
    """Edge sizes and a sample of a grid of windows."""
    corners = [
        Layer(op, (1, 1, 9, 3), kernel=(1, 3)),
        Layer(op, (1, 9, 1, 3), kernel=(3, 1), activation="RELU"),
        Layer(op, (1, 1, 1, 8), kernel=(1, 1)),
        Layer(op, (3, 5, 6, 2)),
        Layer(op, (1, 9, 9, 2), kernel=(2, 2), stride=(3, 4)),
        Layer(op, (1, 9, 8, 6), kernel=(3, 2), dilation=(2, 3), stride=(2, 1)),
        Layer(op, (1, 3, 4, 4), dilation=(5, 6)),
        Layer(op, (1, 9, 10, 4), dilation=(2, 2), padding="VALID", activation="RELU6"),
        Layer(op, (2, 6, 6, 4), channels=6, groups=2, multiplier=3),
        Layer(op, (1, 5, 5, 1), channels=9, multiplier=9, activation="RELU_N1_TO_1"),
    ]
    grid = [
        Layer(op, (1, h, w, 4), 5, (k, k), (s, s), (1, 1), padding, _ACTIVATIONS[(h + k + s) % 4])
        for h, w in ((7, 8), (8, 7), (5, 5))
        for k in (1, 2, 3, 5)
        for s in (1, 2, 3)
        for padding in ("SAME", "VALID")
    ]
    return [*corners, *sample(grid, 8)]


def dense_layers() -> list[Layer]:
    op = "FULLY_CONNECTED"
    return [
        Layer(op, (1, 16)),
        Layer(op, (3, 16), 9, activation="RELU"),
        Layer(op, (7,), 1),
        Layer(op, (2, 3, 7), activation="RELU6"),
        Layer(op, (2, 1, 3, 2, 7), activation="RELU_N1_TO_1"),
        Layer(op, (1, 700), 3),
        Layer(op, (1, 3), 300),
    ]


def layers_of(op: str, sample: Callable[[Any, int], Any]) -> list[Layer]:
    """The sweep of one operator."""
    return dense_layers() if op == "FULLY_CONNECTED" else spatial_layers(op, sample)


def paired(layers: Sequence[Layer], forms: Sequence[Format]) -> list[tuple[Layer, Format]]:
    """Every layer and every format at least once."""
    count = max(len(layers), len(forms))
    return [(layers[i % len(layers)], forms[i % len(forms)]) for i in range(count)]
