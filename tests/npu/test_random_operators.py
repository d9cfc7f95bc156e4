"""Random operators on a small scratchpad: split, simulated with hostile hardware, byte-exact.

A plain run takes a sample of the 400 cases; `--full` takes all of them, of which at least one in
eight has to be split along each dimension.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.npu.cases import BOARD, random_case
from tests.ops.equality import assert_equal

CASES = 400
DIMENSIONS = ("rows", "columns", "channels", "depth")
BATCH = 50


def test_random_operators(
    tmp_path: Path,
    rng: np.random.Generator,
    seed: int,
    sample: Callable[[Sequence[Any], int], list[Any]],
    pytestconfig: pytest.Config,
) -> None:
    cases = [random_case(seed + number) for number in sample(range(CASES), 16)]
    splits = Counter(split for case in cases for split in case.splits)
    often = [name for name in DIMENSIONS if splits[name] >= max(1, len(cases) // 8)]
    assert len(often) == 4 or (len(often) >= 2 and len(cases) < CASES), splits
    for start in range(0, len(cases), BATCH):
        batch = {case.label: case.data for case in cases[start : start + BATCH]}
        folder = tmp_path / str(start)
        folder.mkdir()
        assert_equal(batch, folder, rng, samples=1, board=BOARD)
