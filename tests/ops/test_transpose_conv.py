"""TRANSPOSE_CONV against the reference: strides beyond the kernel, paddings, types, refusals."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tflite

from codegen.errors import CodegenError
from tests.ops.equality import assert_equal
from tests.ops.windows import ACTIVATIONS
from tests.tflite_builder import ModelBuilder

Pair = tuple[int, int]
TYPES = ("int8", "uint8", "int16", "int16 wide", "float32", "hybrid")


def add_layer(
    builder: ModelBuilder,
    rng: np.random.Generator,
    kind: str,
    *,
    image: Pair = (4, 5),
    batch: int = 1,
    channels: Pair = (3, 5),
    kernel: Pair = (3, 3),
    stride: Pair = (2, 2),
    padding: str = "SAME",
    cut: int = 0,
    activation: str = "NONE",
    per_channel: bool = True,
    bias: bool = True,
    zero_points: Pair = (-3, 7),
) -> tuple[int, int]:
    """One operator; returns its input and output. The output is `cut` smaller than it could be."""
    grown = [
        (n - 1) * s + k if padding == "VALID" else n * s
        for n, s, k in zip(image, stride, kernel, strict=True)
    ]
    out = (batch, *(size - cut for size in grown), channels[1])
    dtype = "float32" if kind == "hybrid" else kind.split()[0]
    zeros = {"int8": zero_points, "uint8": tuple(z + 128 for z in zero_points)}.get(kind, (0, 0))
    quants = [(), ()] if dtype == "float32" else [(0.05, zeros[0]), (0.5, zeros[1])]
    x = builder.tensor((batch, *image, channels[0]), dtype, *quants[0])
    y = builder.tensor(out, dtype, *quants[1])
    filters = (channels[1], *kernel, channels[0])
    scales = rng.uniform(0.002, 0.02, channels[1] if per_channel and kind != "uint8" else 1)
    if kind == "float32":
        w = builder.tensor(filters, "float32", data=rng.normal(0, 1, filters))
    elif kind == "uint8":
        w = builder.tensor(filters, kind, scales, [117], data=rng.integers(0, 256, filters))
    else:
        w = builder.tensor(filters, "int8", scales, data=rng.integers(-127, 128, filters))
    shape = builder.tensor((4,), "int32", data=np.array(out))
    inputs = [shape, w, x]
    if bias and dtype != "float32":
        values = rng.integers(-4000, 4000, channels[1])
        width = "int64" if kind == "int16 wide" else "int32"
        inputs.append(builder.tensor((channels[1],), width, 0.05 * scales, data=values))
    elif bias:
        values = rng.normal(0, 1, channels[1])
        inputs.append(builder.tensor((channels[1],), "float32", data=values))
    # Of int16 data the option, and not the tensor, tells the reference how wide biases are.
    options = {"quantized_bias_type": tflite.TensorType.INT32} if kind == "int16" and bias else {}
    builder.op(
        "TRANSPOSE_CONV",
        inputs,
        [y],
        5,
        padding=padding,
        stride_h=stride[0],
        stride_w=stride[1],
        fused_activation_function=activation,
        **options,
    )
    return x, y


CONFIGS: list[dict[str, Any]] = [
    {},
    {"batch": 3},
    {"bias": False},
    {"per_channel": False},
    {"per_channel": False, "bias": False, "padding": "VALID"},
    {"image": (1, 7), "kernel": (1, 3), "stride": (1, 2)},
    {"image": (7, 1), "kernel": (4, 1), "stride": (3, 1)},
    {"image": (1, 1), "kernel": (2, 2)},
    {"kernel": (2, 2), "stride": (3, 4)},
    {"kernel": (2, 1), "stride": (3, 4), "padding": "VALID"},
    {"kernel": (5, 4), "stride": (1, 1)},
    {"kernel": (5, 4), "stride": (1, 1), "padding": "VALID"},
    {"kernel": (4, 4), "stride": (3, 2), "padding": "VALID"},
    {"cut": 1},
    {"cut": 1, "kernel": (5, 5), "stride": (3, 3)},
    {"channels": (8, 9), "kernel": (1, 1), "stride": (1, 1)},
    {"zero_points": (-128, 127)},
    {"zero_points": (127, -128)},
    *({"activation": activation} for activation in ACTIVATIONS),
]


def model(kind: str, rng: np.random.Generator, configs: list[dict[str, Any]]) -> bytes:
    builder = ModelBuilder()
    pairs = [add_layer(builder, rng, kind, **config) for config in configs]
    return builder.build([x for x, _ in pairs], [y for _, y in pairs])


@pytest.mark.parametrize("sanitize", [False, True])
def test_sweep(sanitize: bool, tmp_path: Path, rng: np.random.Generator) -> None:
    chosen = CONFIGS[::3] if sanitize else CONFIGS
    models = {kind: model(kind, rng, chosen) for kind in TYPES}
    assert_equal(models, tmp_path, rng, sanitize=sanitize)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"cut": 2}, "does not spread over"),
        ({"activation": "TANH"}, "fused activation TANH is not supported"),
        (
            {"stride": (0, 1), "image": (1, 1), "padding": "VALID"},
            "kernel 3, stride 0 or dilation 1 is below 1",
        ),
    ],
)
def test_refusals(
    config: dict[str, Any], message: str, tmp_path: Path, rng: np.random.Generator
) -> None:
    with pytest.raises(CodegenError, match=rf"operator 0 TRANSPOSE_CONV.*{message}"):
        assert_equal({"refused": model("int8", rng, [config])}, tmp_path, rng)


def test_a_shape_of_run_time(tmp_path: Path, rng: np.random.Generator) -> None:
    """The interpreter reads it; the C code takes the one of the file, which has to be the same."""
    builder = ModelBuilder()
    x, y = add_layer(builder, rng, "int8")
    shape = builder.tensor((4,), "int32")
    layer = builder.operators[0]
    builder.operators[0] = replace(layer, inputs=(shape, *layer.inputs[1:]))
    sizes = np.array(builder.tensors[y].shape, np.int32)
    sets = [[sizes, rng.integers(-128, 128, (1, 4, 5, 3)).astype(np.int8)] for _ in range(3)]
    assert_equal({"x": builder.build([shape, x], [y])}, tmp_path, rng, inputs={"x": sets})
