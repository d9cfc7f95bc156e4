"""Plans with control flow: what the checker proves of them, and what it refuses."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from codegen.boards import load_board
from codegen.importer import parse_model
from codegen.pipeline import BuildOptions, prepare_graph
from codegen.plan import Plan, PlanOptions
from codegen.plan_json import plan_document
from codegen.planner.build import build_plan
from codegen.planner.checker import check_plan
from codegen.planner.checker.document import parse
from codegen.planner.checker.index import Index
from codegen.planner.checker.simulate import Simulation
from tests.ops.control import BOOL, INT, Kind, Scope, model
from tests.ops.test_while import below, everything, up

ROW = Kind((5,), "float32")

Document = dict[str, Any]


def plan_of(data: bytes, options: PlanOptions | None = None) -> Plan:
    graph = prepare_graph(parse_model(data), BuildOptions())
    return build_plan(graph, load_board("host"), options or PlanOptions())


def loop_and_choice() -> bytes:
    """A loop that reads an operand in each turn, and a choice between two results."""

    def body(t: Scope, y: list[int]) -> list[int]:
        other = t.op("ABS", [y[2]], ROW)
        return [up(t, y[0]), t.add(t.add(y[1], y[2], ROW), other, ROW), y[2]]

    def main(s: Scope, x: list[int]) -> list[int]:
        held = s.op("NEG", [x[2]], ROW)
        _, y, _ = s.loop([x[1], x[2], held], [INT, ROW, ROW], below(4), body)
        return s.either(
            x[0],
            [y, x[2]],
            [ROW, ROW],
            [ROW],
            lambda t, z: [t.add(z[0], z[1], ROW)],
            lambda t, z: [t.op("NEG", [z[0]], ROW)],
        )

    return model([BOOL, INT, ROW], main)


@cache
def sound() -> Document:
    return plan_document(plan_of(loop_and_choice()), "net")


def layer(document: Document, kind: str) -> Document:
    found: Document = next(item for item in document["layers"] if item["kind"] == kind)
    return found


def part(document: Document, kind: str, number: int) -> Document:
    found: Document = layer(document, kind)["control"]["parts"][number]
    return found


def buffer_of(document: Document, tensor: int) -> Document:
    name = next(t["buffer"] for t in document["tensors"] if t["id"] == tensor)
    found: Document = next(b for b in document["buffers"] if b["name"] == name)
    return found


def buffer_inside(document: Document) -> Document:
    """A buffer that lives in the body of the loop alone."""
    span = part(document, "WHILE", 1)
    found: Document = next(
        b for b in document["buffers"] if span["first"] <= b["first"] and b["last"] < span["end"]
    )
    return found


def operand(document: Document) -> int:
    """What the body reads in every turn and never changes."""
    changed = {outer for _, outer in part(document, "WHILE", 1)["leave"]}
    found: int = next(o for o, _ in part(document, "WHILE", 1)["enter"] if o not in changed)
    return found


@pytest.mark.parametrize(
    ("order", "arena", "memory"),
    [
        ("model", "greedy", "min"),
        ("dfs", "two-ended", "balanced"),
        ("bfs", "pingpong", "max"),
        ("optimal", "optimal", "balanced"),
    ],
)
def test_plans_are_safe_and_their_bound_holds(order: str, arena: str, memory: str) -> None:
    options = PlanOptions(order=order, arena=arena, memory=memory)
    report = check_plan(plan_document(plan_of(everything(), options), "net"))
    assert report.safe and not report.bound_fault, report


def test_what_lives_across_a_loop_does_so_in_all_of_its_layers() -> None:
    document = sound()
    span = part(document, "WHILE", 1)
    buffer = buffer_of(document, operand(document))
    assert buffer["last"] >= span["end"] - 1


def over_the_operand(document: Document) -> None:
    buffer_inside(document)["offset"] = buffer_of(document, operand(document))["offset"]


def over_a_variable(document: Document) -> None:
    variable = part(document, "WHILE", 1)["leave"][-1][1]
    buffer_inside(document)["offset"] = buffer_of(document, variable)["offset"]


def operand_dies_early(document: Document) -> None:
    buffer = buffer_of(document, operand(document))
    buffer["last"] = part(document, "WHILE", 1)["first"]


def names_exchanged(document: Document) -> None:
    enter = part(document, "WHILE", 1)["enter"]
    enter[0][1], enter[1][1] = enter[1][1], enter[0][1]


def variable_not_given_back(document: Document) -> None:
    part(document, "WHILE", 1)["leave"].pop()


def result_not_given_back(document: Document) -> None:
    part(document, "IF", 1)["leave"].clear()


def given_back_twice(document: Document) -> None:
    leave = part(document, "IF", 0)["leave"]
    leave.append(leave[0])


def condition_gives_back(document: Document) -> None:
    part(document, "WHILE", 0)["leave"].append(part(document, "WHILE", 1)["leave"][0])


def parts_apart(document: Document) -> None:
    part(document, "WHILE", 0)["end"] += 1


def parts_too_long(document: Document) -> None:
    part(document, "IF", 1)["end"] += 1


def ways_that_overlap(document: Document) -> None:
    part(document, "IF", 1)["first"] -= 1


def condition_is_a_number(document: Document) -> None:
    layer(document, "WHILE")["control"]["condition"] = part(document, "WHILE", 1)["leave"][0][1]


def condition_is_unknown(document: Document) -> None:
    layer(document, "WHILE")["control"]["condition"] = 999


def condition_is_not_made(document: Document) -> None:
    span = part(document, "WHILE", 0)
    layers = document["layers"]
    other = next(item for item in layers if item["kind"] == "ABS")
    layers[span["first"]] = other | {"outputs": [], "steps": []}


def handed_in_twice(document: Document) -> None:
    enter = part(document, "WHILE", 1)["enter"]
    enter.append(enter[0])


def layers_exchanged(document: Document) -> None:
    span = part(document, "WHILE", 1)
    inside = document["layers"][span["first"] : span["end"]]
    document["layers"][span["first"] : span["end"]] = inside[::-1]


def loop_is_a_choice(document: Document) -> None:
    layer(document, "WHILE")["control"]["loops"] = False


def choice_is_a_loop(document: Document) -> None:
    layer(document, "IF")["control"]["loops"] = True


def unknown_field(document: Document) -> None:
    layer(document, "IF")["control"]["times"] = 3


CORRUPTIONS: dict[Callable[[Document], None], str] = {
    over_the_operand: "overlap in bytes",
    over_a_variable: "overlap in bytes",
    operand_dies_early: "which its parts need",
    names_exchanged: "are not the same bytes",
    variable_not_given_back: "leaves memory in another way|not there",
    result_not_given_back: "does not give back",
    given_back_twice: "gives it twice",
    condition_gives_back: "gives something back",
    parts_apart: "do not follow it",
    parts_too_long: "do not follow it",
    ways_that_overlap: "do not follow it",
    condition_is_a_number: "is not one boolean",
    condition_is_unknown: "has no place",
    condition_is_not_made: "no layer yields it",
    handed_in_twice: "comes from elsewhere too",
    layers_exchanged: "not there",
    loop_is_a_choice: "does not give back",
    choice_is_a_loop: "gives something back",
    unknown_field: "is not a field of version",
}


@pytest.mark.parametrize("corrupt", CORRUPTIONS, ids=lambda function: function.__name__)
def test_a_corrupted_plan_is_refused(corrupt: Callable[[Document], None]) -> None:
    document = copy.deepcopy(sound())
    assert check_plan(document).safe
    corrupt(document)
    faults = check_plan(document).faults
    assert any(word in fault for fault in faults for word in CORRUPTIONS[corrupt].split("|")), (
        faults
    )


def simulated(document: Document) -> list[str]:
    parsed, faults = parse(document)
    assert parsed is not None, faults
    return list(Simulation(Index.of(parsed)).run())


def test_the_second_turn_misses_what_the_first_one_overwrites() -> None:
    """The contents alone tell, whatever lives are declared."""
    document = copy.deepcopy(sound())
    assert simulated(document) == []
    over_the_operand(document)
    faults = simulated(document)
    assert any("WHILE" in fault and "hands over" in fault for fault in faults), faults


def test_behind_a_choice_only_what_both_ways_leave_is_there() -> None:
    """A way that destroys the model's kept input shows at the end, whichever way it is."""
    for number in (0, 1):
        options = PlanOptions(keep_input=True)
        document = plan_document(plan_of(loop_and_choice(), options), "net")
        span = part(document, "IF", number)
        written = document["layers"][span["first"]]["outputs"][0]
        kept = document["inputs"][2]
        buffer_of(document, written)["offset"] = buffer_of(document, kept)["offset"]
        faults = simulated(document)
        assert any("the kept input" in fault for fault in faults), faults


