"""EXPAND_DIMS against the reference: every place of the new axis; views."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.ops.equality import assert_equal
from tests.ops.movement import TYPES, assert_refused, layer_notes, moving_model

CASES = {
    f"axis {axis}": moving_model(
        "EXPAND_DIMS", (2, 3, 4), [np.expand_dims(np.empty((2, 3, 4)), axis).shape], [axis]
    )
    for axis in range(-4, 4)
} | {t: moving_model("EXPAND_DIMS", (2, 3), [(2, 1, 3)], [[1]], dtype=t) for t in TYPES}


def test_axes(tmp_path: Path, rng: np.random.Generator) -> None:
    assert_equal(CASES, tmp_path, rng, samples=1, sanitize=True)


def test_is_a_view() -> None:
    assert "no code" in layer_notes(CASES["axis 1"])[0]


def test_refusals() -> None:
    beyond = moving_model("EXPAND_DIMS", (2, 3), [(2, 3, 1)], [3])
    assert_refused(beyond, "EXPAND_DIMS: axis 3 does not exist in 3 dimensions")
    two = moving_model("EXPAND_DIMS", (2, 3), [(2, 3, 1)], [[1, 2]])
    assert_refused(two, "holds 2 axes instead of one")
