"""RELU and RELU6 as operators of their own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from codegen.errors import CodegenError
from tests.ops.equality import assert_equal
from tests.ops.unary import (
    ALL_INT16,
    ZERO_POINTS,
    Unary,
    assert_tables_equal,
    compiled_outputs,
    lowered,
    random_quant,
)
from tests.ops.unary import unary_model as model
from tests.oracle import run_reference

KINDS = ("RELU", "RELU6")


@pytest.mark.parametrize("op", KINDS)
def test_every_code_under_random_quantisations(op: str, rng: np.random.Generator) -> None:
    cases = [Unary(op, random_quant(rng), random_quant(rng)) for _ in range(80)]
    extremes = [Unary(op, (x, 3), (y, -128)) for x, y in ((1e6, 1e-3), (1e-3, 1e6), (1.0, 1.0))]
    unsigned = [
        Unary(op, *(random_quant(rng, dtype="uint8") for _ in "xy"), types=("uint8", "uint8"))
        for _ in range(30)
    ]
    assert_tables_equal(cases + extremes + unsigned)


def test_compiled(tmp_path: Path, rng: np.random.Generator) -> None:
    """Also shows that two outputs of one input do not overwrite it, and odd shapes."""
    grid = [
        Unary(op, (0.05, z), (0.04, -z - 1), shape=shape)
        for op in KINDS
        for z in ZERO_POINTS
        for shape in ((3, 5, 7), (2, 1, 3, 1, 5))
    ]
    scalar = [Unary("RELU", (0.1, 0), (0.2, 1), shape=())]
    assert_equal({"grid": model(grid), "scalar": model(scalar)}, tmp_path, rng, sanitize=True)


def test_int16(tmp_path: Path, rng: np.random.Generator) -> None:
    """Every code; some leave 32 bits on the way."""
    types = ("int16", "int16")
    cases = [
        Unary(op, (x, 0), (y, 0), types=types, shape=(65536,))
        for op in KINDS
        for x, y in ((0.01, 0.01), (1e-3, 7e-4), (0.02, 1e-3), (3e-4, 0.1), (1e3, 1e-2))
    ]
    inputs = [ALL_INT16] * len(cases)
    data = model(cases)
    outputs = compiled_outputs(data, inputs, tmp_path)
    for case, raw, wanted in zip(cases, outputs, run_reference(data, [inputs])[0], strict=True):
        np.testing.assert_array_equal(np.frombuffer(raw, np.int16), wanted, err_msg=str(case))


def test_factors_beyond_fixed_point_are_refused() -> None:
    with pytest.raises(CodegenError, match=r"operator 0 RELU .*differ by a factor of 1e\+12"):
        lowered(Unary("RELU", (1e6, 0), (1e-6, 0)))


def test_another_type_is_refused() -> None:
    with pytest.raises(CodegenError, match=r"operator 0 RELU6 .*int32.*quantise the model to int8"):
        lowered(Unary("RELU6", (0.1, 0), (0.1, 0), types=("int32", "int32")))
