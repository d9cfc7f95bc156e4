"""The checker proves cache maintenance: what CPU and transfers share is cleaned and invalidated."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

from codegen.boards import load_board
from codegen.importer import parse_model
from codegen.pipeline import BuildOptions, build
from codegen.plan import PlanOptions
from codegen.plan_json import plan_document
from codegen.planner.checker import check_plan
from tests.npu.test_checker import faults, steps_of
from tests.npu.test_simulator import engines_in_turn
from tests.tflite_builder import ModelBuilder

BOARD = "npu-256k"


@cache
def safe(*, caller_io: bool = False) -> dict[str, Any]:
    """A plan with an operator of the CPU between two of the NPU, all of them model outputs."""
    data = engines_in_turn(np.random.default_rng(3))
    options = BuildOptions(plan=PlanOptions(caller_io=caller_io))
    plan = build(parse_model(data), "net", load_board(BOARD), options).plan
    return plan_document(plan, "net")


@pytest.mark.parametrize("caller_io", [False, True])
def test_no_maintenance_can_be_left_out(caller_io: bool) -> None:
    document = safe(caller_io=caller_io)
    report = check_plan(document)
    assert report.safe and not report.bound_fault
    count = len(list(steps_of(document, "cache")))
    assert count >= 4
    for number in range(count):
        found = copy.deepcopy(document)
        steps, at = list(steps_of(found, "cache"))[number]
        assert "cache" in steps.pop(at)
        assert not check_plan(found).safe, number


def test_invalidating_is_not_cleaning() -> None:
    for number, (steps, at) in enumerate(steps_of(safe(), "cache")):
        if steps[at]["cache"] == "clean":
            found = copy.deepcopy(safe())
            steps, at = list(steps_of(found, "cache"))[number]
            steps[at]["cache"] = "invalidate"
            assert not check_plan(found).safe, number


def _unclean_input(found: dict[str, Any]) -> None:
    steps, at = next((s, i) for s, i in steps_of(found, "cache") if s[i]["cache"] == "clean")
    del steps[at]


def _dirty_target(found: dict[str, Any]) -> None:
    steps, at = next((s, i) for s, i in steps_of(found, "cache") if s[i]["cache"] == "invalidate")
    del steps[at]


def _too_early(found: dict[str, Any]) -> None:
    """The last invalidation before the stores have arrived."""
    steps, at = list(steps_of(found, "cache"))[-1]
    wait = max(i for i in range(at) if "dma_wait" in steps[i])
    steps.insert(wait, steps.pop(at))


def _of_flash(found: dict[str, Any]) -> None:
    name = next(b["name"] for b in found["buffers"] if b["home"] == "constant")
    steps, at = next(steps_of(found, "cache"))
    steps[at]["buffer"] = name


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (_unclean_input, "that the cache may not have written back"),
        (_dirty_target, "that the cache may write back over it"),
        (_too_early, "bytes are not there"),
        (_of_flash, "which is not behind the cache"),
    ],
)
def test_damage_is_found(damage: Callable[[dict[str, Any]], None], message: str) -> None:
    found = copy.deepcopy(safe())
    damage(found)
    assert message in faults(found)


def test_without_a_cache_nothing_is_needed() -> None:
    found = copy.deepcopy(safe())
    found["scratchpad"]["cache"] = None
    assert "which is not behind the cache" in faults(found)
    for steps, at in reversed(list(steps_of(found, "cache"))):
        del steps[at]
    assert check_plan(found).safe


def _beside(rng: np.random.Generator) -> bytes:
    """RELU of one input on the NPU, beside an ADD of another one on the CPU."""
    builder = ModelBuilder()
    shape = (1, 9, 7, 5)
    x, a, u, b = (builder.tensor(shape, "int8", 0.05, z) for z in (3, -5, 7, 0))
    constant = builder.tensor((5,), "int8", 0.03, 1, data=rng.integers(-128, 128, 5))
    builder.op("RELU", [x], [a])
    builder.op("ADD", [u, constant], [b])
    return builder.build([x, u], [a, b])


def test_lines_that_buffers_share() -> None:
    """What the CPU has written to a line is gone when the line is invalidated for a store there."""
    plan = build(parse_model(_beside(np.random.default_rng(3))), "net", load_board(BOARD)).plan
    found = plan_document(plan, "net")
    assert check_plan(found).safe
    for memory in found["memories"]:
        memory["alignment"] = 4
    end = 0
    for buffer in (b for b in found["buffers"] if b["home"] == "arena"):
        buffer["offset"], buffer["size"] = end, buffer["size"] - 4
        end += buffer["size"]
    memory = next(m for m in found["memories"] if m["arena_bytes"])
    memory["used"] += end - memory["arena_bytes"]
    memory["arena_bytes"] = end
    assert "holds what the cache may not have written back" in faults(found)
    found["scratchpad"]["cache"]["line"] = 4
    assert check_plan(found).safe
