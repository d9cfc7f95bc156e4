"""LEAKY_RELU with any slope."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.ops.equality import assert_equal
from tests.ops.unary import (
    ALL_INT16,
    ZERO_POINTS,
    Unary,
    assert_tables_equal,
    compiled_outputs,
    random_quant,
    unary_model,
)
from tests.oracle import run_reference

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
    unsigned = [
        Unary(
            "LEAKY_RELU",
            random_quant(rng, dtype="uint8"),
            random_quant(rng, dtype="uint8"),
            {"alpha": alpha},
            ("uint8", "uint8"),
        )
        for alpha in ALPHAS
        for _ in range(5)
    ]
    assert_tables_equal(cases + ties + unsigned)


def test_int16(tmp_path: Path, rng: np.random.Generator) -> None:
    """Every code under scales far apart."""
    types = ("int16", "int16")
    cases = [
        Unary("LEAKY_RELU", (x, 0), (y, 0), {"alpha": alpha}, types, (65536,))
        for alpha in ALPHAS
        for x, y in ((0.01, 0.01), (1e-3, 7e-4), (3e-4, 0.1))
    ]
    inputs = [ALL_INT16] * len(cases)
    data = unary_model(cases)
    outputs = compiled_outputs(data, inputs, tmp_path)
    for case, raw, wanted in zip(cases, outputs, run_reference(data, [inputs])[0], strict=True):
        np.testing.assert_array_equal(np.frombuffer(raw, np.int16), wanted, err_msg=str(case))


def test_compiled(tmp_path: Path, rng: np.random.Generator) -> None:
    grid = [
        Unary("LEAKY_RELU", (0.05, z), (0.04, -z - 1), {"alpha": alpha}, shape=(3, 1, 7))
        for z in ZERO_POINTS
        for alpha in ALPHAS
    ]
    assert_equal({"grid": unary_model(grid)}, tmp_path, rng)
