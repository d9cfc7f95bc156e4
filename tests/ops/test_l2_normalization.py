"""L2_NORMALIZATION of all types against the reference: zero vectors, both ends of codes, depths."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from codegen.errors import CodegenError
from tests.ops.equality import assert_equal
from tests.ops.floats import FloatOp, float_model
from tests.ops.unary import Unary, lowered, unary_model

OP = "L2_NORMALIZATION"
SHAPES = ((7,), (5, 1), (40, 3), (3, 5, 33), (2, 3, 4, 300), (2, 1, 3, 2, 5))
RESULTS = {"int8": (1 / 128, 0), "uint8": (1 / 128, 128)}


def codes(dtype: str, zero_point: int, shape: tuple[int, ...]) -> Unary:
    return Unary(OP, (0.05, zero_point), RESULTS[dtype], types=(dtype, dtype), shape=shape)


@pytest.mark.parametrize("sanitize", [False, True])
def test_sweep(sanitize: bool, tmp_path: Path, rng: np.random.Generator) -> None:
    grid = [
        codes(dtype, zero, shape)
        for dtype, zeros in (("int8", (-128, 3, 127)), ("uint8", (0, 130, 255)))
        for zero in zeros
        for shape in SHAPES
    ]
    models = {
        "codes": unary_model(grid),
        "floats": float_model([FloatOp(OP, [shape], shape) for shape in SHAPES], rng),
    }
    assert_equal(models, tmp_path, rng, specials=4, sanitize=sanitize)


def test_small_distances_from_the_zero_point(tmp_path: Path, rng: np.random.Generator) -> None:
    """Sums of squares from 0 on, where the square root's shifts are at their ends."""
    vectors = rng.integers(-3, 4, (500, 3)) * (rng.random((500, 3)) < 0.5)
    model = unary_model([codes("int8", 5, vectors.shape), codes("uint8", 130, vectors.shape)])
    sets = [[(vectors + 5).astype(np.int8), (vectors + 130).astype(np.uint8)]]
    assert_equal({"small": model}, tmp_path, rng, inputs={"small": sets})


@pytest.mark.parametrize(
    ("case", "message"),
    [
        (Unary(OP, (0.1, 0), (0.1, 0)), "where only 1/128 and 0 are defined"),
        (Unary(OP, (0.1, 0), (1 / 128, 0), shape=(33100,)), "normalise at most 33025 channels"),
        (Unary(OP, (0.1, 0), (1 / 128, 0), shape=()), "has no last axis"),
        (Unary(OP, types=("int16", "int16")), "is int16; only float32 or int8 or uint8"),
    ],
)
def test_refusals(case: Unary, message: str) -> None:
    with pytest.raises(CodegenError, match=rf"operator 0 {OP}.*{message}"):
        lowered(case)
