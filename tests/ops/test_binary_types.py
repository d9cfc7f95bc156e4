"""ADD, SUB, MUL, MAXIMUM and MINIMUM of types other than int8 and float32."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from codegen.errors import CodegenError
from tests.ops.binary import Binary, binary_model, lowered, quant_cases, shape_cases
from tests.ops.equality import assert_equal
from tests.ops.windows import ACTIVATIONS

ARITHMETIC = ("ADD", "SUB", "MUL")
KINDS = (*ARITHMETIC, "MAXIMUM", "MINIMUM")


def typed(op: str, dtype: str) -> Binary:
    return Binary(op, types=(dtype, dtype))


@pytest.mark.parametrize("dtype", ["uint8", "int16", "int32", "int64"])
def test_every_operator(dtype: str, tmp_path: Path, rng: np.random.Generator) -> None:
    """Shapes, activations and, where there are codes, scales far apart; integers wrap around."""
    cases = []
    for op in KINDS:
        case = typed(op, dtype)
        cases += shape_cases(case)[KINDS.index(op) :: 16]
        cases += [replace(case, activation=a) for a in ACTIVATIONS if op in ARITHMETIC]
        cases += quant_cases(case, rng)[:: 9 if op in ARITHMETIC else 20]
    assert_equal({dtype: binary_model(cases, rng)}, tmp_path, rng, sanitize=True)


def test_scales_that_are_powers_of_two(tmp_path: Path, rng: np.random.Generator) -> None:
    """Of int16: one operand is shifted; not so if the file says otherwise."""
    scales = [(0.5, 0.5, 0.5), (0.25, 0.5, 0.5), (4.0, 0.125, 4.0), (1.0, 2.0**-15, 1.0)]
    cases = [
        Binary(op, types=("int16", "int16"), quants=((a, 0), (b, 0), (y, 0)), activation=activation)
        for op in ("ADD", "SUB")
        for a, b, y in scales
        for activation in ("NONE", "RELU6")
    ]
    general = [replace(case, options={"pot_scale_int16": False}) for case in cases]
    models = {"powers": binary_model(cases, rng), "general": binary_model(general, rng)}
    assert_equal(models, tmp_path, rng, sanitize=True)


@pytest.mark.parametrize(
    ("quants", "message"),
    [
        (((0.5, 0), (0.25, 0), (1.0, 0)), r"are 2\^-1, 2\^-2 and 2\^0, powers of two that do not"),
        (((1.0, 0), (2.0**-16, 0), (1.0, 0)), "powers of two that do not fit together"),
    ],
)
def test_powers_that_the_reference_refuses(
    quants: tuple[tuple[float, int], tuple[float, int], tuple[float, int]],
    message: str,
    rng: np.random.Generator,
) -> None:
    with pytest.raises(CodegenError, match=rf"operator 0 SUB .*{message}"):
        lowered(replace(typed("SUB", "int16"), quants=quants), rng)


@pytest.mark.parametrize("op", ARITHMETIC)
@pytest.mark.parametrize("dtype", ["bool", "int4"])
def test_other_types_are_refused(op: str, dtype: str, rng: np.random.Generator) -> None:
    with pytest.raises(CodegenError, match=rf"operator 0 {op} .*{dtype}"):
        lowered(typed(op, dtype), rng)


@pytest.mark.parametrize("dtype", ["int8", "int16"])
def test_an_operand_of_scale_zero(dtype: str, tmp_path: Path, rng: np.random.Generator) -> None:
    """Converters write it for a constant of zeros; every product is then 0."""
    quants = ((0.05, 0), (0.0, 0), (0.1, 0))
    case = Binary("MUL", types=(dtype, dtype), quants=quants, constant="b")
    assert_equal({dtype: binary_model([case], rng)}, tmp_path, rng)