def copies_into_variables(document: Document) -> int:
    """How many first values the loop copies, as others live on."""
    return len(layer(document, "WHILE")["steps"])


def test_a_first_value_that_nobody_reads_again_becomes_the_variable() -> None:
    kinds = [INT, ROW]

    def main(s: Scope, x: list[int]) -> list[int]:
        first = s.op("NEG", [x[1]], ROW)
        turned = s.loop(
            [x[0], first], kinds, below(4), lambda t, y: [up(t, y[0]), t.add(y[1], y[1], ROW)]
        )
        return turned[1:]

    document = plan_document(plan_of(model(kinds, main)), "net")
    assert copies_into_variables(document) == 0
    assert check_plan(document).safe


@pytest.mark.parametrize("keeper", ["read behind", "two variables", "read inside"])
def test_a_first_value_that_is_needed_again_is_copied(keeper: str) -> None:
    kinds = [INT, ROW, ROW]

    def body(t: Scope, y: list[int]) -> list[int]:
        last = y[2] if keeper == "read inside" else t.op("ABS", [y[2]], ROW)
        return [up(t, y[0]), t.add(y[1], y[2], ROW), last]

    def main(s: Scope, x: list[int]) -> list[int]:
        first, other = s.op("NEG", [x[1]], ROW), s.op("ABS", [x[2]], ROW)
        second = other if keeper == "read behind" else first
        turned = s.loop([x[0], first, second], kinds, below(4), body)
        return [turned[1], s.add(turned[2], first if keeper == "read behind" else other, ROW)]

    document = plan_document(plan_of(model(kinds, main)), "net")
    assert copies_into_variables(document) == 1
    assert check_plan(document).safe


