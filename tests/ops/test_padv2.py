"""PADV2 against the reference: the value given, at both ends and in every type."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tests.ops.equality import assert_equal
from tests.ops.movement import SCALES, TYPES, assert_refused, quant
from tests.tflite_builder import ModelBuilder

PADS = [(1, 0), (1, 2), (2, 0), (0, 1)]


def padv2_model(
    value: Any,
    dtype: str = "int8",
    *,
    value_shape: tuple[int, ...] = (),
    value_zero: int | None = None,
) -> bytes:
    """Pads [1,3,2,3] by PADS; `value_zero` replaces the zero point of the value."""
    builder = ModelBuilder()
    x = builder.tensor((1, 3, 2, 3), dtype, **quant(dtype))
    pads = builder.tensor((4, 2), "int32", data=PADS)
    of_value = quant(dtype) | ({} if value_zero is None else {"zero_point": value_zero})
    data = np.full(value_shape, value, np.dtype(dtype))
    constant = builder.tensor(value_shape, dtype, **of_value, data=data)
    y = builder.tensor((2, 6, 4, 4), dtype, **quant(dtype))
    builder.op("PADV2", [x, pads, constant], [y], version=2)
    return builder.build([x], [y])


def test_values_and_types(tmp_path: Path, rng: np.random.Generator) -> None:
    cases = {f"int8 {v}": padv2_model(v) for v in (-128, -5, 0, 127)}
    cases |= {f"{dtype} 1": padv2_model(1, dtype) for dtype in TYPES}
    cases |= {
        "vector": padv2_model(9, value_shape=(1,)),
        "int64": padv2_model(-(2**40), "int64"),
        "float": padv2_model(-1.25e-3, "float32"),
        "infinite": padv2_model(-np.inf, "float32"),
    }
    assert_equal(cases, tmp_path, rng, samples=2)


def test_sanitized(tmp_path: Path, rng: np.random.Generator) -> None:
    cases = {dtype: padv2_model(1, dtype) for dtype in TYPES}
    assert_equal(cases, tmp_path, rng, samples=1, sanitize=True)


def test_refusals() -> None:
    assert_refused(padv2_model(7, value_shape=(2,)), "PADV2: .*holds 2 elements instead of one")
    other = SCALES["int8"][1] + 1
    assert_refused(padv2_model(7, value_zero=other), "PADV2: .*quantised otherwise than")
