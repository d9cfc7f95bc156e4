"""WHILE: a loop over variables, against the interpreter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from codegen.boards import load_board
from codegen.graph import Tensor
from codegen.importer import parse_model
from codegen.pipeline import BuildOptions, build
from codegen.plan import PlanOptions
from codegen.verify.program import build_host_program
from codegen.verify.session import sources_of
from tests.micro import run_micro
from tests.ops.control import BOOL, INT, Kind, Make, Scope, model
from tests.ops.equality import Array, assert_equal, random_input
from tests.paths import MODELS, requires_models

MAP = Kind((1, 3, 4, 2), "int8", 0.1, 3)
ROW = Kind((5,), "float32")


def draw(tensor: Tensor, rng: np.random.Generator) -> Array:
    """Counters small enough to be counted up."""
    if tensor.dtype.value == "int32":
        return rng.integers(0, 6, tensor.shape, np.int32)
    return random_input(tensor, rng)


def below(limit: int, position: int = 0) -> Make:
    """The condition that a variable is below a constant."""
    return lambda s, x: [s.less(x[position], s.constant(limit))]


def up(s: Scope, x: int, step: int = 1) -> int:
    return s.add(x, s.constant(step))


def counted(kinds: Sequence[Kind], body: Make, limit: int = 5) -> bytes:
    """A loop whose counter, the first input, starts where the caller says."""
    kinds = [INT, *kinds]

    def counting(s: Scope, x: list[int]) -> Sequence[int]:
        return [up(s, x[0]), *body(s, x)]

    return model(kinds, lambda s, x: s.loop(x, kinds, below(limit), counting))


def fixed(kinds: Sequence[Kind], body: Make, times: int) -> bytes:
    """A loop that counts from 0 to a constant."""
    inner = [INT, *kinds]

    def counting(s: Scope, x: list[int]) -> Sequence[int]:
        return [up(s, x[0]), *body(s, x)]

    def main(s: Scope, x: list[int]) -> Sequence[int]:
        return s.loop([s.constant(0), *x], inner, below(times), counting)[1:]

    return model(kinds, main)


def double(s: Scope, x: int, kind: Kind) -> int:
    return s.add(x, x, kind)


def _nested(s: Scope, x: list[int]) -> Sequence[int]:
    """A loop in the body whose bound is the counter outside."""
    kinds = [INT, INT, MAP]

    def condition(t: Scope, y: list[int]) -> Sequence[int]:
        return [t.less(y[0], y[1])]

    def body(t: Scope, y: list[int]) -> Sequence[int]:
        return [up(t, y[0]), y[1], t.add(y[2], t.constant(9, MAP), MAP)]

    return [s.loop([s.constant(0), x[0], x[1]], kinds, condition, body)[2]]


def _if_inside(s: Scope, x: list[int]) -> Sequence[int]:
    """Add a map when the counter is below 3, else subtract it."""
    test = s.less(x[0], s.constant(3))
    return s.either(
        test,
        [x[1], x[2]],
        [MAP, MAP],
        [MAP, MAP],
        lambda t, y: [t.add(y[0], y[1], MAP), y[1]],
        lambda t, y: [t.op("SUB", y, MAP, fused_activation_function="NONE"), y[0]],
    )


CASES: dict[str, Callable[[], bytes]] = {
    "one variable": lambda: model(
        [INT], lambda s, x: s.loop(x, [INT], below(4), lambda t, y: [up(t, y[0])])
    ),
    "accumulate": lambda: counted([MAP], lambda s, x: [double(s, x[1], MAP)]),
    "not in place": lambda: counted(
        [MAP, MAP], lambda s, x: [s.add(x[1], x[2], MAP), double(s, x[1], MAP)]
    ),
    "swapped": lambda: counted([MAP, MAP], lambda s, x: [x[2], x[1]]),
    "rotated": lambda: counted([ROW, ROW, ROW], lambda s, x: [x[2], x[3], s.add(x[1], x[2], ROW)]),
    "handed through": lambda: counted([MAP, MAP], lambda s, x: [s.add(x[1], x[2], MAP), x[2]]),
    "result is a constant": lambda: counted([MAP], lambda s, x: [s.constant(7, MAP)]),
    "one result twice": lambda: counted([MAP, MAP], lambda s, x: [y := s.add(x[1], x[2], MAP), y]),
    "same first value twice": lambda: model(
        [INT, ROW],
        lambda s, x: s.loop(
            [x[0], x[1], x[1]],
            [INT, ROW, ROW],
            below(3),
            lambda t, y: [up(t, y[0]), t.add(y[1], y[2], ROW), y[1]],
        ),
    ),
    "first value read behind": lambda: model(
        [INT, ROW],
        lambda s, x: [
            s.add(
                s.loop(
                    x,
                    [INT, ROW],
                    below(3),
                    lambda t, y: [up(t, y[0]), double(t, y[1], ROW)],
                )[1],
                x[1],
                ROW,
            )
        ],
    ),
    "condition is a variable": lambda: model(
        [BOOL, INT],
        lambda s, x: s.loop(
            x,
            [BOOL, INT],
            lambda t, y: [y[0]],
            lambda t, y: [t.less(y[1], t.constant(4)), up(t, y[1])],
        ),
    ),
    "two conditions": lambda: model(
        [INT, INT],
        lambda s, x: s.loop(
            x,
            [INT, INT],
            lambda t, y: [
                t.op(
                    "LOGICAL_AND",
                    [t.less(y[0], t.constant(5)), t.less(y[1], t.constant(7))],
                    BOOL,
                )
            ],
            lambda t, y: [up(t, y[0]), up(t, y[1], 2)],
        ),
    ),
    "nested": lambda: counted([MAP], _nested),
    "if in while": lambda: counted([MAP, MAP], _if_inside),
    "counted to 4": lambda: fixed([MAP], lambda s, x: [double(s, x[1], MAP)], 4),
    "counted to 1": lambda: fixed([MAP], lambda s, x: [double(s, x[1], MAP)], 1),
    "counted to 0": lambda: fixed([MAP], lambda s, x: [double(s, x[1], MAP)], 0),
    "unneeded counter": lambda: model(
        [INT, INT],
        lambda s, x: s.loop(x, [INT, INT], below(4), lambda t, y: [up(t, y[0]), up(t, y[1])])[:1],
    ),
}


SANITIZED = ("accumulate", "rotated", "nested", "if in while", "condition is a variable")
"""Cases that run under sanitizers too."""


def everything() -> bytes:
    """Loops and ways in each other, with maps of different sizes, variables in all directions."""
    kinds = [MAP, MAP, INT, ROW]

    def choose(t: Scope, y: list[int]) -> Sequence[int]:
        first, second = _if_inside(t, [y[2], y[0], y[1]])
        return [second, t.add(first, second, MAP)]

    def body(t: Scope, y: list[int]) -> Sequence[int]:
        one, two = choose(t, y)
        (three,) = _nested(t, [y[2], two])
        return [three, t.add(one, y[0], MAP), up(t, y[2]), t.add(y[3], y[3], ROW)]

    def main(s: Scope, x: list[int]) -> Sequence[int]:
        turned = s.op("NEG", [x[3]], ROW)
        y = s.loop([x[0], x[1], x[2], turned], kinds, below(5, 2), body)
        test = s.less(x[2], s.constant(2))
        return [
            *s.either(test, [y[0], x[0]], [MAP, MAP], [MAP], choose_first, choose_sum),
            y[1],
            s.add(y[3], turned, ROW),
        ]

    def choose_first(t: Scope, y: list[int]) -> Sequence[int]:
        return [y[0]]

    def choose_sum(t: Scope, y: list[int]) -> Sequence[int]:
        return [t.add(double(t, y[0], MAP), y[1], MAP)]

    return model(kinds, main)


PLANS = {
    "model": PlanOptions(order="model", arena="greedy", memory="min"),
    "dfs": PlanOptions(order="dfs", arena="two-ended"),
    "bfs": PlanOptions(order="bfs", arena="pingpong", memory="max"),
    "optimal": PlanOptions(order="optimal", arena="optimal"),
    "inputs kept": PlanOptions(keep_input=True),
    "buffers of the caller": PlanOptions(caller_io=True),
}


def inputs_of(data: bytes, rng: np.random.Generator) -> list[list[Array]]:
    main = parse_model(data).main
    return [[draw(main.tensors[t], rng) for t in main.inputs] for _ in range(8)]


def test_equal(tmp_path: Path, rng: np.random.Generator) -> None:
    cases = {label: make() for label, make in CASES.items()}
    inputs = {label: inputs_of(data, rng) for label, data in cases.items()}
    assert_equal(cases, tmp_path, rng, inputs=inputs)


def test_equal_under_sanitizers(tmp_path: Path, rng: np.random.Generator) -> None:
    cases = {label: CASES[label]() for label in SANITIZED} | {"everything": everything()}
    inputs = {label: inputs_of(data, rng) for label, data in cases.items()}
    assert_equal(cases, tmp_path, rng, inputs=inputs, sanitize=True)


@pytest.mark.parametrize("label", PLANS)
def test_equal_in_every_plan(tmp_path: Path, rng: np.random.Generator, label: str) -> None:
    data = everything()
    inputs = {label: inputs_of(data, rng)}
    assert_equal({label: data}, tmp_path, rng, inputs=inputs, plan=PLANS[label])


@requires_models
def test_a_file_with_nested_loops(tmp_path: Path, rng: np.random.Generator) -> None:
    """1 is doubled until it is no root of itself; everything else is one no more."""
    data = (MODELS / "optest" / "litert__nested_while.tflite").read_bytes()
    values = [[np.array(x, np.float32)] for x in (1.0, 0.5, -1.0, 3.0)]
    assert_equal({"nested": data}, tmp_path, rng, inputs={"nested": values})


def test_tensorflow_lite_micro_hands_results_on_at_once(
    tmp_path: Path, rng: np.random.Generator
) -> None:
    """Bodies that give back their operands: LiteRT copies in turn, this interpreter does not."""
    cases = {
        "swapped": counted([ROW, ROW], lambda s, x: [x[2], x[1]]),
        "turned": counted([ROW, ROW, ROW], lambda s, x: [x[3], x[1], x[2]]),
        "shifted": counted([ROW, ROW, ROW], lambda s, x: [s.add(x[1], x[2], ROW), x[1], x[2]]),
    }
    options = BuildOptions(name="net", plan=PlanOptions(reference="tflm"))
    for label, data in cases.items():
        sets = inputs_of(data, rng)[:3]
        built = build(parse_model(data), "net", load_board("host"), options)
        wanted = run_micro(data, sets, len(built.plan.graph.outputs))
        with build_host_program([sources_of(built)], tmp_path / label) as program:
            for values, expected in zip(sets, wanted, strict=True):
                run = program.run(0, [v.tobytes() for v in values])
                assert list(run.outputs) == [array.tobytes() for array in expected], label
