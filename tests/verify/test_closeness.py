"""What `verify` lets pass: floats a few ulp apart, integers never."""

from __future__ import annotations

import numpy as np
import pytest

from codegen.verify.closeness import RELATIVE, ULPS, largest_gap, unequal


def ulps_above(value: float, count: int, dtype: str = "float32") -> np.ndarray:
    array = np.array([value], dtype)
    for _ in range(count):
        array = np.nextafter(array, np.array(np.inf, dtype))
    return array


@pytest.mark.parametrize("dtype", ["float32", "float16", "float64"])
@pytest.mark.parametrize("value", [0.0, 1.0, -3.7, 1e-7])
def test_a_few_units_in_the_last_place(value: float, dtype: str) -> None:
    expected = np.array([value], dtype)
    assert not unequal(ulps_above(value, ULPS - 1, dtype), expected).any()
    far = expected + 100 * np.spacing(np.abs(expected)) + np.abs(expected) * 0.01
    assert unequal(far.astype(dtype), expected).all()


def test_a_share_of_the_largest_finite_magnitude() -> None:
    expected = np.array([0.001, -200.0, np.inf], np.float32)
    near = expected + np.array([200 * RELATIVE / 2, 0, 0], np.float32)
    assert unequal(near, expected).tolist() == [False, False, False]
    far = expected + np.array([200 * RELATIVE * 2, 0, 0], np.float32)
    assert unequal(far, expected).tolist() == [True, False, False]
    assert largest_gap(near, expected) == pytest.approx(200 * RELATIVE / 2, rel=1e-3)


def test_infinities_and_nan_must_agree() -> None:
    expected = np.array([np.nan, np.inf, -np.inf, np.inf, np.nan, 1.0], np.float32)
    got = np.array([np.nan, np.inf, np.inf, 3e38, 1.0, np.nan], np.float32)
    assert unequal(got, expected).tolist() == [False, False, True, True, True, True]
    assert largest_gap(got, expected) == 0.0


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.bool_])
def test_integers_are_equal_or_not(dtype: type) -> None:
    expected, got = np.array([0, 1, 1], dtype), np.array([0, 1, 0], dtype)
    assert unequal(got, expected).tolist() == [False, False, True]
    assert largest_gap(got, expected) == 0.0


def test_an_empty_tensor_is_equal() -> None:
    empty = np.zeros((0, 3), np.float32)
    assert not unequal(empty, empty).size and largest_gap(empty, empty) == 0.0
