"""plan.json of a board with an NPU: the checker finds what is wrong with transfers and commands."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from codegen.plan_json import plan_document
from codegen.planner.checker import check_plan
from tests.npu.test_models import built
from tests.paths import requires_models

pytestmark = requires_models

Step = dict[str, Any]


def document(name: str = "kws", board: str = "npu-64k") -> dict[str, Any]:
    """A fresh copy of a plan that is safe."""
    found = plan_document(built(name, board).plan, name)
    return copy.deepcopy(found)


def steps_of(found: dict[str, Any], key: str) -> Iterator[tuple[list[Step], int]]:
    """Every step with a field, as its list and its position there, loops entered."""

    def walk(steps: list[Step]) -> Iterator[tuple[list[Step], int]]:
        for number, step in enumerate(steps):
            if key in step:
                yield steps, number
            yield from walk(step.get("body", []))

    for layer in found["layers"]:
        yield from walk(layer["steps"])


def faults(found: dict[str, Any]) -> str:
    return "\n".join(check_plan(found).faults)


@pytest.mark.parametrize("board", ["npu-32k", "npu-64k", "npu-256k"])
def test_plans_are_safe(board: str) -> None:
    report = check_plan(document("ic", board))
    assert report.safe, report.faults


@pytest.mark.parametrize(
    ("name", "board"), [("kws", "npu-64k"), ("ic", "npu-64k"), ("ic", "npu-32k")]
)
def test_no_wait_can_be_left_out(
    name: str, board: str, sample: Callable[[Sequence[Any], int], list[Any]]
) -> None:
    safe = document(name, board)
    for key in ("dma_wait", "npu_wait"):
        count = len(list(steps_of(safe, key)))
        assert count > 10
        for number in sample(range(count), 6):
            found = copy.deepcopy(safe)
            steps, at = list(steps_of(found, key))[number]
            del steps[at]
            assert not check_plan(found).safe, (key, number)


def _first(found: dict[str, Any], key: str, number: int = 0) -> Step:
    steps, at = list(steps_of(found, key))[number]
    return steps[at]


def _late_input(found: dict[str, Any]) -> None:
    _first(found, "npu_start")["reads"][0]["offset"]["constant"] += 4


def _other_weights(found: dict[str, Any]) -> None:
    _first(found, "npu_start")["weights_at"]["constant"] += 4


def _tile_twice(found: dict[str, Any]) -> None:
    steps, at = next(steps_of(found, "npu_start"))
    steps[at : at + 1] = [steps[at], {"npu_wait": True}, steps[at]]


def _wrong_ticket(found: dict[str, Any]) -> None:
    _first(found, "dma_start", 1)["dma_start"]["constant"] += 1


def _into_running(found: dict[str, Any]) -> None:
    command = _first(found, "npu_start")
    target = command["reads"][0]["offset"]["constant"]
    loads = [s[i] for s, i in steps_of(found, "dma_start") if not s[i]["store"]]
    loads[2]["scratch"]["constant"] = target


def _outside(found: dict[str, Any]) -> None:
    _first(found, "dma_start")["scratch"]["constant"] = 10**6


def _beyond_source(found: dict[str, Any]) -> None:
    _first(found, "dma_start")["memory"]["constant"] = 10**6


def _too_long(found: dict[str, Any]) -> None:
    found["scratchpad"]["max_length"] = 10


def _short_queue(found: dict[str, Any]) -> None:
    found["scratchpad"]["queue"] = 1


def _unknown_variable(found: dict[str, Any]) -> None:
    _first(found, "dma_start")["memory"]["terms"] = [["q", 1]]


def _unknown_buffer(found: dict[str, Any]) -> None:
    _first(found, "dma_start")["buffer"] = "nowhere"


def _no_scratchpad(found: dict[str, Any]) -> None:
    del found["scratchpad"]


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (_late_input, "bytes are not there"),
        (_other_weights, "weights"),
        (_tile_twice, "double write"),
        (_wrong_ticket, "its ticket should be 1"),
        (_into_running, "overwrites bytes"),
        (_outside, "leaves the scratchpad"),
        (_beyond_source, "leaves buffer"),
        (_too_long, "beyond the DMA"),
        (_short_queue, "1 transfers wait already"),
        (_unknown_variable, "no loop has the variable q"),
        (_unknown_buffer, "buffer nowhere does not exist"),
        (_no_scratchpad, "there is no scratchpad"),
    ],
)
def test_damage_is_found(damage: Callable[[dict[str, Any]], None], message: str) -> None:
    found = document()
    damage(found)
    assert message in faults(found)
