"""MAXIMUM and MINIMUM: of the codes as they are, as the reference does it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.ops.binary import Binary, binary_model, quant_cases, shape_cases
from tests.ops.equality import assert_equal


def test_compiled(tmp_path: Path, rng: np.random.Generator) -> None:
    models = {
        f"{op} {what}": binary_model(cases, rng)
        for op in ("MAXIMUM", "MINIMUM")
        for what, cases in (
            ("shapes", shape_cases(Binary(op))),
            ("values", quant_cases(Binary(op), rng)[:8]),
        )
    }
    assert_equal(models, tmp_path, rng)


def test_sanitized(tmp_path: Path, rng: np.random.Generator) -> None:
    cases = [*shape_cases(Binary("MAXIMUM"))[::4], *shape_cases(Binary("MINIMUM"))[1::4]]
    assert_equal({"mixed": binary_model(cases, rng)}, tmp_path, rng, samples=1, sanitize=True)
