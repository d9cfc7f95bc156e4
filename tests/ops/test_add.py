"""ADD and SUB: broadcasting of every kind, constants, activations, scales far apart."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from codegen.errors import CodegenError
from tests.ops.binary import Binary, binary_model, lowered, quant_cases, shape_cases
from tests.ops.equality import assert_equal

KINDS = ("ADD", "SUB")
ACTIVATIONS = ("NONE", "RELU", "RELU6", "RELU_N1_TO_1")


def test_compiled(tmp_path: Path, rng: np.random.Generator) -> None:
    models = {}
    for op in KINDS:
        case = Binary(op)
        fused = [replace(case, activation=activation) for activation in ACTIVATIONS]
        models[f"{op} shapes"] = binary_model(shape_cases(case), rng)
        models[f"{op} values"] = binary_model(fused + quant_cases(case, rng), rng)
    assert_equal(models, tmp_path, rng)


def test_sanitized(tmp_path: Path, rng: np.random.Generator) -> None:
    cases = [*shape_cases(Binary("SUB"))[::3], *quant_cases(Binary("ADD"), rng)[::3]]
    models = {"mixed": binary_model(cases, rng)}
    assert_equal(models, tmp_path, rng, samples=1, sanitize=True)


def test_an_activation_that_is_no_clamp_is_refused(rng: np.random.Generator) -> None:
    with pytest.raises(CodegenError, match=r"operator 0 ADD .*fused activation TANH"):
        lowered(Binary("ADD", activation="TANH"), rng)


def test_an_output_scale_too_fine_for_the_reference_is_refused(rng: np.random.Generator) -> None:
    quants = ((1e6, 0), (1.0, 0), (0.5, 0))
    with pytest.raises(CodegenError, match=r"operator 0 SUB .*differ by a factor of"):
        lowered(Binary("SUB", quants=quants), rng)
