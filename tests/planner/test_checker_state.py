"""State between runs in plans written by hand: what the checker accepts and what it refuses."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.planner.plans import Json, PlanWriter, assert_fault, faults, kernel


def delay() -> Json:
    """y = x + old; the new state is x. State 0..31 of its own space, x 0..31, y 32..63."""
    plan = PlanWriter()
    shape = (1, 1, 4, 8)
    state = plan.buffer("s", 0, 32, -1, 2, home="state")
    old, new = plan.tensor(shape, state), plan.tensor(shape, state)
    x = plan.tensor(shape, plan.buffer("x", 0, 32, -1, 1))
    y = plan.tensor(shape, plan.buffer("y", 32, 32, 0, 2))
    reads = [plan.read(x, "element"), plan.read(old, "element")]
    plan.layer("ADD", [x, old], [y], [kernel(reads, [plan.write(y)])])
    plan.layer("ASSIGN_VARIABLE", [x, old], [new], [kernel([plan.read(x)], [plan.write(new)])])
    return plan.build([x], [y], states=[(old, new)])


def swapped_layers(document: Json) -> None:
    """The old state is overwritten before it is read."""
    document["layers"].reverse()
    document["buffers"][1]["last"], document["buffers"][2]["first"] = 1, 1


def change(path: str, value: object) -> Callable[[Json], None]:
    """Set one value of the document."""

    def set_value(document: Json) -> None:
        *outer, last = (int(key) if key.isdigit() else key for key in path.split("."))
        place: Json = document
        for key in outer:
            place = place[key]  # type: ignore[index]
        place[last] = value  # type: ignore[index]

    return set_value


def test_a_delay_line_is_safe() -> None:
    assert faults(delay()) == ""


def test_state_that_never_changes_is_safe() -> None:
    document = delay()
    document["layers"].pop()
    document["tensors"].pop(1)
    document["buffers"][0]["tensors"] = [0]
    for buffer in document["buffers"]:
        buffer["last"] = min(buffer["last"], 1)
    document["states"] = [{"start": 0, "end": None}]
    assert faults(document) == ""


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (swapped_layers, ("reads tensor 0", "holds byte 0 of tensor 1")),
        (change("states.0.end", None), ("the next run's state tensor 0", "not there")),
        (change("states", []), ("tensor 0", "no layer yields it")),
        (change("states.0.end", 3), ("state 0", "has no place in a buffer of state")),
        (change("states.0.start", 9), ("state 0", "tensor 9 has no place")),
        (change("states.0.end", 0), ("the state's tensor 0", "2 times")),
        (change("tensors.1.offset", 4), ("state 0", "elsewhere than the next run begins")),
        (change("buffers.0.last", 1), ("buffer s", "has to live in layers -1..2")),
        (change("memories.0.state_bytes", 0), ("state ends at byte 32, not 0",)),
        (change("memories.0.used", 64), ("over budget", "state of 32")),
        (change("buffers.0.offset", 2), ("buffer s", "misaligned")),
        (change("layers.1.outputs", [0]), ("yields tensor 0", "which the run begins with")),
    ],
)
def test_faults(damage: Callable[[Json], None], words: tuple[str, ...]) -> None:
    document = delay()
    damage(document)
    assert_fault(document, *words)


def test_states_do_not_overlap() -> None:
    document = delay()
    other = dict(document["buffers"][0]) | {"name": "s2", "tensors": [4], "offset": 16}
    tensor = dict(document["tensors"][0]) | {"id": 4, "buffer": "s2"}
    document["buffers"].append(other)
    document["tensors"].append(tensor)
    document["states"].append({"start": 4, "end": None})
    document["memories"][0].update(state_bytes=48, used=112)
    assert_fault(document, "s and s2 overlap in bytes 16..31 of the state of ram")
