"""int4 weights, packed by twos in the file, under int8 and int16 data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen.ops.requantize import unpacked_int4
from tests.ops.equality import assert_equal
from tests.ops.weighted import Format, layers_of, paired, weighted_model

NARROW = Format("int8", "int4", "int32", (-3, 0, 7))
WIDE = Format("int16", "int4", "int64", scale_in=1e-3)
FORMATS = (NARROW, WIDE, replace(NARROW, per_channel=False), replace(WIDE, extreme_weights=True))
"""The reference has no int16 data for DEPTHWISE_CONV_2D: it takes packed weights for bytes."""


@pytest.mark.parametrize("op", ["CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED"])
def test_sweep(
    op: str, tmp_path: Path, rng: np.random.Generator, sample: Callable[[Any, int], Any]
) -> None:
    """Among the layers are some with an odd number of weights."""
    forms = FORMATS[::2] if op == "DEPTHWISE_CONV_2D" else FORMATS
    model = weighted_model(rng, *paired(layers_of(op, sample), forms))
    assert_equal({op: model}, tmp_path, rng, sanitize=True)


def test_elements_come_lower_bits_first() -> None:
    assert unpacked_int4(bytes([0x7F, 0x08]), (3,)).tolist() == [-1, 7, -8]
