"""TANH: tables of every code under any output scale."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from codegen.errors import CodegenError
from tests.ops.equality import assert_equal
from tests.ops.sigmoid import assert_int16_equal
from tests.ops.unary import (
    ALL_CODES,
    SYMMETRIC,
    ZERO_POINTS,
    Unary,
    lowered,
    random_quant,
    reference_table,
    table_of,
    unary_model,
)


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_every_code_under_random_quantisations(dtype: str, rng: np.random.Generator) -> None:
    """Codes within 1e-4 of a tie are left out: C libraries' tanhf differ there."""
    codes = ALL_CODES.view(dtype).astype(float)
    for _ in range(100):
        x, y = (random_quant(rng, high=high, dtype=dtype) for high in (20.0, 0.05))
        case = Unary("TANH", x, y, types=(dtype, dtype))
        real = np.tanh((codes - x[1]) * x[0]) / y[0]
        clear = np.abs(np.abs(real) % 1 - 0.5) > 1e-4
        np.testing.assert_array_equal(
            table_of(case)[clear], reference_table(case)[clear], err_msg=str(case)
        )


def test_compiled(tmp_path: Path, rng: np.random.Generator) -> None:
    grid = [
        Unary("TANH", (scale, z), (1 / 128, 0), shape=(3, 5, 7))
        for z in ZERO_POINTS
        for scale in (0.01, 0.05, 0.3)
    ]
    assert_equal({"grid": unary_model(grid)}, tmp_path, rng)


def test_int16(tmp_path: Path, rng: np.random.Generator) -> None:
    assert_int16_equal("TANH", tmp_path, rng)


def test_a_scale_without_an_inverse_is_refused() -> None:
    with pytest.raises(CodegenError, match=r"operator 0 TANH .*too small to divide by"):
        lowered(Unary("TANH", (0.1, 0), (1e-39, 0)))


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ((0.1, 0), (1 / 256, 0), "0.00390625 where only 1/32768 is defined"),
        ((0.1, 0), (1 / 32768, 3), "is int16 with the zero point 3"),
        ((6.0, 0), SYMMETRIC, "input has the scale 6; quantise"),
    ],
)
def test_int16_refusals(x: tuple[float, int], y: tuple[float, int], message: str) -> None:
    with pytest.raises(CodegenError, match=rf"operator 0 TANH .*{message}"):
        lowered(Unary("TANH", x, y, types=("int16", "int16")))
