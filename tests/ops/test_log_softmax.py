"""LOG_SOFTMAX of int8 and uint8 against the reference; floats are with the float operators."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from codegen.errors import CodegenError
from tests.ops.equality import assert_equal
from tests.ops.unary import Unary, lowered, unary_model

OP = "LOG_SOFTMAX"
RESULTS = {"int8": (1 / 16, 127), "uint8": (1 / 16, 255)}
SCALES = (1e-3, 0.01, 0.05, 0.3, 2.0, 40.0)


def codes(dtype: str, shape: tuple[int, ...], scale: float, zero_point: int = 3) -> Unary:
    return Unary(OP, (scale, zero_point), RESULTS[dtype], types=(dtype, dtype), shape=shape)


@pytest.mark.parametrize("sanitize", [False, True])
def test_sweep(sanitize: bool, tmp_path: Path, rng: np.random.Generator) -> None:
    shapes = ((7,), (5, 1), (40, 2), (3, 5, 33), (2, 3, 300), (2, 1, 3, 2, 5))
    grid = [codes(dtype, shape, scale) for dtype in RESULTS for shape in shapes for scale in SCALES]
    chosen = grid[::5] if sanitize else grid
    assert_equal({"codes": unary_model(chosen)}, tmp_path, rng, sanitize=sanitize)


def test_sums_of_every_size(tmp_path: Path, rng: np.random.Generator) -> None:
    """From a single class that counts to all of them equal, at depths up to the largest."""
    depths = (2, 3, 17, 500, 4095)
    cases = [codes("int8", (40, depth), scale) for depth in depths for scale in (0.02, 0.2)]
    spreads = np.linspace(0, 127, 40)
    sets = [
        [(127 - rng.random(case.shape) * spreads[:, np.newaxis]).astype(np.int8) for case in cases]
    ]
    assert_equal({"sums": unary_model(cases)}, tmp_path, rng, inputs={"sums": sets})


@pytest.mark.parametrize(
    ("case", "message"),
    [
        (Unary(OP, (0.1, 0), (0.1, 0)), "where only 1/16 and 127 are defined"),
        (codes("int8", (4096,), 0.1), "4096 classes are more than 4095; split"),
        (codes("int8", (4,), 1e-9), "too small to tell codes apart"),
        (codes("int8", (), 0.1), "has no last axis"),
    ],
)
def test_refusals(case: Unary, message: str) -> None:
    with pytest.raises(CodegenError, match=rf"operator 0 {OP}.*{message}"):
        lowered(case)
