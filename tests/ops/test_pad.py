"""PAD against the reference: every axis, ranks 1 to 5, batches, types, zero points."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tests.ops.equality import assert_equal
from tests.ops.movement import TYPES, assert_refused, moving_model
from tests.tflite_builder import ModelBuilder

Pads = Sequence[tuple[int, int]]


def padded(shape: Sequence[int], pads: Pads) -> tuple[int, ...]:
    return tuple(size + sum(pad) for size, pad in zip(shape, pads, strict=True))


def pad_model(shape: Sequence[int], pads: Pads, dtype: str = "int8", index: str = "int32") -> bytes:
    return moving_model(
        "PAD", shape, [padded(shape, pads)], [pads], dtype=dtype, constant_type=index
    )


CORNERS: list[tuple[tuple[int, ...], Pads]] = [
    ((5,), [(2, 1)]),
    ((3, 4), [(0, 0), (1, 2)]),
    ((3, 4), [(2, 1), (0, 0)]),
    ((2, 3, 4), [(1, 0), (0, 2), (3, 1)]),
    ((1, 5, 6, 3), [(0, 0), (1, 2), (2, 1), (0, 0)]),
    ((1, 1, 6, 2), [(0, 0), (3, 0), (0, 0), (0, 0)]),
    ((1, 6, 1, 2), [(0, 0), (0, 0), (0, 4), (0, 0)]),
    ((3, 4, 3, 2), [(0, 0), (1, 1), (1, 1), (0, 0)]),
    ((3, 4, 3, 2), [(2, 1), (0, 1), (1, 0), (2, 3)]),
    ((1, 2, 2, 5), [(0, 0), (0, 0), (0, 0), (1, 4)]),
    ((2, 2, 3, 3), [(0, 0), (0, 0), (0, 0), (0, 0)]),
    ((2, 3, 2, 3, 2), [(1, 2), (2, 1), (0, 1), (1, 0), (1, 1)]),
    ((2, 3, 2, 3, 2), [(0, 1), (0, 0), (0, 0), (1, 0), (0, 0)]),
    ((2, 1, 2, 1, 2), [(0, 0), (1, 1), (0, 0), (0, 0), (0, 2)]),
]


def random_case(rng: np.random.Generator) -> tuple[tuple[int, ...], Pads]:
    rank = int(rng.integers(1, 6))
    shape = tuple(int(d) for d in rng.integers(1, 5, rank))
    return shape, [(int(a), int(b)) for a, b in rng.integers(0, 4, (rank, 2))]


def test_every_axis(
    tmp_path: Path, rng: np.random.Generator, sample: Callable[[Any, int], Any]
) -> None:
    more = sample([random_case(rng) for _ in range(60)], 20)
    cases = {f"{i} {c}": pad_model(*c) for i, c in enumerate([*CORNERS, *more])}
    assert_equal(cases, tmp_path, rng)


def test_types(tmp_path: Path, rng: np.random.Generator) -> None:
    shape, pads = (2, 3, 2, 3), [(0, 0), (1, 2), (2, 0), (0, 1)]
    cases = {dtype: pad_model(shape, pads, dtype) for dtype in TYPES}
    cases |= {f"indices {t}": pad_model(shape, pads, index=t) for t in ("int8", "int16", "int64")}
    assert_equal(cases, tmp_path, rng, samples=2)


def test_fills_with_the_outputs_zero_point(tmp_path: Path, rng: np.random.Generator) -> None:
    cases = {}
    for zero in (-128, 127, 0, 17):
        builder = ModelBuilder()
        x = builder.tensor((1, 3, 3, 2), scale=0.1, zero_point=3)
        pads = builder.tensor((4, 2), "int32", data=[[0, 0], [1, 1], [1, 1], [0, 0]])
        y = builder.tensor((1, 5, 5, 2), scale=0.2, zero_point=zero)
        builder.op("PAD", [x, pads], [y])
        cases[str(zero)] = builder.build([x], [y])
    assert_equal(cases, tmp_path, rng, samples=1)


def test_sanitized(tmp_path: Path, rng: np.random.Generator) -> None:
    cases = {f"{i} {c}": pad_model(*c) for i, c in enumerate(CORNERS)}
    cases["int64"] = pad_model(*CORNERS[8], "int64")
    assert_equal(cases, tmp_path, rng, samples=1, sanitize=True)


def test_refusals() -> None:
    assert_refused(
        moving_model("PAD", (1, 4), [(1, 4)], [[(0, 0), (-1, 1)]]), "PAD: .* negative padding"
    )
    assert_refused(moving_model("PAD", (1, 4), [(1, 5)], [[(0, 1)]]), "holds 2 sizes for")
    assert_refused(moving_model("PAD", (1, 4), [(1, 9)], [[(0, 0), (1, 1)]]), r"makes \[1, 6\]")
    six = [(1, 1)] * 6
    assert_refused(pad_model((1,) * 6, six), "padding of 6 axes is not supported; pad at most 5")
    builder = ModelBuilder()
    x, pads = builder.tensor((1, 4), scale=0.1), builder.tensor((2, 2), "int32")
    y = builder.tensor((1, 6), scale=0.1)
    builder.op("PAD", [x, pads], [y])
    assert_refused(builder.build([x, pads], [y]), "computed at run time; only a constant")
