"""The public MiniMalloc problems, three of them; the script beside this solves all eleven."""

from __future__ import annotations

import pytest

from tests.benchmarks import offsets
from tests.paths import MODELS

PROBLEMS = None if MODELS is None else MODELS.parent / "bench" / "minimalloc"


@pytest.mark.skipif(
    PROBLEMS is None or not PROBLEMS.is_dir(), reason="shared MiniMalloc problems not found"
)
@pytest.mark.parametrize("name", ["D", "G", "K"])
def test_problems_are_solved(name: str) -> None:
    assert PROBLEMS is not None
    result = offsets.run(PROBLEMS, (name,))
    assert result[name]["solved"]
    assert result[name]["seconds"] < 25
