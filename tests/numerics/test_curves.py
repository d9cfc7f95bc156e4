"""docs/numerics.md's formulas of one-variable operators, softmax, resizing and moves of codes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.numerics import curves, resize
from tests.numerics.blocks import Q
from tests.numerics.cases import Constant, Draw, Pair, run_operator

Check = Callable[[Callable[[Draw], Pair]], None]
ALL_CODES = np.arange(-128, 128).astype(np.int8).reshape(1, 256)
PROBABILITY = Q(np.float32(1 / 256), -128)


def _curve(
    kind: str, formula: Callable[..., NDArray[Any]], qx: Q, qy: Q, version: int = 1, **options: Any
) -> Pair:
    """All 256 codes through an operator of one variable."""
    expected = formula(ALL_CODES, qx, qy)
    got = run_operator(kind, [(ALL_CODES, qx)], (ALL_CODES.shape, "int8", qy), version, **options)
    return got, expected


@pytest.mark.parametrize("kind", ["RELU", "RELU6"])
def test_relu(check: Check, kind: str) -> None:
    def formula(x: NDArray[np.int8], qx: Q, qy: Q) -> NDArray[np.int8]:
        return curves.relu(x, qx, qy, kind)

    check(lambda draw: _curve(kind, formula, draw.q(), draw.q(), version=2))


def test_leaky_relu(check: Check) -> None:
    def case(draw: Draw) -> Pair:
        alpha = float(np.float32(draw.rng.uniform(-0.5, 1.5)))
        qx, qy = draw.q(), draw.q()
        if draw.below(0, 2):  # so that exact ties are frequent
            alpha = round(8 * alpha) / 8
            qx = Q(np.float32(2.0 ** draw.below(-8, 0)), qx.zero_point)
            qy = Q(np.float32(2.0 ** draw.below(-8, 0)), qy.zero_point)
        return _curve(
            "LEAKY_RELU",
            lambda x, qx, qy: curves.leaky_relu(x, qx, qy, alpha),
            qx,
            qy,
            version=2,
            alpha=alpha,
        )

    check(case)


def test_hard_swish(check: Check) -> None:
    def case(draw: Draw) -> Pair:
        qx = draw.q(low=1e-3)
        scale = np.float32(qx.scale * np.exp(draw.rng.uniform(-4, 3)))
        return _curve("HARD_SWISH", curves.hard_swish, qx, Q(scale, draw.q().zero_point))

    check(case)


def test_logistic(check: Check) -> None:
    check(
        lambda draw: _curve(
            "LOGISTIC", lambda x, qx, _: curves.logistic(x, qx), draw.q(high=20), PROBABILITY
        )
    )


def test_tanh(check: Check) -> None:
    """Codes within 1e-4 of a tie are left out: there C libraries' tanhf differ."""

    def case(draw: Draw) -> Pair:
        qx, qy = draw.q(high=20), draw.q(high=0.05)
        got, expected = _curve("TANH", curves.tanh, qx, qy)
        real = np.tanh((ALL_CODES - float(qx.zero_point)) * float(qx.scale)) / float(qy.scale)
        clear = np.abs(np.abs(real) % 1 - 0.5) > 1e-4
        return got[clear], expected[clear]

    check(case)


def test_softmax(check: Check) -> None:
    def case(draw: Draw) -> Pair:
        qx, beta = draw.q(low=1e-5, high=20), float(np.float32(draw.rng.uniform(0.1, 3)))
        x = draw.codes(3, draw.below(1, 400)) // np.int8(draw.one_of([1, 5, 40]))
        expected = curves.softmax(x, qx, beta)
        output = (x.shape, "int8", PROBABILITY)
        return run_operator("SOFTMAX", [(x, qx)], output, 2, beta=beta), expected

    check(case)


def test_requantize(check: Check) -> None:
    check(lambda draw: _curve("QUANTIZE", curves.requantize, draw.q(), draw.q(), version=2))


def test_quantize(check: Check) -> None:
    def case(draw: Draw) -> Pair:
        q = draw.q()
        real = draw.rng.normal(0, 60, (2, 100))
        real[0] = np.round(real[0]) + 0.5  # ties
        x = (real * q.scale).astype(np.float32)
        expected = curves.quantize(x, q)
        return run_operator("QUANTIZE", [(x, None)], (x.shape, "int8", q)), expected

    check(case)


def test_dequantize(check: Check) -> None:
    def case(draw: Draw) -> Pair:
        q = draw.q()
        output = (ALL_CODES.shape, "float32", None)
        got = run_operator("DEQUANTIZE", [(ALL_CODES, q)], output, 2)
        return got, curves.dequantize(ALL_CODES, q)

    check(case)


@pytest.mark.parametrize("kind", ["RESIZE_NEAREST_NEIGHBOR", "RESIZE_BILINEAR"])
@pytest.mark.parametrize(("corners", "half"), [(False, False), (True, False), (False, True)])
def test_resize(check: Check, kind: str, corners: bool, half: bool) -> None:
    formula = (
        resize.resize_bilinear if kind == "RESIZE_BILINEAR" else resize.resize_nearest_neighbor
    )

    def case(draw: Draw) -> Pair:
        q, size = draw.q(), draw.pair(1, 30)
        x = draw.codes(2, *draw.pair(1, 14), 3)
        expected = formula(x, size, corners, half)
        got = run_operator(
            kind,
            [(x, q)],
            (expected.shape, "int8", q),
            3,
            [Constant(np.array(size), "int32")],
            align_corners=corners,
            half_pixel_centers=half,
        )
        return got, expected

    check(case)


@pytest.mark.parametrize("kind", ["MAXIMUM", "MINIMUM"])
def test_extremes_ignore_the_quantisation(check: Check, kind: str) -> None:
    formula = np.maximum if kind == "MAXIMUM" else np.minimum

    def case(draw: Draw) -> Pair:
        a, b = draw.codes(3, 4), draw.codes(4)
        expected = formula(a, b)
        inputs = [(a, draw.q()), (b, draw.q())]
        return run_operator(kind, inputs, (a.shape, "int8", draw.q()), 2), expected

    check(case)


def test_pad_fills_with_the_outputs_zero_point(check: Check) -> None:
    def case(draw: Draw) -> Pair:
        q = draw.q()
        x, (before, after) = draw.codes(2, 3), draw.pair(0, 4)
        expected = np.pad(x, ((0, 0), (before, after)), constant_values=q.zero_point)
        pads = Constant(np.array([[0, 0], [before, after]]), "int32")
        return run_operator("PAD", [(x, q)], (expected.shape, "int8", q), 1, [pads]), expected

    check(case)
