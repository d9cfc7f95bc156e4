"""uint8 data and weights: CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED."""

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

BYTES = Format("uint8", "uint8", "int32", (120, 133, 110), per_channel=False)
FORMATS = (
    BYTES,
    replace(BYTES, zero_points=(0, 0, 0)),
    replace(BYTES, zero_points=(255, 255, 255)),
    replace(BYTES, zero_points=(0, 255, 128), scale_out=0.02),
    replace(BYTES, scale_out=20.0),
    replace(BYTES, scale_out=1e-4, extreme_weights=True),
)
KINDS = ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED")


@pytest.mark.parametrize("op", KINDS)
def test_sweep(
    op: str, tmp_path: Path, rng: np.random.Generator, sample: Callable[[Any, int], Any]
) -> None:
    forms = FORMATS if op == "CONV_2D" else (*FORMATS, replace(BYTES, bias=""))
    model = weighted_model(rng, *paired(layers_of(op, sample), forms))
    assert_equal({op: model}, tmp_path, rng, samples=6, sanitize=True)


@pytest.mark.parametrize("op", KINDS)
@pytest.mark.parametrize(
    ("form", "message"),
    [
        (replace(BYTES, weights="int8", zero_points=(9, 0, 9)), "is int8; only uint8 "),
        (replace(BYTES, per_channel=True), "has a scale per channel where one is expected"),
        (replace(BYTES, bias="int64"), "is int64; only int32 is supported here"),
    ],
)
def test_refusals(
    op: str, form: Format, message: str, tmp_path: Path, rng: np.random.Generator
) -> None:
    layer = Layer(op, (1, 6) if op == "FULLY_CONNECTED" else (1, 4, 4, 2))
    with pytest.raises(CodegenError, match=rf"operator 0 {op}.*{message}"):
        assert_equal({"refused": weighted_model(rng, (layer, form))}, tmp_path, rng)
