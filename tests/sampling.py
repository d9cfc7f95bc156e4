"""Choosing a few cases out of a long sweep."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

Case = TypeVar("Case")


def sampled(cases: Sequence[Case], k: int, seed: int) -> list[Case]:
    """Return `k` different cases in their original order, or all if there are no more than `k`.

    The choice depends on `seed`, `k` and the number of cases alone.
    """
    if len(cases) <= k:
        return list(cases)
    chosen = sorted(random.Random(seed).sample(range(len(cases)), k))
    return [cases[i] for i in chosen]
