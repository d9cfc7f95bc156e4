"""Lists made into loops: what the loops do is what the list said, and little is left unrolled."""

from __future__ import annotations

import numpy as np
import pytest

from codegen.npu.roll import Node, roll
from codegen.plan import Affine, DmaWait, Loop, Step


def node(*values: int, key: str = "wait") -> Node:
    return Node(key, values, lambda v, _: DmaWait(v[0]))


def at(value: Affine, env: dict[str, int]) -> int:
    turns = (factor * ((env[name] + shift) % m) for name, shift, m, factor in value.cycles)
    return value.constant + sum(f * env[name] for name, f in value.terms) + sum(turns)


def expanded(steps: tuple[Step, ...], env: dict[str, int]) -> list[int]:
    """The tickets that the steps wait for, in order."""
    found: list[int] = []
    for step in steps:
        if isinstance(step, Loop):
            for value in range(step.count):
                found += expanded(step.body, {**env, step.variable: value})
        else:
            assert isinstance(step, DmaWait)
            found.append(at(step.ticket, env))
    return found


def length(steps: tuple[Step, ...]) -> int:
    return sum(length(s.body) if isinstance(s, Loop) else 1 for s in steps)


@pytest.mark.parametrize(
    ("tickets", "most"),
    [
        ([], 0),
        ([5], 1),
        ([3, 1, 4, 1, 5], 5),
        (list(range(40)), 1),
        ([7, 7, 7, 7, 7, 7], 1),
        ([0, 10, 0, 10, 0, 10, 0, 10], 1),
        ([20, 0, 10] * 5, 1),
        ([k * 100 + i for k in range(6) for i in range(5)], 5),
        ([9, 9, *range(0, 64, 2), 1, 2], 5),
        ([v for i in range(9) for v in (i * 4, 500 + (i + 1) % 2 * 64)], 2),
    ],
)
def test_lists(tickets: list[int], most: int) -> None:
    steps = roll([node(t) for t in tickets])
    assert expanded(steps, {}) == tickets
    assert length(steps) <= most


def test_random_lists(rng: np.random.Generator) -> None:
    """Pieces of regular runs between noise, two kinds of steps: always the same list again."""
    for _ in range(60):
        tickets: list[int] = []
        for _ in range(int(rng.integers(1, 6))):
            start, step = int(rng.integers(0, 50)), int(rng.integers(-3, 4))
            run = int(rng.integers(1, 12))
            tickets += [start + step * (i % int(rng.integers(1, 5))) for i in range(run)]
            tickets += [start + step * i for i in range(run)]
        kinds = rng.integers(0, 2, len(tickets))
        nodes = [node(t, key=f"k{k}") for t, k in zip(tickets, kinds.tolist(), strict=True)]
        assert expanded(roll(nodes), {}) == tickets
