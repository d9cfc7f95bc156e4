"""PAD in front of convolutions: gone where exact, kept where not, equal bytes in both cases."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.ops.equality import assert_equal
from tests.passes.layers import planned_ops
from tests.tflite_builder import ModelBuilder

Pads = Sequence[tuple[int, int]]


def out_size(size: int, kernel: int, stride: int, dilation: int, padding: str) -> int:
    span = (kernel - 1) * dilation + 1
    return -(-size // stride) if padding == "SAME" else -(-(size - span + 1) // stride)


def add_convolution(
    builder: ModelBuilder,
    rng: np.random.Generator,
    x: int,
    shape: Sequence[int],
    *,
    kernel: int = 3,
    stride: int = 1,
    dilation: int = 1,
    padding: str = "VALID",
    depthwise: bool = False,
) -> int:
    """A convolution with random weights over `x` of that shape; gives its output."""
    n, h, w, c = shape
    channels = c if depthwise else 4
    filters = (1, kernel, kernel, c) if depthwise else (channels, kernel, kernel, c)
    weights = builder.tensor(
        filters, scale=0.01, zero_point=0, data=rng.integers(-127, 128, filters)
    )
    bias = builder.tensor(
        (channels,), "int32", scale=0.001, data=rng.integers(-1000, 1000, channels)
    )
    sizes = [out_size(size, kernel, stride, dilation, padding) for size in (h, w)]
    y = builder.tensor((n, *sizes, channels), scale=0.5, zero_point=-4)
    options: dict[str, Any] = {"depth_multiplier": 1} if depthwise else {}
    builder.op(
        "DEPTHWISE_CONV_2D" if depthwise else "CONV_2D",
        [x, weights, bias],
        [y],
        padding=padding,
        stride_h=stride,
        stride_w=stride,
        dilation_h_factor=dilation,
        dilation_w_factor=dilation,
        **options,
    )
    return y


def add_pad(
    builder: ModelBuilder,
    x: int,
    shape: Sequence[int],
    pads: Pads,
    *,
    value: int | None = None,
    scale: float = 0.1,
) -> tuple[int, list[int]]:
    """PAD, or PADV2 with `value`, of `x`; gives its output and shape."""
    padded = [size + sum(pad) for size, pad in zip(shape, pads, strict=True)]
    inputs = [x, builder.tensor((4, 2), "int32", data=pads)]
    if value is not None:
        inputs.append(builder.tensor((), scale=scale, zero_point=3, data=np.int8(value)))
    y = builder.tensor(padded, scale=scale, zero_point=3)
    builder.op("PAD" if value is None else "PADV2", inputs, [y])
    return y, padded


def model(
    rng: np.random.Generator,
    shape: Sequence[int],
    pads: Pads,
    *,
    value: int | None = None,
    scale: float = 0.1,
    **convolution: Any,
) -> bytes:
    builder = ModelBuilder()
    x = builder.tensor(shape, scale=0.1, zero_point=3)
    padded, padded_shape = add_pad(builder, x, shape, pads, value=value, scale=scale)
    y = add_convolution(builder, rng, padded, padded_shape, **convolution)
    return builder.build([x], [y])


def hw(top: int, bottom: int, left: int, right: int) -> Pads:
    return [(0, 0), (top, bottom), (left, right), (0, 0)]


def sweep() -> list[tuple[Sequence[int], Pads, dict[str, Any]]]:
    maps = [(1, 7, 8, 3), (1, 1, 9, 2), (3, 6, 5, 2), (1, 10, 1, 4)]
    pads = [hw(1, 1, 1, 1), hw(0, 1, 0, 1), hw(3, 0, 2, 5), hw(4, 4, 4, 4)]
    return [
        (shape, pad, {"kernel": k, "stride": s, "padding": padding, "depthwise": depthwise})
        for shape in maps
        for pad in pads
        for k in (1, 2, 3)
        for s in (1, 2, 3)
        for padding in ("VALID", "SAME")
        for depthwise in (False, True)
        if padding == "SAME" or all(shape[i] + sum(pad[i]) >= k for i in (1, 2))
    ]


def test_padding_moves_into_the_window(
    tmp_path: Path, rng: np.random.Generator, sample: Callable[[Any, int], Any]
) -> None:
    chosen = sample(sweep(), 32)
    cases = {f"{i} {c}": model(rng, *c[:2], **c[2]) for i, c in enumerate(chosen)}
    dilated = {"kernel": 3, "dilation": 2}
    cases["dilated"] = model(rng, (1, 7, 8, 3), hw(2, 2, 2, 2), **dilated)
    cases["dilated, uneven"] = model(rng, (1, 7, 8, 3), hw(0, 3, 1, 0), **dilated, stride=2)
    cases["PADV2"] = model(rng, (1, 7, 8, 3), hw(1, 1, 1, 1), value=3)
    for label, data in cases.items():
        assert len(planned_ops(data)) == 1, label
    assert_equal(cases, tmp_path, rng, samples=2)


KEPT: dict[str, tuple[Pads, dict[str, Any]]] = {
    "channels": ([(0, 0), (1, 1), (1, 1), (0, 1)], {}),
    "images": ([(1, 0), (1, 1), (1, 1), (0, 0)], {}),
    "another value than the zero point": (hw(1, 1, 1, 1), {"value": 4}),
    "another scale behind the padding": (hw(1, 1, 1, 1), {"scale": 0.2}),
}


def test_padding_stays_where_it_must(tmp_path: Path, rng: np.random.Generator) -> None:
    cases = {label: model(rng, (1, 5, 6, 3), pads, **more) for label, (pads, more) in KEPT.items()}
    for label, data in cases.items():
        assert len(planned_ops(data)) == 2, label
    assert_equal(cases, tmp_path, rng, samples=2)


@pytest.mark.parametrize("shared", ["both convolutions", "an output", "a pooling"])
def test_other_readers_of_the_padded_map(
    shared: str, tmp_path: Path, rng: np.random.Generator
) -> None:
    builder = ModelBuilder()
    shape = (1, 5, 6, 3)
    x = builder.tensor(shape, scale=0.1, zero_point=3)
    padded, padded_shape = add_pad(builder, x, shape, hw(1, 1, 1, 1))
    outputs = [add_convolution(builder, rng, padded, padded_shape)]
    if shared == "both convolutions":
        outputs.append(add_convolution(builder, rng, padded, padded_shape, depthwise=True))
    elif shared == "an output":
        outputs.append(padded)
    else:
        pooled = builder.tensor((1, 3, 4, 3), scale=0.1, zero_point=3)
        window = {"stride_h": 2, "stride_w": 2, "filter_height": 3, "filter_width": 2}
        builder.op("MAX_POOL_2D", [padded], [pooled], padding="VALID", **window)
        outputs.append(pooled)
    data = builder.build([x], outputs)
    assert ("PAD" in planned_ops(data)) == (shared != "both convolutions")
    assert_equal({shared: data}, tmp_path, rng)


@pytest.mark.parametrize("weights", ["float32", "int8"])
def test_floats(weights: str, tmp_path: Path, rng: np.random.Generator) -> None:
    """Zeros before a float layer, also before one that quantises its input when it runs."""
    builder = ModelBuilder()
    x = builder.tensor((2, 5, 6, 3), "float32")
    pads = builder.tensor((4, 2), "int32", data=[(0, 0), (1, 2), (0, 1), (0, 0)])
    padded = builder.tensor((2, 8, 7, 3), "float32")
    builder.op("PAD", [x, pads], [padded])
    scales = [0.01, 0.02, 0.03, 0.04] if weights == "int8" else None
    values = rng.integers(-127, 128, (4, 3, 3, 3))
    w = builder.tensor((4, 3, 3, 3), weights, scales, data=values)
    bias = builder.tensor((4,), "float32", data=rng.normal(0, 1, 4))
    y = builder.tensor((2, 6, 5, 4), "float32")
    builder.op("CONV_2D", [padded, w, bias], [y], padding="VALID", stride_h=1, stride_w=1)
    model = builder.build([x], [y])
    assert planned_ops(model) == ["CONV_2D"]
    assert_equal({weights: model}, tmp_path, rng)
