"""float32 arithmetic, activations, SOFTMAX and LOG_SOFTMAX: the reference's bits on a PC."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.ops.binary import SHAPES
from tests.ops.equality import assert_equal
from tests.ops.floats import FloatOp, float_model
from tests.ops.windows import ACTIVATIONS


def binaries() -> list[FloatOp]:
    """Every pair of shapes, swapped for every other one, then every activation."""
    kinds = ("ADD", "SUB", "MUL", "MAXIMUM", "MINIMUM")
    pairs = [pair if i % 2 else pair[::-1] for i, pair in enumerate(SHAPES)]
    shaped = [
        FloatOp(kinds[i % len(kinds)], pair, np.broadcast_shapes(*pair))
        for i, pair in enumerate([*pairs, *SHAPES])
    ]
    fused = [
        FloatOp(op, [(3, 9), (9,)], (3, 9), (), {"fused_activation_function": activation})
        for op in kinds[:3]
        for activation in ACTIVATIONS
    ]
    return [*shaped, *fused, FloatOp("MUL", [(2, 3, 4)], (2, 3, 4), [(4,)])]


def softmaxes() -> list[FloatOp]:
    shapes = ((7,), (1, 1), (5, 37), (2, 3, 4), (2, 3, 4, 5), (2, 1, 3, 2, 5))
    logarithms = [FloatOp("LOG_SOFTMAX", [shape], shape) for shape in shapes]
    return [
        FloatOp("SOFTMAX", [shape], shape, (), {"beta": beta})
        for shape, beta in zip(shapes, (1.0, 1.0, 0.3, 7.0, 1.0, 0.0), strict=True)
    ] + logarithms


def activations() -> list[FloatOp]:
    shape, flat = (3, 5, 40), (600,)
    kinds = ("RELU", "RELU6", "HARD_SWISH", "LOGISTIC", "TANH")
    slopes = (0.0, 0.2, 1.0, -0.3, 3.0)
    leaky = [FloatOp("LEAKY_RELU", [flat], flat, (), {"alpha": alpha}) for alpha in slopes]
    return [*(FloatOp(op, [shape], shape) for op in kinds), *leaky]


@pytest.mark.parametrize("part", [binaries, softmaxes, activations])
def test_sweep(part: object, tmp_path: Path, rng: np.random.Generator) -> None:
    assert callable(part)
    models = {"all": float_model(part(), rng)}
    assert_equal(models, tmp_path, rng, samples=8, specials=4)


def test_sanitized(tmp_path: Path, rng: np.random.Generator) -> None:
    models = {"mixed": float_model(binaries()[::4] + softmaxes() + activations(), rng)}
    assert_equal(models, tmp_path, rng, samples=1, specials=1, sanitize=True)
