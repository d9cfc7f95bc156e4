"""MEAN against the reference: every set of axes of every rank, scales, rounding, refusals."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen.errors import CodegenError
from tests.ops.equality import assert_equal
from tests.tflite_builder import ModelBuilder


def mean_model(
    *,
    in_shape: tuple[int, ...] = (1, 4, 5, 6),
    axes: Sequence[int] = (1, 2),
    keep_dims: bool = True,
    scales: tuple[float, float] = (0.05, 0.05),
    zero_points: tuple[int, int] = (-3, -3),
    axes_shape: tuple[int, ...] | None = None,
    axes_type: str = "int32",
    constant: bool = True,
    out_shape: tuple[int, ...] | None = None,
    dtype: str = "int8",
) -> bytes:
    """A model of one mean."""
    builder = ModelBuilder()
    rank = len(in_shape)
    reduced = {a % rank for a in axes}
    kept = [
        1 if a in reduced else d for a, d in enumerate(in_shape) if keep_dims or a not in reduced
    ]
    x = builder.tensor(in_shape, dtype, scale=scales[0], zero_point=zero_points[0])
    shape = (len(axes),) if axes_shape is None else axes_shape
    a = builder.tensor(shape, axes_type, data=np.array(axes) if constant else None)
    out = tuple(kept) if out_shape is None else out_shape
    y = builder.tensor(out, dtype, scale=scales[1], zero_point=zero_points[1])
    builder.op("MEAN", [x, a], [y], version=2, keep_dims=keep_dims)
    return builder.build([x] if constant else [x, a], [y])


CORNERS: list[dict[str, Any]] = [
    {},
    {"keep_dims": False},
    {"in_shape": (3, 4, 5, 6)},
    {"in_shape": (3, 1, 1, 6)},
    {"in_shape": (1, 1, 9, 3), "axes": (2, 1)},
    {"in_shape": (1, 9, 1, 3)},
    {"in_shape": (7,), "axes": (0,), "keep_dims": False},
    {"in_shape": (7,), "axes": (-1,), "axes_shape": ()},
    {"axes": (-3, -2, 1)},
    {"axes": (), "axes_shape": (0,), "scales": (0.05, 0.1)},
    {"in_shape": (2, 3, 4, 5, 6), "axes": (1, 3)},
    {"in_shape": (2, 3, 4, 5, 6), "axes": (2, 3), "keep_dims": False},
    {"in_shape": (2, 1, 2, 3, 2, 4), "axes": (0, 3)},
    {"zero_points": (-128, 127), "scales": (0.05, 0.03)},
    {"zero_points": (127, -128), "scales": (0.05, 0.07)},
    {"zero_points": (127, -128)},
    {"scales": (1.0, 1e-3)},
    {"scales": (1.0, 1e3)},
    {"scales": (1.0, 1e8)},
    {"scales": (1e6, 1e-2)},
    {"scales": (1.0, 0.25), "in_shape": (1, 4, 4, 8)},
    {"in_shape": (1, 90, 80, 2), "scales": (0.05, 0.004)},
    {"in_shape": (1, 49, 10, 3)},
    {"in_shape": (1, 7, 7, 1001)},
]

RANKS: list[dict[str, Any]] = [
    {
        "in_shape": shape,
        "axes": axes if number % 2 else tuple(a - len(shape) for a in reversed(axes)),
        "keep_dims": number % 3 != 0,
        "scales": (0.05, 0.05 if number % 5 == 0 else 0.02),
    }
    for shape in ((5,), (3, 4), (2, 3, 4), (3, 2, 4, 5))
    for count in range(1, len(shape) + 1)
    for number, axes in enumerate(itertools.combinations(range(len(shape)), count))
]


def test_sweep(tmp_path: Path, rng: np.random.Generator) -> None:
    cases = {f"{i} {c}": mean_model(**c) for i, c in enumerate([*CORNERS, *RANKS])}
    assert_equal(cases, tmp_path, rng)


def test_other_types(tmp_path: Path, rng: np.random.Generator) -> None:
    """Zero points of uint8 at both ends; int16 has none."""
    configs = [*CORNERS[:3], *CORNERS[10:13:2], *CORNERS[16:19]]
    cases = {}
    for dtype, zeros in (("uint8", (120, 120)), ("uint8", (255, 0)), ("int16", (0, 0))):
        for config in configs:
            typed = {**config, "dtype": dtype, "zero_points": zeros}
            cases[f"{typed}"] = mean_model(**typed)
    assert_equal(cases, tmp_path, rng)


def test_sanitized(tmp_path: Path, rng: np.random.Generator) -> None:
    cases = {f"{i} {c}": mean_model(**c) for i, c in enumerate(CORNERS[4:])}
    assert_equal(cases, tmp_path, rng, samples=1, sanitize=True)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"constant": False}, "is computed at run time; only a constant"),
        ({"axes": (1, 4), "out_shape": (1, 1, 5, 6)}, "axis 4 does not exist in 4 dimensions"),
        ({"axes": (-5,), "out_shape": (1, 1, 5, 6)}, "axis -5 does not exist in 4 dimensions"),
        ({"axes_type": "int64"}, "is int64; only int32 is supported here, so convert"),
        ({"out_shape": (1, 5, 6)}, r"has shape \[1, 5, 6\] where the operator makes"),
        (
            {"in_shape": (2, 2, 2, 2, 2), "axes": (0, 2, 4)},
            r"averaging axes \[0, 2, 4\] .*; average neighbouring axes first",
        ),
        ({"in_shape": (1, 3000, 3000, 1)}, "averages 9000000 elements at a time"),
        ({"scales": (1e10, 1e-10)}, "by a factor of .*; quantise the model again"),
    ],
)
def test_refusals(
    config: dict[str, Any], message: str, tmp_path: Path, rng: np.random.Generator
) -> None:
    with pytest.raises(CodegenError, match=rf"operator 0 MEAN.*{message}"):
        assert_equal({"refused": mean_model(**config)}, tmp_path, rng)


def test_integers(tmp_path: Path, rng: np.random.Generator) -> None:
    """Sums of int32 that only 64 bits hold; quotients are cut off."""
    shapes = [
        {k: config[k] for k in config if k not in ("scales", "zero_points")}
        for config in [*CORNERS[:13], *RANKS[::9]]
    ]
    cases = {
        f"{dtype} {i}": mean_model(**config, dtype=dtype)
        for dtype in ("int32", "int64")
        for i, config in enumerate(shapes[dtype == "int64" :: 2])
    }
    assert_equal(cases, tmp_path, rng, samples=2, sanitize=True)
