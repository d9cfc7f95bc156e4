"""What passes make of IF and WHILE: what is known now is not left to run time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from codegen.boards import load_board
from codegen.engine_table import engine_rows
from codegen.errors import CodegenError
from codegen.graph import Graph, Node, all_nodes
from codegen.importer import parse_model
from codegen.importer.shapes import InputShape
from codegen.passes.trip_count import trip_count
from codegen.pipeline import BuildOptions, build, prepare_graph
from codegen.plan_json import plan_document
from codegen.planner.build import build_plan
from codegen.planner.checker import check_plan
from tests.ops.control import BOOL, INT, Kind, Scope, model
from tests.ops.equality import assert_equal
from tests.ops.test_while import below, counted, fixed, up

ROW = Kind((5,), "float32")
LIST = Kind((3, 1, 4), "float32")
ENTRY = Kind((1, 4), "float32")


def graph_of(data: bytes) -> Graph:
    return prepare_graph(parse_model(data), BuildOptions())


def kinds_in(graph: Graph) -> list[str]:
    return [node.op for node in all_nodes(graph.nodes)]


def loop_in(graph: Graph) -> Node:
    (loop,) = (node for node in graph.nodes if node.op == "WHILE")
    return loop


def doubled(s: Scope, x: list[int]) -> Sequence[int]:
    return [s.add(x[1], x[1], ROW)]


@pytest.mark.parametrize(("times", "left"), [(0, []), (1, ["ADD"])])
def test_loops_of_no_and_one_turn_vanish(times: int, left: list[str]) -> None:
    assert [
        op for op in kinds_in(graph_of(fixed([ROW], doubled, times))) if op != "RESHAPE"
    ] == left


def test_what_a_body_hands_through_is_no_variable() -> None:
    """The second map is read where it lies; the loop has the counter and the first one."""
    data = counted([ROW, ROW], lambda s, x: [s.add(x[1], x[2], ROW), x[2]])
    graph = graph_of(data)
    loop = loop_in(graph)
    assert (len(loop.outputs), len(loop.inputs)) == (2, 3)
    assert loop.inputs[2] == graph.inputs[2]


def test_constants_that_are_handed_through_become_constants_inside() -> None:
    def main(s: Scope, x: list[int]) -> Sequence[int]:
        limit = s.constant(4)
        return s.loop(
            [x[0], limit],
            [INT, INT],
            lambda t, y: [t.less(y[0], y[1])],
            lambda t, y: [up(t, y[0]), y[1]],
        )[:1]

    loop = loop_in(graph_of(model([INT], main)))
    assert (len(loop.inputs), len(loop.outputs)) == (1, 1)


def test_operands_that_become_constants_late_become_constants_inside() -> None:
    """The first loop has no turn, so what it yields, and the second one reads, is a constant."""

    def main(s: Scope, x: list[int]) -> Sequence[int]:
        kinds = [INT, INT]

        def nothing(t: Scope, y: list[int]) -> Sequence[int]:
            return [up(t, y[0]), t.add(y[1], y[1])]

        _, limit = s.loop([s.constant(5), s.constant(3)], kinds, below(2), nothing)
        return s.loop(
            [x[0], limit],
            kinds,
            lambda t, y: [t.less(y[0], y[1])],
            lambda t, y: [up(t, y[0]), y[1]],
        )[:1]

    graph = graph_of(model([INT], main))
    assert (len(loop_in(graph).inputs), len(graph.nodes)) == (1, 1)
    assert check_plan(plan_document(build_plan(graph, load_board("host")), "net")).safe


def test_variables_that_nothing_needs_vanish() -> None:
    """The third variable feeds itself and the fourth, which nobody reads."""
    kinds = [INT, ROW, ROW, ROW]

    def body(s: Scope, x: list[int]) -> Sequence[int]:
        return [
            up(s, x[0]),
            s.add(x[1], x[1], ROW),
            s.add(x[2], x[2], ROW),
            s.add(x[2], x[3], ROW),
        ]

    graph = graph_of(model(kinds, lambda s, x: s.loop(x, kinds, below(4), body)[:2]))
    assert len(loop_in(graph).outputs) == 2


def test_results_of_an_if_that_nobody_reads_vanish() -> None:
    def main(s: Scope, x: list[int]) -> Sequence[int]:
        return s.either(
            x[0],
            x[1:],
            [ROW],
            [ROW, ROW],
            lambda t, y: [t.op("ABS", [y[0]], ROW), t.op("NEG", [y[0]], ROW)],
            lambda t, y: [y[0], t.op("NEG", [y[0]], ROW)],
        )[:1]

    graph = graph_of(model([BOOL, ROW], main))
    assert "NEG" not in kinds_in(graph)
    assert len(graph.nodes[0].outputs) == 1


@pytest.mark.parametrize(
    ("start", "step", "limit", "times"),
    [(0, 1, 5, 5), (0, 2, 5, 3), (3, 3, 4, 1), (5, 1, 5, 0), (0, 0, 5, None), (0, -1, 5, None)],
)
def test_trip_counts(start: int, step: int, limit: int, times: int | None) -> None:
    def main(s: Scope, x: list[int]) -> Sequence[int]:
        kinds = [INT, ROW]

        def body(t: Scope, y: list[int]) -> Sequence[int]:
            return [up(t, y[0], step), t.add(y[1], y[1], ROW)]

        return s.loop([s.constant(start), x[0]], kinds, below(limit), body)[1:]

    from codegen.passes import link

    graph = link(parse_model(model([ROW], main)))
    assert trip_count(graph, graph.nodes[0]) == times


def test_the_shorter_of_two_conditions_counts() -> None:
    def both(s: Scope, x: list[int]) -> Sequence[int]:
        tests = [s.less(x[0], s.constant(9)), s.op("GREATER", [s.constant(8), x[1]], BOOL)]
        return [s.op("LOGICAL_AND", tests, BOOL)]

    def main(s: Scope, x: list[int]) -> Sequence[int]:
        kinds = [INT, INT, ROW]

        def body(t: Scope, y: list[int]) -> Sequence[int]:
            return [up(t, y[0]), up(t, y[1], 2), t.add(y[2], y[2], ROW)]

        return s.loop([s.constant(0), s.constant(0), x[0]], kinds, both, body)[2:]

    built = build(parse_model(model([ROW], main)), "net", load_board("host"))
    assert "WHILE 4 times" in built.files["net.c"]
    assert not built.plan.has_unbounded_loop
    assert "bounds that" not in built.files["net.h"]


def test_a_loop_without_a_bound_is_said_to_be_one() -> None:
    built = build(parse_model(counted([ROW], doubled)), "net", load_board("host"))
    assert built.plan.has_unbounded_loop
    for path in ("net.h", "README.md", "report.html"):
        assert "bounds that" in built.files[path], path


def opened(kind: Kind, axis: int) -> Kind:
    """The kind with an open size, for which the file has 1."""
    signature = tuple(-1 if k == axis else size for k, size in enumerate(kind.shape))
    return replace(kind, signature=signature)


def recurrent(*, is_open: bool = False) -> bytes:
    """A sum that runs over a sequence, every entry of it stored, as converters write it.

    If it is open, the middle axis has any size, and 1 in the file.
    """
    entries_kind, entry = (opened(LIST, 1), opened(ENTRY, 0)) if is_open else (LIST, ENTRY)
    kinds = [INT, entries_kind, entry, entries_kind]
    index, three = Kind((1,), "int32"), Kind((3,), "int32")
    pair = Kind((2,), "int32")

    def body(s: Scope, x: list[int]) -> Sequence[int]:
        i, entries, state, sequence = x
        following = up(s, i)
        element = s.op("GATHER", [sequence, i], entry)
        state = s.add(state, element, entry)

        def vector(scalar: int, rest: int) -> int:
            first = s.op("RESHAPE", [scalar, s.constant(1, index)], index)
            return s.op("CONCATENATION", [first, s.constant(rest, pair)], three, axis=0)

        piece = Kind((1, 1, 4), "float32", signature=(-1, -1 if is_open else 1, 4))
        head = s.op("SLICE", [entries, s.constant(0, three), vector(i, -1)], piece)
        tail = s.op("SLICE", [entries, vector(following, 0), s.constant(-1, three)], piece)
        item = s.op("RESHAPE", [state, s.constant([1, -1, 4], three)], piece)
        joined = s.op("CONCATENATION", [head, item, tail], entries_kind, axis=0)
        return [following, joined, state, sequence]

    def main(s: Scope, x: list[int]) -> Sequence[int]:
        nothing = s.op("SUB", [x[0], x[0]], entries_kind, fused_activation_function="NONE")
        zero = s.op("GATHER", [nothing, s.constant(0)], entry)
        first = [s.constant(0), nothing, zero, x[0]]
        return s.loop(first, kinds, below(3), body)[1:3]

    return model([entries_kind], main)


def test_a_write_to_a_list_is_one_operator(tmp_path: Path, rng: np.random.Generator) -> None:
    data = recurrent()
    kinds = kinds_in(graph_of(data))
    assert "DYNAMIC_UPDATE_SLICE" in kinds and "SLICE" not in kinds
    assert_equal({"recurrent": data}, tmp_path, rng)


def test_sizes_that_a_file_leaves_open_are_settled_inside(rng: np.random.Generator) -> None:
    """Two sequences at once: the interpreter is told by the shape of what it is given."""
    shape = InputShape(None, (3, 2, 4))
    parsed = parse_model(recurrent(is_open=True), shapes=[shape])
    graph = prepare_graph(parsed, BuildOptions())
    assert [graph.tensors[t].shape for t in graph.outputs] == [(3, 2, 4), (2, 4)]
    loop = loop_in(graph)
    assert {graph.tensors[t].shape for t in loop.subgraphs[1].inputs} == {(), (3, 2, 4), (2, 4)}
    assert check_plan(plan_document(build_plan(graph, load_board("host")), "net")).safe


def refusal(data: bytes) -> str:
    with pytest.raises(CodegenError) as error:
        build(parse_model(data), "net", load_board("host"))
    return str(error.value)


def test_a_variable_that_changes_its_shape_is_refused() -> None:
    wide = Kind((10,), "float32")
    data = counted([ROW], lambda s, x: [s.op("CONCATENATION", [x[1], x[1]], wide, axis=0)])
    line = refusal(data)
    assert line.startswith("operator 0 WHILE") and "variable 1" in line
    assert "float32[5] outside and float32[10] inside" in line


def test_an_if_with_results_of_two_types_is_refused() -> None:
    def main(s: Scope, x: list[int]) -> Sequence[int]:
        return s.either(
            x[0],
            x[1:],
            [ROW],
            [ROW],
            lambda t, y: [t.op("ABS", [y[0]], ROW)],
            lambda t, y: [t.op("CAST", [y[0]], Kind((5,), "int32"))],
        )

    line = refusal(model([BOOL, ROW], main))
    assert "result 0 is float32[5] outside and int32[5] inside" in line


def test_a_condition_that_is_no_boolean_is_refused() -> None:
    kinds = [INT, ROW]
    data = model(
        kinds,
        lambda s, x: s.loop(x, kinds, lambda t, y: [up(t, y[0])], lambda t, y: [up(t, y[0]), y[1]]),
    )
    assert "only bool is supported" in refusal(data)


def test_a_loop_that_never_ends_is_refused() -> None:
    kinds = [INT, ROW]
    data = model(
        kinds,
        lambda s, x: s.loop(
            x, kinds, lambda t, y: [t.constant(True, BOOL)], lambda t, y: [up(t, y[0]), y[1]]
        ),
    )
    assert "never end" in refusal(data)


def test_an_operator_inside_is_refused_by_name() -> None:
    data = counted([ROW], lambda s, x: [s.op("WHERE", [x[1]], ROW)])
    line = refusal(data)
    assert line.startswith("operator 0 WHILE, subgraph 'body': operator ")
    assert "WHERE" in line and "\n" not in line


def test_numbers_of_operands_that_differ_are_refused() -> None:
    def main(s: Scope, x: list[int]) -> Sequence[int]:
        y = s.new(ROW)
        body = s.inner("body", [ROW], lambda t, z: [z[0]])
        condition = s.inner("cond", [ROW, ROW], lambda t, z: [t.constant(True, BOOL)])
        s.graph.op("WHILE", x, [y], cond_subgraph_index=condition, body_subgraph_index=body)
        return [y]

    assert "its subgraphs do not take what it gives them" in refusal(model([ROW], main))


def test_a_board_with_an_npu_leaves_all_of_it_to_the_cpu() -> None:
    parsed, board = parse_model(counted([ROW], doubled)), load_board("npu-64k")
    assert {row.engine for row in engine_rows(parsed, board)} == {"CPU"}
    assert all("stay on the CPU" in row.reason for row in engine_rows(parsed, board))
    assert build(parsed, "net", board).plan.npu is None


def test_state_that_an_operator_inside_keeps_is_refused() -> None:
    def body(s: Scope, x: list[int]) -> Sequence[int]:
        row = Kind((1, 4), "float32")
        features = s.constant(1, Kind((3, 4), "float32"))
        time = s.constant(1, Kind((3, 2), "float32"))
        state = s.graph.tensor((1, 6), "float32", is_variable=True)
        y = s.op(
            "SVDF",
            [x[1], features, time, -1, state],
            Kind((1, 3), "float32"),
            rank=1,
            fused_activation_function="NONE",
        )
        pad = s.constant(0, Kind((1, 1), "float32"))
        return [s.op("CONCATENATION", [y, pad], row, axis=1)]

    line = refusal(counted([Kind((1, 4), "float32")], body))
    assert "SVDF of subgraph 'body' keeps state of its own" in line


def dense(s: Scope, x: int) -> int:
    """4 x 4 multiply-accumulates."""
    weights = s.constant(0.5, Kind((4, 4), "float32"))
    return s.op("FULLY_CONNECTED", [x, weights, -1], ENTRY, keep_num_dims=True)


def macs_of(data: bytes) -> int:
    built = build(parse_model(data), "net", load_board("host"))
    (layer,) = (item for item in built.plan.outer_layers if item.control is not None)
    assert f"_MACS INT64_C({layer.lowered.macs})" in built.files["net.h"]
    return layer.lowered.macs


def test_macs_are_those_of_all_turns_where_these_are_known() -> None:
    assert macs_of(fixed([ENTRY], lambda s, x: [dense(s, x[1])], 3)) == 3 * 16
    assert macs_of(counted([ENTRY], lambda s, x: [dense(s, x[1])])) == 16


def test_macs_of_a_choice_are_those_of_the_larger_way() -> None:
    def main(s: Scope, x: list[int]) -> Sequence[int]:
        return s.either(
            x[0],
            x[1:],
            [ENTRY],
            [ENTRY],
            lambda t, y: [dense(t, dense(t, y[0]))],
            lambda t, y: [dense(t, y[0])],
        )

    assert macs_of(model([BOOL, ENTRY], main)) == 32
