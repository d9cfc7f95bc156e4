"""Operators of one operand: ABS, NEG, SIGN, the functions of the C library, roots, roundings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from codegen.errors import CodegenError
from tests.ops.equality import assert_equal, random_input
from tests.ops.unary import (
    Unary,
    assert_tables_equal,
    lowered,
    random_quant,
    table_of,
    unary_model,
)
from tests.oracle import run_reference

Array = NDArray[Any]

FOUR_ULP = 4 * 2.0**-23
GELU_TOLERANCE = 2e-6  # 1 + tanh(x) cancels, and the reference's own tanh is an approximation
EXACT = (
    *("ABS", "NEG", "SIGN", "SQRT", "RSQRT", "SQUARE", "FLOOR", "RELU_N1_TO_1", "RELU_0_TO_1"),
    *("CEIL", "ROUND"),
)
LIBRARY = ("SIN", "COS", "EXP", "LOG", "ELU")
INTEGERS = {
    "ABS": ("int16", "int32"),
    "NEG": ("int8", "int16", "int32", "int64"),
    "SIGN": ("int32",),
}
TABULATED = ("ABS", "EXP", "LOG", "RELU_N1_TO_1", "RELU_0_TO_1", "ELU")
GELUS = tuple(Unary("GELU", options={"approximate": flag}) for flag in (False, True))


def floats(op: str, shape: tuple[int, ...] = (3, 5, 7, 11)) -> Unary:
    return Unary(op, types=("float32", "float32"), shape=shape)


def wide_input(tensor: Any, rng: np.random.Generator) -> Array:
    """Floats of all sizes, some of them halfway between integers."""
    if tensor.dtype.value != "float32":
        return random_input(tensor, rng)
    sign = rng.choice((-1, 1), tensor.shape)
    values = sign * np.exp(rng.uniform(-20, 20, tensor.shape))
    halves = rng.integers(-9, 9, tensor.shape) + 0.5
    chosen = np.where(rng.random(tensor.shape) < 0.2, halves, values)
    return np.asarray(chosen, np.float32)


def sixteen(op: str, rng: np.random.Generator, options: Any = None) -> Unary:
    """An operator on int16 codes."""
    x, y = (float(np.float32(np.exp(rng.uniform(-11, -6)))) for _ in range(2))
    return Unary(op, (x, 0), (y, 0), options or {}, ("int16", "int16"), (4096,))


def test_floats(tmp_path: Path, rng: np.random.Generator) -> None:
    """To the bit where the C library has no part in it."""
    models = {op: unary_model([floats(op)]) for op in EXACT}
    models["shapes"] = unary_model(
        [floats("SQUARE", shape) for shape in ((), (7,), (2, 1, 3, 2, 5))]
    )
    assert_equal(models, tmp_path / "exact", rng, draw=wide_input, specials=2)
    models = {op: unary_model([floats(op)]) for op in LIBRARY}
    assert_equal(models, tmp_path / "library", rng, draw=wide_input, tolerance=FOUR_ULP)
    models = {
        f"GELU {case.options}": unary_model([replace(case, types=("float32", "float32"))])
        for case in GELUS
    }
    assert_equal(models, tmp_path / "gelu", rng, draw=wide_input, tolerance=GELU_TOLERANCE)


def test_integers(tmp_path: Path, rng: np.random.Generator) -> None:
    models = {
        f"{op} {dtype}": unary_model([Unary(op, types=(dtype, dtype))])
        for op, types in INTEGERS.items()
        for dtype in types
    }
    assert_equal(models, tmp_path, rng, sanitize=True)


def test_every_8_bit_code(rng: np.random.Generator) -> None:
    cases = [
        Unary(op, random_quant(rng, high=0.3), random_quant(rng))
        for op in TABULATED
        for _ in range(12)
    ]
    cases += [
        replace(case, x=random_quant(rng), y=random_quant(rng)) for case in GELUS for _ in range(8)
    ]
    unsigned = [*GELUS, Unary("RELU_N1_TO_1"), Unary("RELU_0_TO_1")]
    cases += [
        replace(case, x=(0.05, 120), y=(0.03, 9), types=("uint8", "uint8")) for case in unsigned
    ]
    equal_scales = Unary("ABS", (0.05, -128), (0.05, 127))
    assert_tables_equal([*cases, equal_scales])


@pytest.mark.parametrize("op", ["SQRT", "RSQRT"])
def test_roots_of_8_bit_codes(op: str, rng: np.random.Generator) -> None:
    """The reference computes no codes below the zero point."""
    for _ in range(25):
        x, y = random_quant(rng), random_quant(rng)
        codes = np.arange(x[1], 128).astype(np.int8)
        model = unary_model([Unary(op, x, y, shape=codes.shape)])
        ((wanted,),) = run_reference(model, [[codes]])
        got = table_of(Unary(op, x, y))[codes.view(np.uint8)]
        np.testing.assert_array_equal(got, wanted, err_msg=f"{op} {x} {y}")


def test_16_bit_codes(tmp_path: Path, rng: np.random.Generator) -> None:
    cases = [sixteen(op, rng) for op in ("ABS", "EXP", "LOG") for _ in range(3)]
    cases += [sixteen("GELU", rng, case.options) for case in GELUS]
    roots = [sixteen(op, rng) for op in ("SQRT", "RSQRT") for _ in range(3)]
    models = {"all": unary_model(cases), "roots": unary_model(roots)}
    positive = [_positive(roots, rng) for _ in range(4)]
    assert_equal(models, tmp_path, rng, inputs={"roots": positive}, sanitize=True)


def _positive(cases: Sequence[Unary], rng: np.random.Generator) -> list[Array]:
    return [rng.integers(0, 2**15, case.shape).astype(np.int16) for case in cases]


@pytest.mark.parametrize("op", ["ABS", "SQRT"])
def test_zero_points_of_16_bit_codes_are_refused(op: str, rng: np.random.Generator) -> None:
    case = replace(sixteen(op, rng), x=(0.1, 5))
    with pytest.raises(CodegenError, match=rf"operator 0 {op} .*is int16 with a zero point; only"):
        lowered(case)


@pytest.mark.parametrize("op", ["SIN", "COS", "SQUARE", "FLOOR", "CEIL", "ROUND"])
def test_types_other_than_float_are_refused(op: str) -> None:
    with pytest.raises(CodegenError, match=rf"operator 0 {op} .*is int8; only float32 is"):
        lowered(Unary(op, (0.1, 0), (0.1, 0)))
