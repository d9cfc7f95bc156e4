"""SQUEEZE against the reference: chosen axes, all of them, negative ones; views."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.ops.equality import assert_equal
from tests.ops.movement import TYPES, assert_refused, layer_notes, moving_model

CASES = {
    "one": moving_model("SQUEEZE", (1, 3, 1, 4), [(3, 1, 4)], squeeze_dims=(0,)),
    "negative": moving_model("SQUEEZE", (1, 3, 1, 4), [(1, 3, 4)], squeeze_dims=(-2,)),
    "two": moving_model("SQUEEZE", (1, 3, 1, 4), [(3, 4)], squeeze_dims=(2, 0)),
    "all": moving_model("SQUEEZE", (1, 3, 1, 4), [(3, 4)]),
    "to a scalar": moving_model("SQUEEZE", (1, 1), [()]),
    "nothing": moving_model("SQUEEZE", (2, 3), [(2, 3)]),
} | {t: moving_model("SQUEEZE", (1, 3, 1, 4), [(3, 4)], dtype=t) for t in TYPES}


def test_axes(tmp_path: Path, rng: np.random.Generator) -> None:
    assert_equal(CASES, tmp_path, rng, samples=1, sanitize=True)


def test_is_a_view() -> None:
    assert "no code" in layer_notes(CASES["two"])[0]


def test_refusals() -> None:
    large = moving_model("SQUEEZE", (1, 3), [(1,)], squeeze_dims=(1,))
    assert_refused(large, r"SQUEEZE: axis 1 of int8\[1,3\] is not of size 1")
    beyond = moving_model("SQUEEZE", (1, 3), [(3,)], squeeze_dims=(2,))
    assert_refused(beyond, "axis 2 does not exist in 2 dimensions")
