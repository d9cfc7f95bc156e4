"""LEAKY_RELU with any slope."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.ops.equality import assert_equal
from tests.ops.unary import ZERO_POINTS, Unary, assert_tables_equal, random_quant, unary_model

ALPHAS = (0.3, 0.01, 0.0, 1.0, 1.7, -0.5)


def test_every_code_under_random_quantisations(rng: np.random.Generator) -> None:
    cases = [
        Unary("LEAKY_RELU", random_quant(rng), random_quant(rng), {"alpha": alpha})
        for alpha in (*ALPHAS, *rng.uniform(-2, 2, 6).astype(np.float32))
        for _ in range(15)
    ]
    ties = [
        Unary("LEAKY_RELU", (0.125, z), (0.25, -128), {"alpha": alpha})
        for alpha in (0.625, -0.625, -1.0, -0.15625)
        for z in (0, 127)
    ]
    assert_tables_equal(cases + ties)


def test_compiled(tmp_path: Path, rng: np.random.Generator) -> None:
    grid = [
        Unary("LEAKY_RELU", (0.05, z), (0.04, -z - 1), {"alpha": alpha}, shape=(3, 1, 7))
        for z in ZERO_POINTS
        for alpha in ALPHAS
    ]
    assert_equal({"grid": unary_model(grid)}, tmp_path, rng)
