"""float32 CONV_2D, DEPTHWISE_CONV_2D, FULLY_CONNECTED and pools: the reference's bits on a PC."""

from __future__ import annotations

import platform
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen.errors import CodegenError
from tests.ops.equality import assert_equal
from tests.ops.floats import FloatOp, float_model
from tests.ops.windows import ACTIVATIONS, size_out

Pair = tuple[int, int]
MAPS: tuple[Pair, ...] = ((7, 8), (8, 7), (5, 5), (1, 9), (9, 1))


def window(
    op: str,
    *,
    image: Pair = (7, 8),
    batch: int = 1,
    channels: int = 4,
    out: int = 5,
    kernel: Pair = (3, 3),
    stride: Pair = (1, 1),
    dilation: Pair = (1, 1),
    padding: str = "SAME",
    activation: str = "NONE",
    groups: int = 1,
    bias: bool = True,
) -> FloatOp:
    """A convolution or pool; `out` is the depth multiplier of a depthwise one."""
    made = [
        size_out(n, k, s, d, padding)
        for n, k, s, d in zip(image, kernel, stride, dilation, strict=True)
    ]
    options: dict[str, Any] = {
        "padding": padding,
        "stride_h": stride[0],
        "stride_w": stride[1],
        "fused_activation_function": activation,
    }
    constants: list[tuple[int, ...]] = []
    if op.endswith("POOL_2D"):
        out = channels
        options |= {"filter_height": kernel[0], "filter_width": kernel[1]}
    else:
        options |= {"dilation_h_factor": dilation[0], "dilation_w_factor": dilation[1]}
        if op == "DEPTHWISE_CONV_2D":
            options["depth_multiplier"] = out
            out *= channels
            constants = [(1, *kernel, out)]
        else:
            constants = [(out, *kernel, channels // groups)]
        constants += [(out,)] * bias
    return FloatOp(op, [(batch, *image, channels)], (batch, *made, out), constants, options)


CONVOLUTIONS: list[dict[str, Any]] = [
    {},
    {"out": 8},
    {"batch": 3, "out": 9},
    {"channels": 6, "groups": 3, "out": 12},
    {"channels": 8, "groups": 2, "out": 6},
    {"dilation": (2, 3), "image": (11, 13)},
    {"dilation": (5, 6), "image": (3, 4)},
    {"dilation": (2, 2), "padding": "VALID", "image": (9, 10)},
    {"kernel": (1, 1), "channels": 33, "out": 17},
    {"kernel": (2, 2), "stride": (3, 4), "image": (9, 9)},
    {"kernel": (10, 4), "stride": (2, 1), "image": (49, 10), "channels": 1},
    *({"activation": a, "out": 4} for a in ACTIVATIONS),
]
GRID: list[dict[str, Any]] = [
    {"image": image, "kernel": (k, k), "stride": (s, s), "padding": padding, "activation": act}
    for image in MAPS
    for k in (1, 2, 3, 5)
    for s in (1, 2, 3)
    for padding, act in (("SAME", "NONE"), ("VALID", "RELU6"))
    if padding == "SAME" or min(image) >= k
]
OPERATORS = ("CONV_2D", "DEPTHWISE_CONV_2D", "AVERAGE_POOL_2D", "MAX_POOL_2D", "L2_POOL_2D")


def cases(op: str, sample: Callable[[Any, int], Any]) -> list[FloatOp]:
    corners = CONVOLUTIONS if op == "CONV_2D" else [{"batch": 3}, {"activation": "RELU_N1_TO_1"}]
    if op == "DEPTHWISE_CONV_2D":
        corners += [{"out": 1}, {"out": 3, "bias": False}, {"dilation": (2, 3), "out": 2}]
    return [window(op, **c) for c in [*corners, *sample(GRID, 10)]]


def dense(shape: tuple[int, ...], units: int, *, keep: bool = False, bias: bool = True) -> FloatOp:
    depth = shape[-1]
    rows = int(np.prod(shape)) // depth
    output = (*shape[:-1], units) if keep else (rows, units)
    constants: list[tuple[int, ...] | None] = [(units, depth), (units,) if bias else None]
    options = {"keep_num_dims": keep, "fused_activation_function": "RELU" if keep else "NONE"}
    return FloatOp("FULLY_CONNECTED", [shape], output, constants, options)


DENSE = [
    dense((1, 16), 5),
    dense((16,), 4),
    dense((3, 300), 13),
    dense((1, 1), 1),
    dense((2, 3, 7), 6, keep=True),
    dense((2, 1, 3, 2, 7), 3, keep=True),
    dense((5, 9), 8, bias=False),
]


@pytest.mark.parametrize("op", OPERATORS)
def test_sweep(
    op: str, tmp_path: Path, rng: np.random.Generator, sample: Callable[[Any, int], Any]
) -> None:
    assert_equal({op: float_model(cases(op, sample), rng)}, tmp_path, rng, specials=4)


def test_fully_connected(tmp_path: Path, rng: np.random.Generator) -> None:
    assert_equal({"dense": float_model(DENSE, rng)}, tmp_path, rng, specials=4)


def test_sanitized(tmp_path: Path, rng: np.random.Generator) -> None:
    chosen = [window(op, **c) for op in OPERATORS for c in GRID[::23]] + DENSE[2:5]
    models = {"mixed": float_model(chosen, rng)}
    assert_equal(models, tmp_path, rng, samples=1, specials=2, sanitize=True)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="names flags of that machine")
def test_fused_instructions_change_nothing(tmp_path: Path, rng: np.random.Generator) -> None:
    """With all that this processor has, FMA included, and the compiler at its boldest."""
    chosen = [window(op, channels=16) for op in OPERATORS] + DENSE[2:5]
    flags = ("-O3", "-march=native")
    assert_equal({"all": float_model(chosen, rng)}, tmp_path, rng, specials=2, flags=flags)


def test_a_float_layer_with_another_bias_is_refused(rng: np.random.Generator) -> None:
    case = FloatOp(
        "FULLY_CONNECTED",
        [(1, 8)],
        (1, 4),
        [(4, 8), np.zeros(4, np.int32)],
        {"keep_num_dims": True},
    )
    with pytest.raises(CodegenError, match=r"operator 0 FULLY_CONNECTED .*only float32"):
        assert_equal({"refused": float_model([case], rng)}, Path(), rng)