def test_a_lost_first_value_shows() -> None:
    """A plan that keeps no copy of what is read behind the loop is refused."""

    def main(s: Scope, x: list[int]) -> list[int]:
        first = s.op("NEG", [x[1]], ROW)
        turned = s.loop(
            [x[0], first], [INT, ROW], below(4), lambda t, y: [up(t, y[0]), t.add(y[1], y[1], ROW)]
        )
        return [s.add(turned[1], first, ROW)]

    document = plan_document(plan_of(model([INT, ROW], main)), "net")
    loop = layer(document, "WHILE")
    step = loop["steps"].pop()
    source, result = step["reads"][0]["tensor"], step["writes"][0]["tensor"]
    box = {key: step["reads"][0]["box"][key] for key in ("map", "start", "size")}
    loop["views"] = [
        {"source": {"tensor": source} | box, "result": {"tensor": result} | box},
    ]
    kept, lost = buffer_of(document, source), buffer_of(document, result)
    for tensor in document["tensors"]:
        if tensor["buffer"] == lost["name"]:
            tensor["buffer"] = kept["name"]
            kept["tensors"].append(tensor["id"])
    document["buffers"].remove(lost)
    for place in (view for item in document["layers"] for view in views_of(item["steps"])):
        if place["buffer"] == lost["name"]:
            place["buffer"] = kept["name"]
    kept["last"] = lost["last"]
    faults = simulated(document)
    assert any("not there" in fault and "ADD" in fault for fault in faults), faults


def views_of(steps: list[Document]) -> list[Document]:
    return [view for step in steps for view in (*step["reads"], *step["writes"])]
