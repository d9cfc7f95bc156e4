"""The figures of docs/planner.md are those that the scripts print."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.benchmarks.arenas import row
from tests.paths import app_models, requires_models

DOCUMENT = Path(__file__).parents[2] / "docs" / "planner.md"


@requires_models
def test_arenas(sample: Callable[[Any, int], Any]) -> None:
    lines = DOCUMENT.read_text(encoding="utf-8").splitlines()
    measured = [path for path in app_models() if any(f"| {path.stem} |" in line for line in lines)]
    assert len(measured) >= 6
    for path in sample(measured, 2):
        assert row(path) in lines, path.name
