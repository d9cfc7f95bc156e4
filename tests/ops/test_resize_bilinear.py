"""RESIZE_BILINEAR against the reference: growing and shrinking under every rule."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.ops.equality import assert_equal
from tests.ops.movement import assert_refused, moving_model, quant
from tests.ops.resizing import RULES, SIZES, random_sizes, resize_model, sweep
from tests.tflite_builder import ModelBuilder

OP = "RESIZE_BILINEAR"


def test_sizes_and_rules(tmp_path: Path, rng: np.random.Generator) -> None:
    assert_equal(sweep(OP, rng, 8), tmp_path, rng, samples=2)


def test_sanitized(tmp_path: Path, rng: np.random.Generator) -> None:
    cases = {
        f"{size} {rule}": resize_model(OP, *size, **rule) for size in SIZES[::2] for rule in RULES
    }
    assert_equal(cases, tmp_path, rng, samples=1, sanitize=True)


@pytest.mark.parametrize("dtype", ["uint8", "int16"])
def test_other_types(dtype: str, tmp_path: Path, rng: np.random.Generator) -> None:
    builder = ModelBuilder()
    ends = []
    for (n, h, w, c), size in [*SIZES[1::2], *(random_sizes(rng) for _ in range(3))]:
        for rule in RULES:
            x = builder.tensor((n, h, w, c), dtype, **quant(dtype))
            y = builder.tensor((n, *size, c), dtype, **quant(dtype))
            builder.op(OP, [x, builder.tensor((2,), "int32", data=size)], [y], 3, **rule)
            ends.append((x, y))
    model = builder.build([x for x, _ in ends], [y for _, y in ends])
    assert_equal({dtype: model}, tmp_path, rng, samples=3, sanitize=True)


def test_refusals() -> None:
    both = resize_model(OP, (1, 2, 2, 1), (4, 4), align_corners=True, half_pixel_centers=True)
    assert_refused(both, "align_corners and half_pixel_centers exclude each other")
    flat = moving_model(OP, (4, 4), [(4, 4)], [(4, 4)])
    assert_refused(flat, "must have four dimensions and the size two elements")
    wrong = moving_model(OP, (1, 2, 2, 1), [(1, 4, 5, 1)], [(4, 4)])
    assert_refused(wrong, r"where the operator makes \[1, 4, 4, 1\]")
    other = resize_model(OP, (1, 2, 2, 1), (4, 4), "bool")
    assert_refused(other, "is bool; only int8")
