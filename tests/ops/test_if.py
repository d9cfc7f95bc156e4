"""IF: one of two ways, against the interpreter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.ops.control import BOOL, INT, Kind, Scope, model
from tests.ops.equality import assert_equal

MAP = Kind((1, 3, 4, 2), "int8", 0.1, 3)
ROW = Kind((5,), "float32")


def _sub(s: Scope, a: int, b: int, kind: Kind) -> int:
    return s.op("SUB", [a, b], kind, fused_activation_function="NONE")


def _add_or_sub(s: Scope, x: list[int]) -> Sequence[int]:
    return s.either(
        x[0],
        x[1:],
        [MAP, MAP],
        [MAP],
        lambda t, y: [t.add(y[0], y[1], MAP)],
        lambda t, y: [_sub(t, y[0], y[1], MAP)],
    )


def _chains(s: Scope, x: list[int]) -> Sequence[int]:
    """Ways of different length, with working buffers of their own."""

    def long(t: Scope, y: list[int]) -> Sequence[int]:
        a = t.op("ABS", [y[0]], ROW)
        b = t.op("NEG", [y[0]], ROW)
        return [t.add(t.add(a, b, ROW), _sub(t, a, y[0], ROW), ROW), a]

    def short(t: Scope, y: list[int]) -> Sequence[int]:
        return [t.op("NEG", [y[0]], ROW), t.constant(2.5, ROW)]

    return s.either(x[0], x[1:], [ROW], [ROW, ROW], long, short)


def _handed_through(s: Scope, x: list[int]) -> Sequence[int]:
    """Results that are operands, one of them twice, and constants."""
    return s.either(
        x[0],
        x[1:],
        [ROW, ROW],
        [ROW, ROW, ROW],
        lambda t, y: [y[1], y[0], y[0]],
        lambda t, y: [t.constant(1.0, ROW), t.add(y[0], y[1], ROW), y[1]],
    )


def _read_behind(s: Scope, x: list[int]) -> Sequence[int]:
    """Operands and the condition live on behind the operator."""
    (y,) = _add_or_sub(s, x)
    return [s.add(y, x[1], MAP), s.op("LOGICAL_NOT", [x[0]], BOOL)]


def _nested(s: Scope, x: list[int]) -> Sequence[int]:
    inner = [BOOL, ROW, ROW]

    def then(t: Scope, y: list[int]) -> Sequence[int]:
        return t.either(
            y[0],
            y[1:],
            [ROW, ROW],
            [ROW],
            lambda u, z: [u.add(z[0], z[1], ROW)],
            lambda u, z: [_sub(u, z[0], z[1], ROW)],
        )

    return s.either(x[0], x[1:], inner, [ROW], then, lambda t, y: [t.op("NEG", [y[1]], ROW)])


def _while_inside(s: Scope, x: list[int]) -> Sequence[int]:
    kinds = [INT, ROW]

    def then(t: Scope, y: list[int]) -> Sequence[int]:
        return t.loop(
            [t.constant(0), y[0]],
            kinds,
            lambda u, z: [u.less(z[0], u.constant(3))],
            lambda u, z: [u.add(z[0], u.constant(1)), u.add(z[1], z[1], ROW)],
        )[1:]

    return s.either(x[0], x[1:], [ROW], [ROW], then, lambda t, y: [t.op("NEG", [y[0]], ROW)])


def _computed_condition(s: Scope, x: list[int]) -> Sequence[int]:
    test = s.less(x[0], s.constant(0))
    return s.either(
        test,
        [x[0]],
        [INT],
        [INT],
        lambda t, y: [t.add(y[0], t.constant(100))],
        lambda t, y: [t.add(y[0], y[0])],
    )


def _constant_condition(value: bool) -> Callable[[Scope, list[int]], Sequence[int]]:
    return lambda s, x: _add_or_sub(s, [s.constant(value, BOOL), *x])


def _two_in_a_row(s: Scope, x: list[int]) -> Sequence[int]:
    (y,) = _add_or_sub(s, x[:3])
    return _add_or_sub(s, [x[3], y, x[2]])


CASES: dict[str, bytes] = {
    "add or subtract": model([BOOL, MAP, MAP], _add_or_sub),
    "chains": model([BOOL, ROW], _chains),
    "handed through": model([BOOL, ROW, ROW], _handed_through),
    "read behind": model([BOOL, MAP, MAP], _read_behind),
    "nested": model([BOOL, BOOL, ROW, ROW], _nested),
    "while in if": model([BOOL, ROW], _while_inside),
    "computed condition": model([INT], _computed_condition),
    "always true": model([MAP, MAP], _constant_condition(True)),
    "always false": model([MAP, MAP], _constant_condition(False)),
    "two in a row": model([BOOL, MAP, MAP, BOOL], _two_in_a_row),
}


@pytest.mark.parametrize("sanitize", [False, True])
def test_equal(tmp_path: Path, rng: np.random.Generator, sanitize: bool) -> None:
    assert_equal(CASES, tmp_path, rng, samples=6, sanitize=sanitize)
