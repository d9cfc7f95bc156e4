"""AVERAGE_POOL_2D and MAX_POOL_2D against the reference: windows, activations, edge sizes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen.errors import CodegenError
from tests.ops.equality import assert_equal
from tests.ops.windows import ACTIVATIONS, size_out
from tests.tflite_builder import ModelBuilder

KINDS = ("AVERAGE_POOL_2D", "MAX_POOL_2D")


def add_pool(
    builder: ModelBuilder,
    kind: str,
    *,
    in_shape: tuple[int, ...] = (1, 7, 8, 4),
    kernel: tuple[int, int] = (2, 2),
    stride: tuple[int, int] = (2, 2),
    padding: str = "SAME",
    activation: str = "NONE",
    scales: tuple[float, float] = (0.05, 0.05),
    zero_points: tuple[int, int] = (-3, -3),
    dtype: str = "int8",
) -> tuple[int, int]:
    """One pool with an input and an output of its own."""
    x = builder.tensor(in_shape, dtype, scale=scales[0], zero_point=zero_points[0])
    height, width = (size_out(in_shape[1 + i], kernel[i], stride[i], 1, padding) for i in (0, 1))
    out_shape = (in_shape[0], height, width, in_shape[-1])
    y = builder.tensor(out_shape, dtype, scale=scales[1], zero_point=zero_points[1])
    builder.op(
        kind,
        [x],
        [y],
        version=2,
        padding=padding,
        stride_h=stride[0],
        stride_w=stride[1],
        filter_height=kernel[0],
        filter_width=kernel[1],
        fused_activation_function=activation,
    )
    return x, y


def pool_model(kind: str, **config: Any) -> bytes:
    """A model of one pool."""
    return pools_model([(kind, config)])


def pools_model(cases: Sequence[tuple[str, dict[str, Any]]]) -> bytes:
    """A model of pools side by side."""
    builder = ModelBuilder()
    ends = [add_pool(builder, kind, **config) for kind, config in cases]
    return builder.build([x for x, _ in ends], [y for _, y in ends])


CORNERS: list[dict[str, Any]] = [
    {"in_shape": (1, 1, 9, 3), "kernel": (1, 3)},
    {"in_shape": (1, 9, 1, 3), "kernel": (3, 1), "stride": (1, 1)},
    {"in_shape": (1, 1, 1, 8), "kernel": (1, 1)},
    {"in_shape": (1, 1, 1, 8), "kernel": (3, 5), "stride": (1, 1)},
    {"in_shape": (3, 5, 6, 2), "kernel": (3, 3)},
    {"in_shape": (1, 9, 9, 2), "stride": (3, 4)},
    {"in_shape": (1, 25, 5, 7), "kernel": (25, 5), "padding": "VALID"},
    {"in_shape": (1, 25, 5, 7), "kernel": (24, 5), "padding": "VALID", "stride": (1, 1)},
    {"in_shape": (2, 60, 60, 1), "kernel": (60, 60), "stride": (60, 60)},
    {"zero_points": (-128, -128), "activation": "RELU"},
    {"zero_points": (127, 127), "activation": "RELU_N1_TO_1"},
    {"activation": "RELU6", "kernel": (3, 2)},
    {"scales": (0.05, 0.2), "activation": "RELU6"},
    {"zero_points": (0, 9), "activation": "RELU"},
    {"scales": (1e-3, 1e-3)},
    {"scales": (1e3, 1e3), "activation": "RELU6"},
    *(
        {"in_shape": (1, h, w, 3), "kernel": (3, 3), "activation": activation}
        for h, w, activation in ((8, 8, "NONE"), (7, 8, "RELU"), (8, 7, "RELU6"), (49, 10, "NONE"))
    ),
]

GRID: list[dict[str, Any]] = [
    {
        "in_shape": (1, h, w, 4),
        "kernel": (k, 1 + k % 3),
        "stride": (s, t),
        "padding": padding,
        "activation": ACTIVATIONS[(h + k + s + t) % 4],
    }
    for h, w in ((7, 8), (8, 7), (5, 5))
    for k in (1, 2, 3, 5)
    for s, t in ((1, 1), (2, 2), (1, 2), (3, 1))
    for padding in ("SAME", "VALID")
]


@pytest.mark.parametrize("kind", KINDS)
def test_sweep(
    kind: str, tmp_path: Path, rng: np.random.Generator, sample: Callable[[Any, int], Any]
) -> None:
    chosen = [*CORNERS, *sample(GRID, 12)]
    cases = {f"{i} {c}": pool_model(kind, **c) for i, c in enumerate(chosen)}
    assert_equal(cases, tmp_path, rng)


def test_sanitized(tmp_path: Path, rng: np.random.Generator) -> None:
    cases = {f"{kind} {c}": pool_model(kind, **c) for kind in KINDS for c in CORNERS[:12]}
    assert_equal(cases, tmp_path, rng, samples=1, sanitize=True)


def test_other_types(tmp_path: Path, rng: np.random.Generator) -> None:
    cases = {}
    for dtype, zero_point in (("uint8", 120), ("uint8", 255), ("int16", 0)):
        quant = {"dtype": dtype, "zero_points": (zero_point, zero_point)}
        chosen = [{**c, **quant} for c in [*CORNERS[:13:2], *GRID[::24]]]
        model = pools_model([(kind, config) for kind in KINDS for config in chosen])
        cases[f"{dtype} {zero_point}"] = model
    assert_equal(cases, tmp_path, rng, sanitize=True)


@pytest.mark.parametrize("scale", [1e-9, 1e-42])
def test_a_bound_beyond_all_integers_is_none(
    scale: float, tmp_path: Path, rng: np.random.Generator
) -> None:
    """The reference refuses such a scale; without the upper bound it does the same."""
    config: dict[str, Any] = {"scales": (scale, scale)}
    case = pool_model("MAX_POOL_2D", activation="RELU6", **config)
    same = pool_model("MAX_POOL_2D", activation="RELU", **config)
    assert_equal({"case": case}, tmp_path, rng, reference={"case": same})


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"dtype": "int32"}, "is int32; only int8 or uint8 or int16 or float32 is"),
        (
            {"dtype": "int16", "in_shape": (1, 300, 300, 1), "kernel": (300, 300)},
            "sums of 90000 codes may not fit into 32 bits",
        ),
        ({"activation": "SIGN_BIT"}, "fused activation SIGN_BIT is not supported"),
        ({"stride": (0, 1)}, "kernel 2, stride 0 or dilation 1 is below 1"),
        ({"kernel": (0, 1)}, "kernel 0, stride 2 or dilation 1 is below 1"),
        ({"padding": "VALID", "in_shape": (1, 1, 8, 4)}, "window of 2 does not fit into 1"),
        ({"in_shape": (4, 4, 4)}, "must have four dimensions"),
    ],
)
def test_refusals(
    kind: str, config: dict[str, Any], message: str, tmp_path: Path, rng: np.random.Generator
) -> None:
    with pytest.raises(CodegenError, match=rf"operator 0 {kind}.*{message}"):
        assert_equal({"refused": pool_model(kind, **config)}, tmp_path, rng)
