"""Strategy `pingpong`: the rule on chains made by hand and random ones, in graphs, and as C."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codegen.boards import load_board
from codegen.graph import Graph
from codegen.importer import parse_model
from codegen.pipeline import BuildOptions, build
from codegen.plan import Plan, PlanOptions
from codegen.plan_json import plan_document
from codegen.planner import arena
from codegen.planner.blocks import Block, Nearness, Region, Shared, Solution, Spacing
from codegen.planner.build import build_plan
from codegen.planner.checker import check_plan
from codegen.planner.pingpong import chains
from tests.ops.equality import assert_equal
from tests.planner.test_storage import Net

PINGPONG = PlanOptions(arena="pingpong")


def chain(*sizes: int, name: str = "t", start: int = 0) -> list[Block]:
    """Results of operators start, start + 1, ...; each is read by the next operator only."""
    return [
        Block(f"{name}{i}", size, start + i, start + i + 1, follows=f"{name}{i - 1}" if i else None)
        for i, size in enumerate(sizes)
    ]


def solve(blocks: Sequence[Block], alignment: int = 1, spacing: Spacing | None = None) -> Solution:
    region = Region("ram", None, alignment)
    return arena.allocate("pingpong", blocks, [region], spacing or Spacing())


def turns(solution: Solution) -> list[tuple[list[int], list[int], int, int]]:
    """Per branch: which numbers of results lie in M1 and in M2, and the two sizes."""
    return [
        (*(sorted(int(n.lstrip("tuv")) for n in part.blocks) for part in pair), a.size, b.size)
        for pair in solution.pairs
        for a, b in [pair]
    ]


# --- The rule on one chain


@pytest.mark.parametrize(
    ("sizes", "first", "second"),
    [
        ((50, 30, 20, 10), [0, 2], [1, 3]),  # M1 > M2, the largest first
        ((20, 50, 30, 10), [1, 3], [0, 2]),  # in the middle
        ((20, 10, 50, 30, 20), [0, 2, 4], [1, 3]),
        ((10, 30, 20, 50), [1, 3], [0, 2]),  # last
        ((50, 50, 10), [0, 2], [1]),  # M1 = M2: in turn from the start
        ((10, 50, 20, 50), [0, 2], [1, 3]),
        ((10, 50, 50), [0, 2], [1]),
        ((7, 7), [0], [1]),
        ((5, 9), [1], [0]),
    ],
)
def test_parity_decides(sizes: tuple[int, ...], first: list[int], second: list[int]) -> None:
    solution = solve(chain(*sizes))
    m1, m2 = sorted(sizes, reverse=True)[:2]
    assert turns(solution) == [(first, second, m1, m2)]
    assert solution.bytes == m1 + m2
    assert len({place.offset for place in solution.places.values()}) == 2


def test_both_largest_results_in_one_buffer_still_keep_two_sizes() -> None:
    solution = solve(chain(50, 10, 40))
    assert turns(solution) == [([0, 2], [1], 50, 40)]
    assert (solution.bytes, solution.lower_bound, solution.proven) == (90, 60, False)


def test_a_single_operator_takes_one_buffer() -> None:
    solution = solve(chain(30))
    assert (solution.bytes, solution.pairs, solution.proven) == (30, (), True)


@given(
    sizes=st.lists(st.integers(1, 60), min_size=2, max_size=12),
    alignment=st.sampled_from([1, 4, 16]),
)
@settings(max_examples=150, deadline=None)
def test_random_chains(sizes: list[int], alignment: int) -> None:
    solution = solve(chain(*sizes), alignment)
    m1, m2 = sorted(sizes, reverse=True)[:2]
    at = [solution.places[f"t{i}"].offset for i in range(len(sizes))]
    anchor = 0 if m1 == m2 else sizes.index(m1)
    ((a, b),) = solution.pairs
    assert (a.size, b.size) == (m1, m2)
    assert at == [a.offset if (i - anchor) % 2 == 0 else b.offset for i in range(len(sizes))]
    low, high = sorted((a, b), key=lambda part: part.offset)
    assert low.offset == 0
    assert high.offset == -(-low.size // alignment) * alignment
    assert solution.bytes == high.offset + high.size


def test_row_lag_is_not_used_inside_a_pair() -> None:
    spacing = Spacing([Nearness("t1", "t0", 1), Nearness("t0", "t1", 1)])
    assert solve(chain(40, 30), spacing=spacing).bytes == 70


# --- Where chains begin and end


def names(blocks: Sequence[Block]) -> list[list[str]]:
    return [[b.name for b in found] for found in chains(blocks)]


def test_a_fork_ends_the_chain() -> None:
    stem = [Block("s0", 4, 0, 1), Block("s1", 4, 1, 5, follows="s0")]
    left = [Block("a0", 4, 2, 3, follows="s1"), Block("a1", 4, 3, 6, follows="a0")]
    right = [Block("b0", 4, 4, 5, follows="s1")]
    assert names([*stem, *left, *right]) == [["s0", "s1"], ["a0", "a1"], ["b0"]]


def test_a_result_that_lives_on_ends_the_chain() -> None:
    blocks = [Block("t0", 4, 0, 3), Block("t1", 4, 1, 2, follows="t0")]
    assert names(blocks) == [["t0"], ["t1"]]


def test_a_source_in_another_memory_begins_a_new_chain() -> None:
    assert names(chain(4, 4, 4)[1:]) == [["t1", "t2"]]


def test_a_buffer_is_free_before_and_behind_its_own_results() -> None:
    """M2 is free when the branch ends, M1 when the result is read: both are taken again."""
    blocks = [*chain(10, 20, name="t"), Block("late", 10, 2, 5), Block("later", 20, 3, 5)]
    solution = solve(blocks)
    ((m1, m2),) = solution.pairs
    assert solution.bytes == 30
    assert solution.places["late"].offset == m2.offset
    assert solution.places["later"].offset == m1.offset


def test_branches_at_other_times_share_the_same_bytes() -> None:
    blocks = [*chain(10, 20, 30, name="t"), *chain(30, 10, name="u", start=6)]
    solution = solve(blocks)
    assert turns(solution) == [([0, 2], [1], 30, 20), ([0], [1], 30, 10)]
    assert solution.bytes == 50


# --- Graphs


def two_branches() -> bytes:
    """Stem, two branches of three and two convolutions, a concatenation, a tail of two."""
    net, shape = Net(1), (1, 4, 4, 8)
    x = net.tensor(*shape)
    stem = net.conv(net.conv(x, shape, 6), (1, 4, 4, 6), 8)
    left = net.conv(net.conv(net.conv(stem, shape, 3), (1, 4, 4, 3), 9), (1, 4, 4, 9), 4)
    right = net.conv(net.conv(stem, shape, 7, k=3), (1, 4, 4, 7), 5)
    joined = net.concat([left, right], 3, 1, 4, 4, 9)
    tail = net.conv(net.conv(joined, (1, 4, 4, 9), 12), (1, 4, 4, 12), 2)
    return net.builder.build([x], [tail])


def long_chain(*channels: int) -> bytes:
    net = Net(2)
    x = y = net.tensor(1, 4, 4, 3)
    before = 3
    for c in channels:
        y, before = net.conv(y, (1, 4, 4, before), c, k=3), c
    return net.builder.build([x], [y])


def several_ends() -> bytes:
    """Two inputs, each with a chain; an ADD of both; an output inside a chain, one at its end."""
    net, shape = Net(3), (1, 4, 4, 4)
    x, y = net.tensor(*shape), net.tensor(*shape)
    a = net.conv(net.conv(x, shape, 6), (1, 4, 4, 6), 4)
    b = net.conv(net.conv(y, shape, 5), (1, 4, 4, 5), 4)
    total = net.tensor(*shape)
    net.builder.op("ADD", [a, b], [total])
    early = net.conv(total, shape, 3)
    late = net.conv(net.conv(early, (1, 4, 4, 3), 7), (1, 4, 4, 7), 2)
    return net.builder.build([x, y], [early, late])


def nested() -> bytes:
    """A fork inside a branch of a fork; branches end in ADDs."""
    net, shape = Net(4), (1, 4, 4, 4)

    def added(a: int, b: int) -> int:
        total = net.tensor(*shape)
        net.builder.op("ADD", [a, b], [total])
        return total

    def two(source: int, channels: int) -> int:
        return net.conv(net.conv(source, shape, channels), (1, 4, 4, channels), 4)

    x = net.tensor(*shape)
    outer = two(x, 5)
    inner = two(outer, 6)
    joined = added(two(inner, 7), two(inner, 3))
    return net.builder.build([x], [added(joined, two(outer, 9))])


GRAPHS = {
    "chain, M1 > M2": long_chain(5, 9, 4, 7, 2),
    "chain, M1 = M2": long_chain(5, 9, 9, 4),
    "one operator": long_chain(4),
    "two branches": two_branches(),
    "several ends": several_ends(),
    "nested": nested(),
}


def planned(data: bytes, order: str = "auto", memory: str = "min") -> tuple[Graph, Plan]:
    graph = parse_model(data).main
    return graph, build_plan(
        graph, load_board("host"), PlanOptions(order=order, arena="pingpong", memory=memory)
    )


def branches_of(plan: Plan) -> list[list[int]]:
    """Result channels (all maps are 4 x 4) of each branch, in the order of its operators."""
    held = {b.name: b for b in plan.buffers}
    return [
        [
            plan.graph.tensors[held[name].tensors[0]].shape[3]
            for name in sorted((*a.buffers, *b.buffers), key=lambda name: held[name].first)
        ]
        for a, b in plan.branches
    ]


@pytest.mark.parametrize(
    ("label", "branches"),
    [
        ("chain, M1 > M2", [[5, 9, 4, 7, 2]]),
        ("one operator", []),
        # Both branches write their results right into the concatenation, which is no branch's.
        ("two branches", [[6, 8], [3, 9], [12, 2]]),
        # The output inside the tail is read on, so that it ends the chain.
        ("several ends", [[6, 4], [5, 4], [7, 2]]),
        # The ADDs are made in place of a branch's result.
        ("nested", [[5, 4], [6, 4], [7, 4], [3, 4], [9, 4]]),
    ],
)
def test_branches_of_a_graph(label: str, branches: list[list[int]]) -> None:
    _, plan = planned(GRAPHS[label], "model", memory="max")
    assert branches_of(plan) == branches


@pytest.mark.parametrize("order", ["model", "dfs", "bfs", "optimal"])
@pytest.mark.parametrize("label", GRAPHS)
def test_the_rule_holds_in_graphs(label: str, order: str) -> None:
    graph, plan = planned(GRAPHS[label], order)
    assert plan.arena_strategy == "pingpong"
    held = {b.name: b for b in plan.buffers}
    for a, b in plan.branches:
        placed = sorted((held[n] for n in (*a.buffers, *b.buffers)), key=lambda x: x.first)
        sizes = [max(graph.tensors[t].nbytes for t in buffer.tensors) for buffer in placed]
        m1, m2 = sorted(sizes, reverse=True)[:2]
        assert (a.size, b.size) == (m1, m2)
        anchor = 0 if m1 == m2 else sizes.index(m1)
        wanted = [a.offset if (i - anchor) % 2 == 0 else b.offset for i in range(len(sizes))]
        assert [buffer.offset for buffer in placed] == wanted
    assert check_plan(plan_document(plan, "m")).faults == ()


# --- C


def test_c_names_the_two_buffers() -> None:
    model = parse_model(long_chain(5, 9, 4, 7, 2))
    built = build(model, "case", load_board("host"), BuildOptions(name="net", plan=PINGPONG))
    text = built.files["net.c"]
    plan = built.plan
    ((a, b),) = plan.branches
    assert (a.size, b.size) == (16 * 9, 16 * 7)
    for letter, part in (("A", a), ("B", b)):
        wanted = f"#define NET_BRANCH0_{letter} (arena_ram + {part.offset})"
        assert wanted in text
        assert f"buffer {letter.lower()}: {part.size} bytes of ram" in text
    written = re.findall(r"writes buffer (\w) of branch 0", text)
    assert written == ["b", "a", "b", "a", "b"]
    results = re.findall(r"const cg_dst y = \{ NET_BRANCH0_(\w) \+ 0,", text)
    assert [letter.lower() for letter in results] == written


def test_other_strategies_name_no_branches() -> None:
    model = parse_model(long_chain(5, 9, 4))
    built = build(model, "case", load_board("host"), BuildOptions(name="net"))
    assert built.plan.branches == ()
    assert "BRANCH" not in built.files["net.c"]


@pytest.mark.parametrize("caller_io", [False, True])
def test_c_is_exact(caller_io: bool, tmp_path: Path, rng: np.random.Generator) -> None:
    options = PlanOptions(arena="pingpong", caller_io=caller_io)
    assert_equal(GRAPHS, tmp_path, rng, samples=2, plan=options)


def test_buffers_keep_blocks_in_turn() -> None:
    ((a, b),) = solve(chain(4, 8, 2)).pairs
    assert a == Shared(a.offset, 8, ("t1",))
    assert b == Shared(b.offset, 4, ("t0", "t2"))
