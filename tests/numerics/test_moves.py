"""Operators that only move codes, and which differences of scale LiteRT refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.numerics.blocks import Q
from tests.numerics.cases import Constant, Draw, run_operator

A, B = Q(np.float32(0.1), 3), Q(np.float32(0.2), -7)
X = Draw(np.random.default_rng(1)).codes(2, 3, 4, 2)
POOL = {"padding": "VALID", "stride_h": 1, "stride_w": 1, "filter_height": 1, "filter_width": 1}


def _ints(*values: Any) -> Constant:
    return Constant(np.array(values), "int32")


MOVES = {
    "RESHAPE": (X.reshape(6, 8), [_ints(6, 8)], {}),
    "SLICE": (X[:, 1:2, 1:, :1], [_ints(0, 1, 1, 0), _ints(2, 1, -1, 1)], {}),
    "STRIDED_SLICE": (
        X[:, ::2, 1:],
        [_ints(0, 0, 1, 0), _ints(2, 3, 4, 2), _ints(1, 2, 1, 1)],
        {},
    ),
    "TRANSPOSE": (X.transpose(0, 3, 1, 2), [_ints(0, 3, 1, 2)], {}),
    "AVERAGE_POOL_2D": (X, [], POOL),
    "MAX_POOL_2D": (X, [], POOL),
    "RESIZE_NEAREST_NEIGHBOR": (X, [_ints(3, 4)], {}),
    "RESIZE_BILINEAR": (X, [_ints(3, 4)], {}),
}


@pytest.mark.parametrize("kind", MOVES)
def test_codes_move_whatever_the_scales_say(kind: str) -> None:
    expected, constants, options = MOVES[kind]
    output = (expected.shape, "int8", B)
    version = 1 if kind == "RESHAPE" else 2
    got = run_operator(kind, [(X, A)], output, version, constants, **options)
    np.testing.assert_array_equal(got, expected)


def _refused(
    match: str,
    kind: str,
    shape: tuple[int, ...],
    constants: list[Constant],
    version: int = 2,
    **options: Any,
) -> None:
    inputs: list[tuple[NDArray[Any], Q | None]] = [(X, A)]
    with pytest.raises(RuntimeError, match=match):
        run_operator(kind, inputs, (shape, "int8", B), version, constants, **options)


def test_concatenation_of_other_scales_is_refused() -> None:
    other = Constant(X, "int8", B.scale, B.zero_point)
    _refused("params.scale", "CONCATENATION", (2, 3, 4, 4), [other], axis=3)


def test_expand_dims_to_another_scale_is_refused() -> None:
    _refused("params.scale", "EXPAND_DIMS", (1, *X.shape), [_ints(0)], version=1)


def test_padv2_with_another_zero_point_is_refused() -> None:
    pads = _ints([0, 0], [1, 1], [1, 1], [0, 0])
    value = Constant(np.array([7]), "int8", A.scale, A.zero_point)
    _refused("zero_point", "PADV2", (2, 5, 6, 2), [pads, value])


@pytest.mark.parametrize("kind", ["SOFTMAX", "LOGISTIC"])
def test_probabilities_have_a_fixed_quantisation(kind: str) -> None:
    options: dict[str, Any] = {"beta": 1.0} if kind == "SOFTMAX" else {}
    _refused("zero_point|scale", kind, X.shape, [], **options)


def test_convolution_weights_are_symmetric() -> None:
    weights = Constant(np.ones((2, 1, 1, 2)), "int8", 0.1, 5)
    _refused("zero_point", "CONV_2D", X.shape, [weights], padding="VALID", stride_h=1, stride_w=1)
