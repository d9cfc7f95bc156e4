"""Float data with int8 weights ("dynamic range"): quantised at run time like in the reference."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen.errors import CodegenError
from codegen.importer import parse_model
from tests.ops.equality import assert_equal
from tests.ops.windows import ACTIVATIONS
from tests.tflite_builder import ModelBuilder


def add_layer(
    builder: ModelBuilder,
    rng: np.random.Generator,
    op: str,
    x: int,
    filters: tuple[int, ...],
    out: tuple[int, ...],
    *,
    per_channel: bool = True,
    bias: bool = True,
    dtype: str = "int8",
    **options: Any,
) -> int:
    """One operator with random weights; returns its output."""
    axis = 3 if op == "DEPTHWISE_CONV_2D" else 0
    channels = filters[axis]
    scales = rng.uniform(0.001, 0.02, channels if per_channel else 1)
    values = rng.integers(-127, 128, filters) if dtype == "int8" else rng.integers(-8, 8, filters)
    inputs = [x, builder.tensor(filters, dtype, scales, data=values, axis=axis)]
    if bias:
        inputs.append(builder.tensor((channels,), "float32", data=rng.normal(0, 1, channels)))
    y = builder.tensor(out, "float32")
    builder.op(op, inputs, [y], 4, **options)
    return y


def dense_model(rng: np.random.Generator, dtype: str = "int8") -> bytes:
    """Fully connected layers of all kinds over few inputs."""
    builder = ModelBuilder()
    xs = [builder.tensor(shape, "float32") for shape in ((3, 37), (2, 3, 1, 7), (1, 200))]
    ys = []
    for per_channel in (False, True):
        for asymmetric in (False, True):
            common: dict[str, Any] = {
                "per_channel": per_channel,
                "dtype": dtype,
                "asymmetric_quantize_inputs": asymmetric,
            }
            for i, (x, depth, out) in enumerate(
                zip(xs, (37, 7, 200), ((3, 5), (2, 3, 1, 5), (1, 5)), strict=True)
            ):
                options = {"fused_activation_function": ACTIVATIONS[i], "keep_num_dims": i == 1}
                shape, bias = (5, depth), i != 2
                ys.append(
                    add_layer(
                        builder,
                        rng,
                        "FULLY_CONNECTED",
                        x,
                        shape,
                        out,
                        bias=bias,
                        **common,
                        **options,
                    )
                )
    return builder.build(xs, ys)


def convolution_model(rng: np.random.Generator, dtype: str = "int8") -> bytes:
    """Dense and depthwise convolutions over one batch of images."""
    builder = ModelBuilder()
    x = builder.tensor((3, 7, 9, 4), "float32")
    ys = []
    for stride, dilation, padding, out in (
        (1, 1, "SAME", (7, 9)),
        (2, 1, "VALID", (3, 4)),
        (1, 2, "SAME", (7, 9)),
        (1, 2, "VALID", (3, 5)),
    ):
        options = {"padding": padding, "stride_h": stride, "stride_w": stride}
        options |= {"dilation_h_factor": dilation, "dilation_w_factor": dilation}
        for per_channel in (False, True):
            ys.append(
                add_layer(
                    builder,
                    rng,
                    "CONV_2D",
                    x,
                    (5, 3, 3, 4),
                    (3, *out, 5),
                    per_channel=per_channel,
                    dtype=dtype,
                    fused_activation_function="RELU",
                    **options,
                )
            )
        depthwise = {**options, "depth_multiplier": 2, "fused_activation_function": "RELU6"}
        ys.append(
            add_layer(builder, rng, "DEPTHWISE_CONV_2D", x, (1, 3, 3, 8), (3, *out, 8), **depthwise)
        )
    return builder.build([x], ys)


def grouped_model(rng: np.random.Generator) -> bytes:
    builder = ModelBuilder()
    x = builder.tensor((1, 5, 6, 6), "float32")
    same = {"padding": "SAME", "stride_h": 1, "stride_w": 1}
    y = add_layer(builder, rng, "CONV_2D", x, (4, 3, 3, 3), (1, 5, 6, 4), **same)
    return builder.build([x], [y])


@pytest.mark.parametrize("sanitize", [False, True])
def test_sweep(sanitize: bool, tmp_path: Path, rng: np.random.Generator) -> None:
    models = {
        "dense": dense_model(rng),
        "convolutions": convolution_model(rng),
        "dense, int4": dense_model(rng, "int4"),
        "convolutions, int4": convolution_model(rng, "int4"),
        "grouped": grouped_model(rng),
    }
    assert_equal(models, tmp_path, rng, samples=2 if sanitize else 20, sanitize=sanitize)


def test_halves_between_two_codes(tmp_path: Path, rng: np.random.Generator) -> None:
    """They round away from zero before the zero point is added."""
    models = {
        "dense": dense_model(rng),
        "convolutions": convolution_model(rng),
        "grouped": grouped_model(rng),
    }
    sets = {}
    for label, data in models.items():
        inputs = parse_model(data).main
        values = []
        for t in inputs.inputs:
            halves = rng.integers(-100, 155, inputs.tensors[t].shape) + np.float32(0.5)
            halves[..., 0], halves[..., 1] = -100, 155  # so that the scale is 1
            values.append(halves.astype(np.float32))
        sets[label] = [values]
    assert_equal(models, tmp_path, rng, inputs=sets)


def test_depthwise_weights_with_one_scale_are_refused(rng: np.random.Generator) -> None:
    builder = ModelBuilder()
    x = builder.tensor((1, 4, 4, 2), "float32")
    same = {"padding": "SAME", "stride_h": 1, "stride_w": 1}
    y = add_layer(
        builder,
        rng,
        "DEPTHWISE_CONV_2D",
        x,
        (1, 3, 3, 2),
        (1, 4, 4, 2),
        per_channel=False,
        **same,
    )
    with pytest.raises(CodegenError, match=r"has 1 scales .* weights quantised per channel"):
        assert_equal({"refused": builder.build([x], [y])}, Path(), rng)
