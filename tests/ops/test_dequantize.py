"""DEQUANTIZE: the very floats of the reference."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from codegen.errors import CodegenError
from tests.ops.equality import assert_equal
from tests.ops.unary import Unary, compiled_outputs, lowered, random_quant, unary_model


def test_compiled(tmp_path: Path, rng: np.random.Generator) -> None:
    """Every bit of the floats; random scales, all types, zero points at both ends."""
    grid = [
        Unary(
            "DEQUANTIZE",
            (random_quant(rng)[0], z),
            (1, 0),
            types=(dtype, "float32"),
            shape=(3, 5, 17),
        )
        for dtype, zeros in (("int8", (-128, 5, 127)), ("uint8", (0, 128, 255)), ("int16", (0,)))
        for z in zeros
        for _ in range(3)
    ]
    shapes = [
        Unary("DEQUANTIZE", (0.1, 3), (1, 0), types=("int8", "float32"), shape=shape)
        for shape in ((), (7,), (2, 1, 3, 1, 5))
    ]
    cases = {"grid": unary_model(grid), "shapes": unary_model(shapes)}
    assert_equal(cases, tmp_path / "plain", rng)
    sanitized = {"shapes": cases["shapes"]}
    assert_equal(sanitized, tmp_path / "sanitized", rng, samples=1, sanitize=True)


def test_every_half_float(tmp_path: Path) -> None:
    """All 65,536 of them, tiny ones, infinities and NaN included."""
    halves = np.arange(2**16, dtype=np.uint16).view(np.float16)
    data = unary_model([Unary("DEQUANTIZE", types=("float16", "float32"), shape=halves.shape)])
    (raw,) = compiled_outputs(data, [halves], tmp_path)
    np.testing.assert_array_equal(np.frombuffer(raw, np.float32), halves.astype(np.float32))


def test_another_type_is_refused() -> None:
    case = Unary("DEQUANTIZE", (0.1, 0), (1, 0), types=("int32", "float32"))
    with pytest.raises(CodegenError, match=r"operator 0 DEQUANTIZE .*int32"):
        lowered(case)
