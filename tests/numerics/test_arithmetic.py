"""docs/numerics.md's formulas give LiteRT's bytes on random one-operator models.

Each test draws a number of models; with --full ten times as many.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.numerics import elementwise, spatial
from tests.numerics.blocks import Q, ints
from tests.numerics.cases import ACTIVATIONS, Constant, Draw, Pair, run_operator

Check = Callable[[Callable[[Draw], Pair]], None]


def _window(draw: Draw, dilated: bool) -> tuple[spatial.Window, dict[str, Any]]:
    window = spatial.Window(
        kernel=draw.pair(1, 4),
        stride=draw.pair(1, 4),
        dilation=draw.pair(1, 3) if dilated else (1, 1),
        padding=draw.one_of(["SAME", "VALID"]),
    )
    options = {
        "padding": window.padding,
        "stride_h": window.stride[0],
        "stride_w": window.stride[1],
    }
    if dilated:
        options["dilation_h_factor"], options["dilation_w_factor"] = window.dilation
    else:
        options["filter_height"], options["filter_width"] = window.kernel
    return window, options


def _conv(draw: Draw, depthwise: bool) -> Pair:
    window, options = _window(draw, dilated=True)
    qx, qy, act = draw.q(), draw.q(high=1), draw.one_of(ACTIVATIONS)
    x = draw.codes(2, *draw.pair(5, 10), 4)
    groups, per_group = draw.one_of([1, 2, 4]), draw.below(1, 4)
    if depthwise:
        options["depth_multiplier"] = per_group
        w = np.maximum(draw.codes(1, *window.kernel, 4 * per_group), -127)
    else:
        w = np.maximum(draw.codes(groups * per_group, *window.kernel, 4 // groups), -127)
    axis = 3 if depthwise else 0
    channels = w.shape[axis]
    scales = draw.weight_scales(draw.one_of([1, channels]))
    bias = ints(draw.rng.integers(-9000, 9000, channels))
    formula = spatial.depthwise_conv_2d if depthwise else spatial.conv_2d
    expected = formula(x, w, bias, window, qx, scales, qy, act)
    got = run_operator(
        "DEPTHWISE_CONV_2D" if depthwise else "CONV_2D",
        [(x, qx)],
        (expected.shape, "int8", qy),
        3,
        [Constant(w, "int8", scales, axis=axis), Constant(bias, "int32", qx.scale * scales)],
        fused_activation_function=act,
        **options,
    )
    return got, expected


def test_conv_2d(check: Check) -> None:
    check(lambda draw: _conv(draw, depthwise=False))


def test_depthwise_conv_2d(check: Check) -> None:
    check(lambda draw: _conv(draw, depthwise=True))


def _fully_connected(draw: Draw, powers_of_two: bool) -> Pair:
    depth, outputs = draw.below(1, 40), draw.below(2, 9)
    qx, qy, act = draw.q(), draw.q(high=1), draw.one_of(ACTIVATIONS)
    scales = draw.weight_scales(draw.one_of([1, outputs]))
    if powers_of_two:  # so that exact ties are frequent
        qx, qy = Q(np.float32(1 / 16), qx.zero_point), Q(np.float32(1 / 2), qy.zero_point)
        scales = np.exp2(np.round(np.log2(scales) / 2)).astype(np.float32)
    zero = draw.below(-128, 128) if scales.size == 1 else 0
    x, w = draw.codes(3, depth), draw.codes(outputs, depth)
    bias = ints(draw.rng.integers(-9000, 9000, outputs))
    expected = spatial.fully_connected(x, w, bias, qx, scales, zero, qy, act)
    got = run_operator(
        "FULLY_CONNECTED",
        [(x, qx)],
        (expected.shape, "int8", qy),
        4,
        [
            Constant(w, "int8", scales, [zero] * scales.size),
            Constant(bias, "int32", qx.scale * scales),
        ],
        fused_activation_function=act,
    )
    return got, expected


@pytest.mark.parametrize("powers_of_two", [False, True])
def test_fully_connected(check: Check, powers_of_two: bool) -> None:
    check(lambda draw: _fully_connected(draw, powers_of_two))


@pytest.mark.parametrize("kind", ["AVERAGE_POOL_2D", "MAX_POOL_2D"])
def test_pooling(check: Check, kind: str) -> None:
    formula = spatial.average_pool_2d if kind == "AVERAGE_POOL_2D" else spatial.max_pool_2d

    def case(draw: Draw) -> Pair:
        window, options = _window(draw, dilated=False)
        q, act = draw.q(), draw.one_of(ACTIVATIONS)
        x = draw.codes(2, *draw.pair(4, 10), 3)
        expected = formula(x, window, q, act)
        output = (expected.shape, "int8", q)
        got = run_operator(kind, [(x, q)], output, 2, fused_activation_function=act, **options)
        return got, expected

    check(case)


def test_mean(check: Check) -> None:
    def case(draw: Draw) -> Pair:
        qx, qy = draw.q(), draw.q()
        x = draw.codes(2, *draw.pair(1, 30), 5)
        axes = draw.one_of([(1, 2), (1,), (3,), (2, 3), (1, 2, 3), (2, 1)])
        expected = spatial.mean(x, axes, qx, qy)
        output = (expected.shape, "int8", qy)
        constants = [Constant(np.array(axes), "int32")]
        return run_operator("MEAN", [(x, qx)], output, 2, constants, keep_dims=True), expected

    check(case)


@pytest.mark.parametrize("kind", ["ADD", "SUB", "MUL"])
def test_arithmetic(check: Check, kind: str) -> None:
    def case(draw: Draw) -> Pair:
        qa, qb, qy, act = draw.q(), draw.q(), draw.q(high=3), draw.one_of(ACTIVATIONS)
        a, b = draw.codes(3, 4, 5), draw.codes(*draw.one_of([(3, 4, 5), (5,), (3, 1, 1)]))
        if kind == "MUL":
            expected = elementwise.mul(a, b, qa, qb, qy, act)
        else:
            expected = elementwise.add(a, b, qa, qb, qy, act, sign=-1 if kind == "SUB" else 1)
        output = (expected.shape, "int8", qy)
        got = run_operator(kind, [(a, qa), (b, qb)], output, 2, fused_activation_function=act)
        return got, expected

    check(case)


def _beside_ties(draw: Draw, kind: str) -> Pair:
    """Accumulators (given as biases) next to ties, where the multiplier's last bit shows."""
    qx, qy, scale = draw.q(1e-3), draw.q(0.01, 0.5), draw.weight_scales(1)
    real = float(qx.scale) * float(scale[0]) / float(qy.scale)
    codes = draw.rng.integers(-120, 120, 4096)
    bias = ints(np.rint((codes + 0.5) / real))
    dense = kind == "FULLY_CONNECTED"
    x = np.full((1, 1) if dense else (1, 1, 1, 1), qx.zero_point, np.int8)
    w = np.ones((4096, 1) if dense else (4096, 1, 1, 1), np.int8)
    if dense:
        expected = spatial.fully_connected(x, w, bias, qx, scale, 0, qy, "NONE")
    else:
        expected = spatial.conv_2d(x, w, bias, spatial.Window((1, 1)), qx, scale, qy, "NONE")
    options = {} if dense else {"padding": "VALID", "stride_h": 1, "stride_w": 1}
    constants = [Constant(w, "int8", scale), Constant(bias, "int32", qx.scale * scale)]
    got = run_operator(kind, [(x, qx)], (expected.shape, "int8", qy), 4, constants, **options)
    return got, expected


@pytest.mark.parametrize("kind", ["CONV_2D", "FULLY_CONNECTED"])
def test_rounding_beside_ties(check: Check, kind: str) -> None:
    check(lambda draw: _beside_ties(draw, kind))
