"""float32 MEAN and RESIZE_BILINEAR: the reference's bits on a PC."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.ops.equality import assert_equal
from tests.ops.floats import FloatOp, float_model
from tests.ops.resizing import RULES, SIZES, random_sizes

SHAPES = ((7,), (3, 70), (2, 3, 5), (2, 3, 4, 5), (1, 9, 1, 3), (2, 3, 2, 3, 4))


def means() -> Iterator[FloatOp]:
    """Every set of axes that is supported, kept or not."""
    for shape in SHAPES:
        rank = len(shape)
        for count in range(1, rank + 1):
            for i, axes in enumerate(itertools.combinations(range(rank), count)):
                if axes in ((0, 2, 4), (0, 2), (0, 1, 3), (0, 2, 3)) and rank > 3:
                    continue  # more groups of neighbours than the operator takes
                keep = i % 2 == 0
                output = np.mean(np.zeros(shape), axis=axes, keepdims=keep).shape
                signed = np.array([a - rank * (i % 3 == 0) for a in axes], np.int32)
                yield FloatOp("MEAN", [shape], output, [signed], {"keep_dims": keep})


def resizes(rng: np.random.Generator) -> Iterator[FloatOp]:
    for shape, size in [*SIZES, *(random_sizes(rng) for _ in range(12))]:
        for rule in RULES:
            output = (shape[0], *size, shape[3])
            yield FloatOp("RESIZE_BILINEAR", [shape], output, [np.array(size, np.int32)], rule)


@pytest.mark.parametrize("sanitize", [False, True])
def test_sweep(sanitize: bool, tmp_path: Path, rng: np.random.Generator) -> None:
    step = 5 if sanitize else 1
    models = {
        "means": float_model(list(means())[::step], rng),
        "resizes": float_model(list(resizes(rng))[::step], rng),
    }
    assert_equal(models, tmp_path, rng, specials=4, sanitize=sanitize)
