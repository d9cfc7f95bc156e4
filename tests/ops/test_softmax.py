"""SOFTMAX over the last axis: scales, beta, lengths, ranks, and what the reference refuses."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from codegen.errors import CodegenError
from codegen.ops.softmax import exponentials
from tests.ops.equality import assert_equal
from tests.ops.unary import SYMMETRIC, Unary, compiled_outputs, lowered, random_quant, unary_model
from tests.oracle import run_reference

PROBABILITY = (1 / 256, -128)


def softmax(
    x: tuple[float, int],
    shape: tuple[int, ...],
    beta: float = 1.0,
    y: tuple[float, int] = PROBABILITY,
    types: tuple[str, str] = ("int8", "int8"),
) -> Unary:
    return Unary("SOFTMAX", x, y, {"beta": beta}, types, shape)


def test_compiled(tmp_path: Path, rng: np.random.Generator) -> None:
    """From scales that tell no codes apart to those where only the largest code counts."""
    scales = [softmax((s, 3), (40, 10)) for s in (1e-6, 1e-4, 0.003, 0.02, 0.06, 0.2, 0.9, 8, 300)]
    random = [
        softmax(random_quant(rng, 1e-3, 3), (9, n), float(np.float32(rng.uniform(0.1, 3))))
        for n in (1, 2, 3, 12, 35, 100, 255, 411)
    ]
    shapes = [
        softmax((0.07, -128), shape)
        for shape in ((12,), (1, 1, 1, 6), (3, 4, 5, 6), (2, 1, 3, 1, 4), (2, 3, 2, 2, 3, 5))
    ]
    cases = {"scales": scales, "random": random, "shapes": shapes}
    models = {name: unary_model(group) for name, group in cases.items()}
    assert_equal(models, tmp_path / "plain", rng)
    assert_equal(
        {"scales": models["scales"]}, tmp_path / "sanitized", rng, samples=1, sanitize=True
    )


@pytest.mark.parametrize(
    ("types", "y"),
    [
        (("uint8", "uint8"), (1 / 256, 0)),
        (("int8", "int16"), (1 / 65536, -32768)),
        (("uint8", "int16"), SYMMETRIC),
        (("int16", "int16"), SYMMETRIC),
    ],
)
def test_other_types(
    types: tuple[str, str], y: tuple[float, int], tmp_path: Path, rng: np.random.Generator
) -> None:
    finest = 256.0 if types[0] == "int16" else 1.0

    def case(shape: tuple[int, ...]) -> Unary:
        x = random_quant(rng, 1e-3 / finest, 3 / finest, types[0])
        return softmax(x, shape, float(np.float32(rng.uniform(0.1, 3))), y, types)

    cases = [case((9, n)) for n in (1, 2, 2, 3, 3, 12, 35, 100, 255, 411) for _ in range(2)]
    shapes = [case(shape) for shape in ((12,), (1, 1, 1, 6), (3, 4, 5, 6), (2, 3, 2, 2, 3, 5))]
    models = {"cases": unary_model(cases), "shapes": unary_model(shapes)}
    assert_equal(models, tmp_path, rng, sanitize=True)


def test_a_thousand_classes(tmp_path: Path, rng: np.random.Generator) -> None:
    data = unary_model([softmax((0.05, 0), (4, 1000))])
    x = rng.integers(-128, 128, (4, 1000)).astype(np.int8)
    (raw,) = compiled_outputs(data, [x], tmp_path)
    np.testing.assert_array_equal(
        np.frombuffer(raw, np.int8).reshape(x.shape), run_reference(data, [[x]])[0][0]
    )


@pytest.mark.parametrize("classes", [600, 4095, 8191])
def test_more_equal_classes_than_the_reference_bears(classes: int, tmp_path: Path) -> None:
    """It stops above 511; here all get the lowest code, and nothing overflows on the way."""
    data = unary_model([softmax((0.5, 0), (1, classes))])
    (raw,) = compiled_outputs(data, [np.full(classes, 127, np.int8)], tmp_path)
    assert set(np.frombuffer(raw, np.int8)) == {-128}


def test_exponentials_follow_the_real_function() -> None:
    for scale in (1e-4, 0.02, 0.3, 5.0):
        values = np.array(exponentials(scale)) / 2**31
        np.testing.assert_allclose(values, np.exp(-scale * np.arange(values.size)), atol=1e-6)


@pytest.mark.parametrize(
    ("case", "message"),
    [
        (softmax((0.1, 0), (4,), y=(0.005, -128)), "scale 0.005 and zero point -128"),
        (softmax((0.1, 0), (4,), y=(1 / 256, 0)), "scale 0.00390625 and zero point 0"),
        (softmax((0.1, 0), (4,), beta=0.0), "too small to tell codes apart"),
        (softmax((0.1, 0), (4,), beta=-1.0), "too small to tell codes apart"),
        (softmax((0.1, 0), ()), "has no last axis"),
        (softmax((0.1, 0), (1, 8192)), "8192 classes"),
        (
            softmax((0.1, 0), (4,), y=(1 / 256, 0), types=("int16", "int16")),
            "scale 0.00390625 and zero point 0 where only 1/32768 and 0",
        ),
        (softmax((0.1, 0), (4,), types=("int16", "int8")), "is int8; only int16 is supported"),
    ],
)
def test_refusals(case: Unary, message: str) -> None:
    with pytest.raises(CodegenError, match=f"operator 0 SOFTMAX.*{message}"):
        lowered(case)
