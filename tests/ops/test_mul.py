"""MUL: broadcasting of every kind, constants, activations, scales far apart."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from codegen.errors import CodegenError
from tests.ops.binary import Binary, binary_model, lowered, quant_cases, shape_cases
from tests.ops.equality import assert_equal

ACTIVATIONS = ("NONE", "RELU", "RELU6", "RELU_N1_TO_1")
CASE = Binary("MUL")


def test_compiled(tmp_path: Path, rng: np.random.Generator) -> None:
    fused = [replace(CASE, activation=activation) for activation in ACTIVATIONS]
    models = {
        "shapes": binary_model(shape_cases(CASE), rng),
        "values": binary_model(fused + quant_cases(CASE, rng), rng),
    }
    assert_equal(models, tmp_path, rng)


def test_sanitized(tmp_path: Path, rng: np.random.Generator) -> None:
    cases = [*shape_cases(CASE)[::4], *quant_cases(CASE, rng)[::4]]
    models = {"mixed": binary_model(cases, rng)}
    assert_equal(models, tmp_path, rng, samples=1, sanitize=True)


def test_factors_beyond_fixed_point_are_refused(rng: np.random.Generator) -> None:
    quants = ((1e5, 0), (1e5, 0), (1e-3, 0))
    with pytest.raises(CodegenError, match=r"operator 0 MUL .*differ by a factor of 1e\+13"):
        lowered(Binary("MUL", quants=quants), rng)
