"""EQUAL, NOT_EQUAL, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL on every type."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from codegen.errors import CodegenError
from codegen.graph import Tensor
from tests.ops.binary import NO_QUANTS, Binary, Quant, binary_model, lowered, shape_cases
from tests.ops.equality import assert_equal, random_input

ORDERINGS = ("LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL")
EQUALITIES = ("EQUAL", "NOT_EQUAL")
PLAIN = ("float32", "int16", "int32", "int64")
CODES = ("int8", "uint8")


def few_values(tensor: Tensor, rng: np.random.Generator) -> NDArray[np.generic]:
    """Numbers of which many are equal, NaN among the floats."""
    if tensor.dtype.value == "bool" or tensor.quant is not None:
        return random_input(tensor, rng)
    values = rng.integers(-2, 3, tensor.shape).astype(tensor.dtype.value)
    if tensor.dtype.value == "float32":
        values = np.where(rng.random(tensor.shape) < 0.1, np.nan, values).astype(np.float32)
    return values


def compared(op: str, dtype: str) -> Binary:
    return Binary(op, types=(dtype, "bool"))


def plain_types(op: str) -> tuple[str, ...]:
    """LiteRT computes nothing for NOT_EQUAL of int16 without a scale."""
    if op in ORDERINGS:
        return PLAIN
    return tuple(t for t in (*PLAIN, "bool") if (op, t) != ("NOT_EQUAL", "int16"))


def quant_cases(case: Binary, rng: np.random.Generator) -> list[Binary]:
    """Scales alike and far apart, below one; zero points at both ends."""
    scales = [0.05, 1e-9, 2.0**-8, 0.9999999, *np.exp(rng.uniform(-9, 0, 3))]
    zeros = (-128, 127, 0, 5)
    pairs: list[tuple[Quant, Quant]] = [
        ((float(np.float32(a)), int(rng.choice(zeros))), (float(np.float32(b)), 3))
        for a in scales
        for b in (a, float(rng.choice(scales)))
    ]
    return [replace(case, quants=(a, b, (1.0, 0))) for a, b in pairs]


def test_compiled(tmp_path: Path, rng: np.random.Generator) -> None:
    models = {}
    for op in (*EQUALITIES, *ORDERINGS):
        for dtype in plain_types(op):
            cases = [replace(case, quants=NO_QUANTS) for case in shape_cases(compared(op, dtype))]
            models[f"{op} {dtype}"] = binary_model(cases[len(op + dtype) % 5 :: 5], rng)
        for dtype in CODES:
            cases = quant_cases(compared(op, dtype), rng)
            models[f"{op} {dtype}"] = binary_model(cases, rng)
    models["LESS int8 shapes"] = binary_model(shape_cases(compared("LESS", "int8")), rng)
    assert_equal(models, tmp_path, rng, draw=few_values)


def test_int16_codes(tmp_path: Path, rng: np.random.Generator) -> None:
    """Equality looks at the scales of 16-bit operands, orderings do not."""
    models = {
        op: binary_model(quant_cases(compared(op, "int16"), rng), rng)
        for op in (*EQUALITIES, *ORDERINGS)
    }
    assert_equal(models, tmp_path, rng)


def test_sanitized(tmp_path: Path, rng: np.random.Generator) -> None:
    models = {
        "codes": binary_model(quant_cases(compared("EQUAL", "int8"), rng), rng),
        "int64": binary_model(shape_cases(compared("LESS", "int64"))[::3], rng),
    }
    assert_equal(models, tmp_path, rng, samples=1, sanitize=True)


def test_scales_from_one_are_refused(rng: np.random.Generator) -> None:
    case = replace(compared("LESS", "int8"), quants=((1.0, 0), (0.5, 0), (1.0, 0)))
    with pytest.raises(CodegenError, match=r"operator 0 LESS .*scale 1 where only those below 1"):
        lowered(case, rng)


def test_bools_have_no_order(rng: np.random.Generator) -> None:
    with pytest.raises(CodegenError, match=r"operator 0 GREATER .*is bool"):
        lowered(compared("GREATER", "bool"), rng)
