"""QUANTIZE from float and between the 8-bit types."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from codegen.errors import CodegenError
from tests.ops.equality import assert_equal
from tests.ops.unary import (
    ZERO_POINTS,
    Unary,
    assert_tables_equal,
    compiled_outputs,
    lowered,
    random_quant,
)
from tests.ops.unary import unary_model as model
from tests.oracle import run_reference

TYPES = ("int8", "uint8")


def zero_point(rng: np.random.Generator, dtype: str) -> int:
    return int(rng.choice([0, 255, 128, 7]) if dtype == "uint8" else rng.choice(ZERO_POINTS))


@pytest.mark.parametrize(("source", "target"), [*product(TYPES, TYPES)])
def test_every_code_under_random_scales(source: str, target: str, rng: np.random.Generator) -> None:
    cases = [
        Unary(
            "QUANTIZE",
            (random_quant(rng)[0], zero_point(rng, source)),
            (random_quant(rng)[0], zero_point(rng, target)),
            types=(source, target),
        )
        for _ in range(60)
    ]
    same = [Unary("QUANTIZE", (0.05, 0), (0.05, 0), types=(source, target))]
    assert_tables_equal(cases + same)


def test_compiled(tmp_path: Path, rng: np.random.Generator) -> None:
    """Random floats reach beyond both ends of the codes under the finest scales."""
    grid = [
        Unary("QUANTIZE", (0.05, 3), (scale, z), types=(source, target), shape=(3, 5, 7))
        for source in ("float32", *TYPES)
        for target in TYPES
        for scale in (1e-3, 0.05, 0.3)
        for z in ((-128, 0, 127) if target == "int8" else (0, 3, 255))
    ]
    assert_equal({"grid": model(grid)}, tmp_path, rng, sanitize=True)


def test_halves_and_values_beyond_every_code(tmp_path: Path) -> None:
    """Ties round away from zero like the reference's; infinities and NaN stay defined."""
    values = np.array(
        [k / 2 for k in range(-600, 601)]
        + [float(np.nextafter(np.float32(0.5), np.float32(side))) for side in (0, 1)],
        np.float32,
    )
    values = np.concatenate([values, -values])
    wild = np.array([np.nan, np.inf, -np.inf, 1e30, -1e30, 3e9, -3e9], np.float32)
    everything = np.concatenate([values, wild])
    cases = [Unary("QUANTIZE", (1, 0), (1.0, z), types=("float32", "int8")) for z in (0, 127, -9)]
    shaped = [Unary(c.op, c.x, c.y, c.options, c.types, everything.shape) for c in cases]
    data = model(shaped)
    expected = run_reference(data, [[everything] * 3])[0]
    outputs = compiled_outputs(data, [everything] * 3, tmp_path)
    for raw, wanted in zip(outputs, expected, strict=True):
        got = np.frombuffer(raw, np.int8)
        np.testing.assert_array_equal(got[: values.size], wanted[: values.size])
        assert got[values.size :].tolist() == [-128, 127, -128, 127, -128, 127, -128]


WIDE = (
    ("float32", "int16"),
    ("int8", "int16"),
    ("uint8", "int16"),
    ("int16", "int8"),
    ("int16", "int16"),
    ("int16", "int32"),
    ("int32", "int8"),
    ("int32", "int16"),
)


def test_more_than_eight_bits(tmp_path: Path, rng: np.random.Generator) -> None:
    """Every pair with scales far apart; int32 data reach both ends of their type.

    Zero points of more than 8 bits are 0: the reference refuses others.
    """
    cases = [
        Unary("QUANTIZE", (scale, 0), (0.01, 0), types=types, shape=(3, 5, 7))
        for types in WIDE
        for scale in (1e-5, 0.01, 0.0123, 0.3, 20.0)
    ]
    zeros = [
        Unary("QUANTIZE", (0.05, 7), (0.04, 0), types=types, shape=(300,)) for types in WIDE[1:3]
    ]
    same = [Unary("QUANTIZE", (0.05, 0), (0.05, 0), types=types, shape=(9,)) for types in WIDE]
    data = model([*cases, *zeros, *same])
    assert_equal({"wide": data}, tmp_path, rng, sanitize=True)


@pytest.mark.parametrize("types", [("float32", "int32"), ("int16", "uint8"), ("int64", "int8")])
def test_another_type_is_refused(types: tuple[str, str]) -> None:
    with pytest.raises(CodegenError, match=r"operator 0 QUANTIZE .*only (int8|float32) or"):
        lowered(Unary("QUANTIZE", (1, 0), (0.1, 0), types=types))
