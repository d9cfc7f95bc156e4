"""HARD_SWISH: tables of every code, and what the reference refuses."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from codegen.errors import CodegenError
from tests.ops.equality import assert_equal
from tests.ops.unary import ZERO_POINTS, Unary, assert_tables_equal, lowered, random_quant
from tests.ops.unary import unary_model as model


def test_every_code_under_random_quantisations(rng: np.random.Generator) -> None:
    """Output scales from a 50th of the input's to 20 times it."""
    cases = []
    for _ in range(150):
        x = random_quant(rng, low=1e-3, high=2.0)
        y = random_quant(rng, low=x[0] / 50, high=x[0] * 20)
        cases.append(Unary("HARD_SWISH", x, y))
    for _ in range(50):
        x = random_quant(rng, low=1e-3, high=2.0, dtype="uint8")
        y = random_quant(rng, low=x[0] / 50, high=x[0] * 20, dtype="uint8")
        cases.append(Unary("HARD_SWISH", x, y, types=("uint8", "uint8")))
    assert_tables_equal(cases)


def test_scales_of_input_and_output_that_are_far_apart(rng: np.random.Generator) -> None:
    """Shifts by 16 bits and more, where the reference's 16-bit arithmetic overflows."""
    cases = []
    for exponent in range(-30, 8):
        x = (2.0**exponent * rng.uniform(1, 2), int(rng.integers(-128, 128)))
        for ratio in (0.1, 30.0, 2.0**9, 2.0**12, 1e6, 1e8):
            y = (x[0] * ratio * rng.uniform(1, 2), int(rng.integers(-128, 128)))
            cases.append(Unary("HARD_SWISH", x, y))
    assert_tables_equal(cases)


def test_compiled(tmp_path: Path, rng: np.random.Generator) -> None:
    grid = [
        Unary("HARD_SWISH", (0.05, zx), (0.04, zy), shape=(3, 5, 7))
        for zx in ZERO_POINTS
        for zy in ZERO_POINTS
    ]
    assert_equal({"grid": model(grid)}, tmp_path, rng)


def test_an_output_scale_too_fine_for_the_reference_is_refused() -> None:
    case = Unary("HARD_SWISH", (1.0, 0), (1 / 128, 0))
    with pytest.raises(CodegenError, match=r"operator 0 HARD_SWISH .*128 times"):
        lowered(case)
