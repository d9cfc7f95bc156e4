"""TOPK_V2 against the reference: types, ties, every k, ranks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tests.ops.equality import assert_equal
from tests.ops.movement import assert_refused, quant
from tests.tflite_builder import ModelBuilder

TYPES = ("int8", "uint8", "int16", "int32", "int64", "float32")


def top_model(shape: Sequence[int], k: int, dtype: str = "int8", index: str = "int32") -> bytes:
    builder = ModelBuilder()
    x = builder.tensor(shape, dtype, **quant(dtype))
    count = builder.tensor((), "int32", data=k)
    values = builder.tensor((*shape[:-1], k), dtype, **quant(dtype))
    indices = builder.tensor((*shape[:-1], k), index)
    version = 3 if index == "int16" else 2
    builder.op("TOPK_V2", [x, count], [values, indices], version=version)
    return builder.build([x], [values, indices])


def test_largest(tmp_path: Path, rng: np.random.Generator) -> None:
    cases = {f"{k} of {n}": top_model((2, n), k) for n in (1, 5, 9) for k in {1, n // 2 + 1, n}}
    cases |= {dtype: top_model((3, 2, 7), 4, dtype) for dtype in TYPES}
    cases |= {str(s): top_model(s, 2, "float32") for s in ((6,), (1, 6), (2, 1, 2, 3))}
    cases["int16 indices"] = top_model((2, 7), 3, index="int16")
    assert_equal(cases, tmp_path, rng, samples=3, sanitize=True)


def test_ties(tmp_path: Path, rng: np.random.Generator) -> None:
    """Of equal elements the first comes first."""
    cases = {dtype: top_model((4, 9), 7, dtype) for dtype in TYPES}
    sets: dict[str, list[list[Any]]] = {
        dtype: [[rng.integers(0, 3, (4, 9)).astype(dtype)] for _ in range(4)] for dtype in TYPES
    }
    assert_equal(cases, tmp_path, rng, inputs=sets)


def test_refusals() -> None:
    assert_refused(top_model((2, 3), 4), r"\[4\] of the last axis of int8\[2,3\]")
    assert_refused(top_model((2, 3), 2, "bool"), "is bool; only int8 or uint8")
