"""The strategies' rules on hand-made graphs, what graphs cost, and real models."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from codegen.errors import CodegenError
from codegen.graph import DType, Graph, Tensor
from codegen.importer import load_model
from codegen.planner.order import OrderResult, choose_order, compare_orders
from codegen.planner.order_cost import Overlap, live_bytes, peak
from codegen.planner.order_problem import (
    Traits,
    free_movement_traits,
    order_problem,
    view_traits,
)
from tests.paths import app_models, requires_models
from tests.planner.problems import graph_of, is_legal
from tests.planner.randwire import randwire_graph


def results_of(graph: Graph, traits: Mapping[int, Traits] | None = None) -> dict[str, OrderResult]:
    return compare_orders(graph, order_problem(graph, traits or {}))


def indices(result: OrderResult) -> list[int]:
    return [node.index for node in result.nodes]


def three_branches() -> Graph:
    """Each branch grows a small input to 100 bytes and shrinks it again; then they are joined.

    0 -> 1 -> 2 \\
    0 -> 3 -> 4 - 7
    0 -> 5 -> 6 /
    """
    operators = [([0], [1]), ([0], [3]), ([0], [5])]
    operators += [([1], [2]), ([3], [4]), ([5], [6]), ([2, 4, 6], [7])]
    return graph_of(operators, [1, 100, 1, 100, 1, 100, 1, 1], [0], [7])


def test_depth_first_finishes_a_branch_before_the_next() -> None:
    results = results_of(three_branches())
    assert indices(results["model"]) == [0, 1, 2, 3, 4, 5, 6]
    assert indices(results["dfs"]) == [0, 3, 1, 4, 2, 5, 6]
    assert indices(results["bfs"]) == [0, 1, 2, 3, 4, 5, 6]
    assert results["dfs"].peak == 103  # two results, the third branch's two maps
    assert results["bfs"].peak == 301  # all three large maps and the input or a result
    assert results["dfs"].proven
    assert not results["bfs"].proven


def long_and_short_branch() -> Graph:
    """A large input with two readers; one branch grows again behind its small first map.

    0 -> 1 -> 2 -> 3 \\
    0 -> 4 ---------- 5
    """
    operators = [([0], [1]), ([1], [2]), ([2], [3]), ([0], [4]), ([3, 4], [5])]
    return graph_of(operators, [100, 1, 80, 1, 1, 1], [0], [5])


def test_level_by_level_can_beat_depth_first() -> None:
    results = results_of(long_and_short_branch())
    assert indices(results["dfs"]) == [0, 1, 2, 3, 4]
    assert indices(results["bfs"]) == [0, 3, 1, 2, 4]
    assert results["dfs"].peak == 181  # input, small and grown map
    assert results["bfs"].peak == 102  # input and both small maps
    assert results["bfs"].proven


def test_levels_count_the_longest_way() -> None:
    graph = graph_of([([0], [1]), ([1], [2]), ([0, 2], [3]), ([0], [4])], [1] * 5, [0], [3, 4])
    assert indices(results_of(graph)["bfs"]) == [0, 3, 1, 2]


def test_auto_takes_the_least_peak_and_keeps_the_file_order_on_ties() -> None:
    assert choose_order(results_of(three_branches()), "auto").name == "dfs"
    assert choose_order(results_of(long_and_short_branch()), "auto").name == "bfs"
    chain = graph_of([([0], [1]), ([1], [2])], [5, 5, 5], [0], [2])
    assert choose_order(results_of(chain), "auto").name == "model"
    assert choose_order(results_of(chain), "bfs").name == "bfs"


def test_auto_takes_the_search_where_no_rule_is_as_good() -> None:
    results = results_of(randwire_graph(32, 4, 1.0, 0))
    rules = {name: results[name].peak for name in ("model", "dfs", "bfs")}
    assert results["optimal"].peak < min(rules.values())
    assert choose_order(results, "auto") is results["optimal"]
    assert results["optimal"].proven
    assert results["optimal"].note == "no order needs less"
    assert results["model"].note == f"the least is {results['optimal'].peak:,} B"


def test_beyond_its_limit_the_search_says_so() -> None:
    results = results_of(randwire_graph(64, 4, 0.75, 1))
    assert not any(r.proven for r in results.values())
    assert "search limit reached" in results["optimal"].note
    assert results["optimal"].peak <= min(r.peak for r in results.values())


def test_an_unknown_strategy_is_refused() -> None:
    with pytest.raises(CodegenError, match="'best'; choose auto or model, dfs, bfs, optimal"):
        choose_order(results_of(three_branches()), "best")


def test_an_empty_graph_has_an_empty_order() -> None:
    results = results_of(graph_of([], [3], [0], [0]))
    assert [(r.nodes, r.proven) for r in results.values()] == [((), True)] * 4


def test_a_view_takes_no_bytes_and_keeps_its_source() -> None:
    operators = [([0], [1]), ([1], [2]), ([2], [3])]
    graph = graph_of(operators, [1, 10, 10, 4], [0], [3], ["CONV_2D", "RESHAPE", "CONV_2D"])
    problem = order_problem(graph, view_traits(graph))
    assert live_bytes(problem, (0, 1, 2)) == [11, 10, 14]
    assert live_bytes(order_problem(graph, {}), (0, 1, 2)) == [11, 20, 14]


def test_a_free_concatenation_counts_its_parts_once_until_its_readers_are_done() -> None:
    kinds = ["CONV_2D", "CONV_2D", "CONCATENATION", "CONV_2D"]
    operators = [([0], [1]), ([0], [2]), ([1, 2], [3]), ([3], [4])]
    graph = graph_of(operators, [1, 10, 20, 30, 5], [0], [4], kinds)
    virtual = order_problem(graph, free_movement_traits(graph))
    assert live_bytes(virtual, (0, 1, 2, 3)) == [11, 31, 30, 35]
    assert live_bytes(order_problem(graph, {}), (0, 1, 2, 3)) == [11, 31, 60, 35]


def test_a_free_split_keeps_its_source_until_the_last_part_is_read() -> None:
    kinds = ["SPLIT", "CONV_2D", "CONV_2D"]
    graph = graph_of(
        [([0], [1, 2]), ([1], [3]), ([2], [4])], [20, 10, 10, 1, 1], [0], [3, 4], kinds
    )
    free = order_problem(graph, free_movement_traits(graph))
    assert live_bytes(free, (0, 1, 2)) == [20, 21, 22]
    assert live_bytes(order_problem(graph, {}), (0, 1, 2)) == [40, 21, 12]


def test_results_of_the_model_are_joined_by_copying() -> None:
    kinds = ["CONV_2D", "CONCATENATION"]
    graph = graph_of([([0], [1]), ([0, 1], [2])], [10, 10, 20], [0], [2], kinds)
    assert peak(order_problem(graph, free_movement_traits(graph)), (0, 1)) == 40


def test_overwriting_needs_places_of_the_operands_own() -> None:
    graph = graph_of([([0], [1]), ([1], [2])], [8, 8, 8], [0], [2])
    problem = order_problem(graph, {1: Traits(overwrites=((1, 2, 8),), scratch=3)})
    assert problem.works[1].overlaps == (Overlap(*problem.works[1].stores, saved=8),)
    assert live_bytes(problem, (0, 1)) == [16, 11]
    same_place = order_problem(graph, {1: Traits(lies_in=(1,), overwrites=((1, 2, 8),))})
    assert same_place.works[1].overlaps == ()


def test_the_callers_memory_is_free_and_kept_inputs_stay() -> None:
    graph = graph_of([([0], [1]), ([1], [2])], [50, 8, 7], [0], [2])
    external = order_problem(graph, {}, external={0, 2})
    assert live_bytes(external, (0, 1)) == [8, 8]
    kept = order_problem(graph, {}, keep_inputs=True)
    assert live_bytes(kept, (0, 1)) == [58, 65]


def test_state_is_touched_in_the_order_of_the_file() -> None:
    graph = graph_of([([0, 1], [2]), ([0], [3]), ([1, 3], [4])], [1] * 5, [0], [2, 4])
    variable = Tensor(1, "state", (100,), DType.INT8, is_variable=True)
    stateful = Graph(
        "main", (graph.tensors[0], variable, *graph.tensors[2:]), graph.nodes, (0,), (2, 4)
    )
    problem = order_problem(stateful, {})
    assert [work.after for work in problem.works] == [(), (), (0, 1)]
    assert peak(problem, (0, 1, 2)) == 3  # the variable has memory of its own


def test_resources_are_touched_in_the_order_of_the_file() -> None:
    kinds = ["CALL_ONCE", "ASSIGN_VARIABLE", "READ_VARIABLE", "CONV_2D"]
    operators = [([], []), ([1, 0], []), ([1], [2]), ([0], [3])]
    graph = graph_of(operators, [1] * 4, [0], [2, 3], kinds)
    handle = Tensor(1, "handle", (), DType.RESOURCE)
    stateful = Graph(
        "main", (graph.tensors[0], handle, *graph.tensors[2:]), graph.nodes, (0,), (2, 3)
    )
    assert [work.after for work in order_problem(stateful, {}).works] == [(), (0,), (1,), ()]


@requires_models
def test_swiftnet() -> None:
    (path,) = (p for p in app_models() if p.name.startswith("newwhitecheng-vwwc19"))
    graph = load_model(path).main
    results = results_of(graph)
    assert results["model"].peak == 351_232
    assert (results["optimal"].peak, results["optimal"].proven) == (301_056, True)
    free = results_of(graph, free_movement_traits(graph))
    assert (free["optimal"].peak, free["optimal"].proven) == (200_704, True)


@requires_models
@pytest.mark.parametrize("path", app_models(), ids=lambda p: p.stem)
def test_real_models_are_proven_in_time(path: Path) -> None:
    graph = load_model(path).main
    start = time.process_time()
    problem = order_problem(graph, view_traits(graph))
    results = compare_orders(graph, problem)
    seconds = time.process_time() - start
    position = {node.index: i for i, node in enumerate(graph.nodes)}
    for result in results.values():
        order = [position[node.index] for node in result.nodes]
        assert is_legal(problem, order)
        assert peak(problem, order) == result.peak >= results["optimal"].peak
    assert results["optimal"].proven
    assert seconds < 1 or len(graph.nodes) > 150
