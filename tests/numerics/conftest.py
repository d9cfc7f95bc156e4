"""How the formulas are compared with LiteRT."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.numerics.cases import Draw, Pair


@pytest.fixture
def check(
    rng: np.random.Generator, pytestconfig: pytest.Config
) -> Callable[[Callable[[Draw], Pair]], None]:
    """`check(case)`: `case` returns (LiteRT's output, the formula's) for one random model.

    30 models are drawn, 300 with --full.
    """
    count = 300 if pytestconfig.getoption("--full") else 30

    def compare(case: Callable[[Draw], Pair]) -> None:
        draw = Draw(rng)
        for _ in range(count):
            got, expected = case(draw)
            np.testing.assert_array_equal(got, expected, strict=True)

    return compare
