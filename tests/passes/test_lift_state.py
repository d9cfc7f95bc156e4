"""Variables that subgraphs read and assign live on from run to run, as in the interpreter."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from codegen.boards import load_board
from codegen.importer import parse_model
from codegen.pipeline import BuildOptions, build
from codegen.verify.program import build_host_program
from codegen.verify.session import sources_of
from tests import oracle
from tests.ops.control import INT, Kind, Scope, model
from tests.ops.test_while import up

ROW = Kind((5,), "float32")
HANDLE = Kind((), "resource")


def handle(s: Scope, name: str = "memory") -> int:
    result = s.new(HANDLE)
    s.graph.op("VAR_HANDLE", [], [result], shared_name=name)
    return result


def read(s: Scope, variable: int) -> int:
    return s.op("READ_VARIABLE", [variable], ROW)


def assign(s: Scope, variable: int, value: int) -> None:
    s.graph.op("ASSIGN_VARIABLE", [variable, value], [])


def initialised(s: Scope) -> None:
    """Before the first run the variable is 1, 2, 3, 4, 5."""

    def once(t: Scope, _: list[int]) -> Sequence[int]:
        assign(t, handle(t), t.constant([1, 2, 3, 4, 5], ROW))
        return []

    s.graph.op("CALL_ONCE", [], [], init_subgraph_index=s.inner("once", [], once))


def gathering(s: Scope, x: list[int]) -> Sequence[int]:
    """The body adds the input to the variable, by a handle of its own."""
    initialised(s)

    def body(t: Scope, y: list[int]) -> Sequence[int]:
        memory = handle(t)
        assign(t, memory, t.add(read(t, memory), y[1], ROW))
        return [up(t, y[0]), y[1]]

    def condition(t: Scope, y: list[int]) -> Sequence[int]:
        return [t.less(y[0], t.constant(3))]

    s.loop([x[0], x[1]], [INT, ROW], condition, body)
    return [read(s, handle(s))]


def handed_over(s: Scope, x: list[int]) -> Sequence[int]:
    """The handle is a variable of the loop; what is read before outlives what is assigned."""
    initialised(s)
    memory = handle(s)
    old = read(s, memory)
    kinds = [INT, ROW, HANDLE]

    def body(t: Scope, y: list[int]) -> Sequence[int]:
        value = read(t, y[2])
        assign(t, y[2], t.add(value, y[1], ROW))
        return [up(t, y[0]), value, y[2]]

    def condition(t: Scope, y: list[int]) -> Sequence[int]:
        return [t.less(y[0], t.constant(4))]

    _, last, same = s.loop([x[0], x[1], memory], kinds, condition, body)
    return [s.add(old, last, ROW), read(s, same)]


def in_one_way(s: Scope, x: list[int]) -> Sequence[int]:
    """One way of two changes the variable, inside of a loop."""
    initialised(s)

    def body(t: Scope, y: list[int]) -> Sequence[int]:
        memory = handle(t)

        def keep(u: Scope, z: list[int]) -> Sequence[int]:
            own = handle(u)
            assign(u, own, u.op("NEG", [read(u, own)], ROW))
            return [read(u, own)]

        def leave(u: Scope, z: list[int]) -> Sequence[int]:
            return [u.add(z[0], read(u, handle(u)), ROW)]

        test = t.less(y[0], t.constant(2))
        (result,) = t.either(test, [y[1]], [ROW], [ROW], keep, leave)
        return [up(t, y[0]), t.add(result, read(t, memory), ROW)]

    def condition(t: Scope, y: list[int]) -> Sequence[int]:
        return [t.less(y[0], t.constant(4))]

    return s.loop([x[0], x[1]], [INT, ROW], condition, body)[1:]


def only_read(s: Scope, x: list[int]) -> Sequence[int]:
    """A variable that an IF reads and nobody changes after the start."""
    initialised(s)
    test = s.less(x[0], s.constant(2))
    return s.either(
        test,
        [x[1]],
        [ROW],
        [ROW],
        lambda t, y: [t.add(y[0], read(t, handle(t)), ROW)],
        lambda t, y: [t.op("NEG", [y[0]], ROW)],
    )


MODELS = (gathering, handed_over, in_one_way, only_read)


@pytest.mark.parametrize("sanitize", [False, True])
def test_a_sequence_of_runs_is_equal(
    tmp_path: Path, rng: np.random.Generator, sanitize: bool
) -> None:
    files = [model([INT, ROW], make) for make in MODELS]
    board = load_board("host")
    builds = [
        build(parse_model(data), "case", board, BuildOptions(name=f"m{i}"))
        for i, data in enumerate(files)
    ]
    sets = [
        [np.array(start, np.int32), rng.normal(0, 1, 5).astype(np.float32)]
        for start in rng.integers(0, 6, 12)
    ]
    sources = [sources_of(b) for b in builds]
    with build_host_program(sources, tmp_path, sanitize=sanitize) as program:
        for number, data in enumerate(files):
            for again in range(2):
                wanted = oracle.run_reference(data, sets)
                for turn, (values, expected) in enumerate(zip(sets, wanted, strict=True)):
                    raw = [v.tobytes() for v in values]
                    run = program.run(number, raw, reset=turn == 0)
                    where = f"{MODELS[number].__name__}, run {turn} of sequence {again}"
                    assert list(run.outputs) == [e.tobytes() for e in expected], where


def test_state_stays_where_it_is_read_in_a_loop() -> None:
    built = build(parse_model(model([INT, ROW], gathering)), "net", load_board("host"))
    assert built.plan.total_state == 20
