"""REVERSE_SEQUENCE against the reference: types, axes, constant and computed lengths."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np

from tests.ops.equality import assert_equal
from tests.ops.movement import assert_refused, quant
from tests.tflite_builder import ModelBuilder

TYPES = ("float32", "uint8", "int16", "int32", "int64")
SHAPE = (3, 4, 2, 5)


def reversing_model(
    shape: Sequence[int],
    sequence: int,
    batch: int,
    dtype: str = "float32",
    lengths: Any = None,
    index: str = "int32",
) -> bytes:
    """The lengths are constant where they are given."""
    builder = ModelBuilder()
    x = builder.tensor(shape, dtype, **quant(dtype))
    sizes = np.shape(lengths) if lengths is not None else (shape[batch],)
    counts = builder.tensor(sizes, index, data=lengths)
    y = builder.tensor(shape, dtype, **quant(dtype))
    builder.op("REVERSE_SEQUENCE", [x, counts], [y], seq_dim=sequence, batch_dim=batch)
    return builder.build([x] if lengths is not None else [x, counts], [y])


def test_every_pair_of_axes(tmp_path: Path, rng: np.random.Generator) -> None:
    cases = {}
    for n, (shape, index) in enumerate(((SHAPE, "int32"), ((2, 3, 2, 1, 4), "int64"))):
        pairs = list(permutations(range(len(shape)), 2))[:: n + 1]
        for i, (sequence, batch) in enumerate(pairs):
            lengths = rng.integers(1, shape[sequence] + 1, shape[batch])
            dtype = TYPES[(i + n) % len(TYPES)]
            label = f"{shape} {sequence} {batch}"
            cases[label] = reversing_model(shape, sequence, batch, dtype, lengths, index)
    cases["two axes"] = reversing_model((3, 5), 1, 0, lengths=[1, 5, 4])
    cases["one entry"] = reversing_model((1, 1), 0, 1, lengths=[1])
    assert_equal(cases, tmp_path, rng, samples=1)


def test_lengths_of_run_time(tmp_path: Path, rng: np.random.Generator) -> None:
    cases, sets = {}, {}
    for index in ("int32", "int64"):
        cases[index] = reversing_model(SHAPE, 1, 2, index=index)
        sets[index] = [
            [rng.normal(size=SHAPE).astype(np.float32), rng.integers(1, 5, 2).astype(index)]
            for _ in range(4)
        ]
    assert_equal(cases, tmp_path, rng, inputs=sets, sanitize=True)


def test_refusals() -> None:
    assert_refused(reversing_model((3, 4), 1, 1), "apart from axis 1")
    assert_refused(reversing_model((3, 4), 1, 0, lengths=[1, 2]), "no length for each entry")
    assert_refused(reversing_model((3, 4), 2, 0), "axis 2 does not exist in 2 dimensions")
    assert_refused(reversing_model((3, 4), 1, 0, index="int16"), "is int16; only int32 or int64")
