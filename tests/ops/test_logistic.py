"""LOGISTIC: tables of every code, and what the reference refuses."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from codegen.errors import CodegenError
from tests.ops.equality import assert_equal
from tests.ops.sigmoid import assert_int16_equal
from tests.ops.unary import (
    SYMMETRIC,
    ZERO_POINTS,
    Unary,
    assert_tables_equal,
    lowered,
    random_quant,
)
from tests.ops.unary import unary_model as model


def test_every_code_under_random_quantisations(rng: np.random.Generator) -> None:
    """Up to inputs so large that the exponential overflows."""
    cases = [
        Unary("LOGISTIC", random_quant(rng, high=high), (1 / 256, zero))
        for high in (0.1, 1.0, 100.0)
        for zero in (-128, -128, -5)
        for _ in range(20)
    ]
    unsigned = [
        Unary(
            "LOGISTIC",
            random_quant(rng, high=high, dtype="uint8"),
            (1 / 256, 0),
            types=("uint8", "uint8"),
        )
        for high in (0.1, 1.0, 100.0)
        for _ in range(10)
    ]
    assert_tables_equal(cases + unsigned)


def test_compiled(tmp_path: Path, rng: np.random.Generator) -> None:
    grid = [
        Unary("LOGISTIC", (scale, z), (1 / 256, -128), shape=(3, 5, 7))
        for z in ZERO_POINTS
        for scale in (0.01, 0.05, 0.3)
    ]
    assert_equal({"grid": model(grid)}, tmp_path, rng)


def test_int16(tmp_path: Path, rng: np.random.Generator) -> None:
    assert_int16_equal("LOGISTIC", tmp_path, rng)


def test_an_output_scale_other_than_a_256th_is_refused() -> None:
    with pytest.raises(CodegenError, match=r"operator 0 LOGISTIC .*0\.005 where only 1/256"):
        lowered(Unary("LOGISTIC", (0.1, 0), (0.005, -128)))


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ((0.1, 0), (1 / 256, 0), "0.00390625 where only 1/32768 is defined"),
        ((0.1, 3), SYMMETRIC, "is int16 with the zero point 3"),
        ((6.0, 0), SYMMETRIC, "input has the scale 6; quantise"),
    ],
)
def test_int16_refusals(x: tuple[float, int], y: tuple[float, int], message: str) -> None:
    with pytest.raises(CodegenError, match=rf"operator 0 LOGISTIC .*{message}"):
        lowered(Unary("LOGISTIC", x, y, types=("int16", "int16")))
