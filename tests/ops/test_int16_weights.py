"""int16 data with int8 weights: CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen.errors import CodegenError
from tests.ops.equality import assert_equal
from tests.ops.weighted import Format, Layer, layers_of, paired, weighted_model

WIDE = Format("int16", "int8", "int64", scale_in=1e-3)
NARROW = replace(WIDE, bias="int32")
FORMATS = (
    WIDE,
    replace(WIDE, per_channel=False),
    replace(WIDE, scale_out=0.01),
    replace(WIDE, scale_out=10.0),
    replace(WIDE, bias_range=2**40, scale_out=1e6),
    replace(WIDE, extreme_weights=True, scale_out=2.0),
)
KINDS = ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED")


def formats_of(op: str) -> list[Format]:
    """The reference has no int32 bias for DEPTHWISE_CONV_2D, and no absent one for CONV_2D."""
    more = [] if op == "DEPTHWISE_CONV_2D" else [NARROW, replace(NARROW, per_channel=False)]
    return [*FORMATS, *more, *([] if op == "CONV_2D" else [replace(WIDE, bias="")])]


@pytest.mark.parametrize("op", KINDS)
def test_sweep(
    op: str, tmp_path: Path, rng: np.random.Generator, sample: Callable[[Any, int], Any]
) -> None:
    model = weighted_model(rng, *paired(layers_of(op, sample), formats_of(op)))
    assert_equal({op: model}, tmp_path, rng, samples=6, sanitize=True)


def test_absent_bias_is_a_bias_of_zeros(tmp_path: Path, seed: int) -> None:
    """The reference wants a bias for CONV_2D, so zeros stand in for it there."""
    layer = Layer("CONV_2D")
    absent, zeros = (replace(WIDE, bias="", bias_range=1), replace(WIDE, bias_range=0))
    case = weighted_model(np.random.default_rng(seed), (layer, absent))
    same = weighted_model(np.random.default_rng(seed), (layer, zeros))
    rng = np.random.default_rng(seed)
    assert_equal({"absent": case}, tmp_path, rng, reference={"absent": same})


@pytest.mark.parametrize("op", KINDS)
@pytest.mark.parametrize(
    ("form", "message"),
    [
        (replace(WIDE, zero_points=(5, 0, 0)), "is int16 with the zero point 5; only 0 is defined"),
        (replace(WIDE, zero_points=(0, 0, -3)), "is int16 with the zero point -3"),
        (replace(WIDE, weights="uint8"), "is uint8; only int8 "),
        (replace(WIDE, bias="int16"), "is int16; only int64 or int32 is supported here"),
        (replace(WIDE, bias_range=2**50), "its sums can reach .*; make its biases smaller"),
        (replace(WIDE, scale_out=1e-12), "quantise the model again"),
    ],
)
def test_refusals(
    op: str, form: Format, message: str, tmp_path: Path, rng: np.random.Generator
) -> None:
    layer = Layer(op, (1, 6) if op == "FULLY_CONNECTED" else (1, 4, 4, 2))
    with pytest.raises(CodegenError, match=rf"operator 0 {op}.*{message}"):
        assert_equal({"refused": weighted_model(rng, (layer, form))}, tmp_path, rng)
