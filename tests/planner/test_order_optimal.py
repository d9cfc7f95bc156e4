"""The exact search against all orders, and its marks on networks that are known to be hard."""

from __future__ import annotations

import random
import time

import pytest

from codegen.planner.order_cost import OrderProblem, Work, peak
from codegen.planner.order_moves import Moves, backwards
from codegen.planner.order_optimal import TOTAL_STEPS, find_optimum, lower_bound, parts_of
from codegen.planner.order_problem import order_problem
from codegen.planner.order_search import search_within
from tests.planner.problems import (
    is_legal,
    least_peak_over_sets,
    legal_orders,
    random_problem,
    random_tensor_problem,
    simulated_peak,
)
from tests.planner.randwire import randwire_graph

PLENTY = 10**6
RANDWIRE = [(4, 0.75, s) for s in range(4)] + [(4, 1.0, s) for s in range(4)]
RANDWIRE += [(6, 0.75, s) for s in (3, 5, 7, 8)]


def file_order(problem: OrderProblem) -> tuple[int, ...]:
    return tuple(range(len(problem.works)))


def random_problems(seed: int, count: int, works: int) -> list[OrderProblem]:
    rng = random.Random(seed)
    makers = (random_problem, random_tensor_problem)
    return [makers[i % 2](rng, rng.randint(1, works)) for i in range(count)]


def test_the_optimum_is_that_of_all_orders() -> None:
    for problem in random_problems(3, 300, 6):
        least = min(simulated_peak(problem, order) for order in legal_orders(problem))
        best = find_optimum(problem, [file_order(problem)])
        assert is_legal(problem, best.order)
        assert simulated_peak(problem, best.order) == best.peak == best.bound == least


def test_the_optimum_of_wider_problems_is_that_of_all_sets() -> None:
    for problem in random_problems(99, 400, 10):
        best = find_optimum(problem, [file_order(problem)])
        assert simulated_peak(problem, best.order) == best.peak == best.bound
        assert best.peak == least_peak_over_sets(problem)


@pytest.mark.parametrize("turn", [lambda p: p, backwards], ids=("forwards", "backwards"))
def test_the_least_budget_is_found_and_the_next_smaller_one_is_not(turn) -> None:  # type: ignore[no-untyped-def]
    for problem in map(turn, random_problems(8, 400, 10)):
        least = least_peak_over_sets(problem)
        moves = Moves(problem)
        found = search_within(moves, least, PLENTY)
        assert found.order is not None
        assert simulated_peak(problem, found.order) == least
        missed = search_within(moves, least - 1, PLENTY)
        assert missed.complete
        assert missed.order is None
        assert missed.bound <= least


def test_part_of_a_way_can_leave_less_than_the_whole() -> None:
    """Dropping all ways but one as soon as live bytes are back where they were is too early."""
    reads_and_writes = ((0, 1), (1, 2), (0, 3), (0, 4), (1, 5), (4, 6), (6, 7), (7, 8), (4, 9))
    after = ((), (0,), (), (), (0,), (3,), (5,), (6,), (3,))
    works = tuple(Work(s, a) for s, a in zip(reads_and_writes, after, strict=True))
    sizes = (100, 75, 67, 95, 63, 1, 79, 11, 59, 75)
    problem = OrderProblem(works, sizes, frozenset({0}), frozenset({2, 3, 5, 8, 9}))
    for turned in (problem, backwards(problem)):
        found = search_within(Moves(turned), 326, PLENTY)
        assert found.order is not None
        assert search_within(Moves(turned), 325, PLENTY).order is None


@pytest.mark.parametrize("turn", [lambda p: p, backwards], ids=("forwards", "backwards"))
def test_a_search_within_a_budget_finds_an_order_exactly_if_there_is_one(turn) -> None:  # type: ignore[no-untyped-def]
    for problem in map(turn, random_problems(5, 150, 6)):
        peaks = sorted({peak(problem, order) for order in legal_orders(problem)})
        moves = Moves(problem)
        for budget in {*peaks, *(p - 1 for p in peaks)}:
            outcome = search_within(moves, budget, PLENTY)
            assert outcome.complete
            if budget < peaks[0]:
                assert outcome.order is None
                assert budget < outcome.bound <= peaks[0]
            else:
                assert outcome.order is not None
                assert is_legal(problem, outcome.order)
                assert peak(problem, outcome.order) <= budget


def test_the_lower_bound_is_one() -> None:
    tight = 0
    for problem in random_problems(6, 150, 6):
        least = min(peak(problem, order) for order in legal_orders(problem))
        bound = lower_bound(problem)
        assert bound <= least
        tight += bound == least
    assert tight > 75


def test_parts_have_the_peaks_of_the_whole() -> None:
    split = 0
    for problem in random_problems(7, 150, 6):
        parts = parts_of(problem)
        split += len(parts) > 1
        assert [w for part in parts for w in part.works] == list(range(len(problem.works)))
        for order in legal_orders(problem):
            in_parts = [
                peak(part.problem, [part.works.index(w) for w in order if w in part.works])
                for part in parts
            ]
            assert peak(problem, order) == max(in_parts)
    assert split > 20


def test_without_steps_the_best_known_order_is_the_result() -> None:
    problem = order_problem(randwire_graph(32, 4, 0.75, 0), {})
    known = [file_order(problem)]
    best = find_optimum(problem, known, total=0)
    assert best.order == known[0]
    assert best.bound < best.peak
    assert best.steps == 0


@pytest.mark.parametrize(("neighbours", "rewire", "seed"), RANDWIRE)
def test_random_networks_of_32_nodes_are_proven(neighbours: int, rewire: float, seed: int) -> None:
    graph = randwire_graph(32, neighbours, rewire, seed)
    assert 82 <= len(graph.nodes) <= 90
    start = time.process_time()
    problem = order_problem(graph, {})
    best = find_optimum(problem, [file_order(problem)])
    assert time.process_time() - start < 2
    assert best.peak == best.bound == peak(problem, best.order)
    assert is_legal(problem, best.order)
    assert search_within(Moves(backwards(problem)), best.peak - 1, 10 * PLENTY).order is None


def test_a_thousand_operators_end_in_time_with_a_bound() -> None:
    graph = randwire_graph(400, 4, 0.75, 0)
    assert len(graph.nodes) >= 1000
    problem = order_problem(graph, {})
    start = time.process_time()
    best = find_optimum(problem, [file_order(problem)])
    assert time.process_time() - start < 10
    assert best.steps < 2 * TOTAL_STEPS
    assert is_legal(problem, best.order)
    assert best.bound < best.peak < peak(problem, file_order(problem))


def test_the_search_repeats_itself() -> None:
    problem = order_problem(randwire_graph(64, 4, 0.75, 1), {})
    first, second = (find_optimum(problem, [file_order(problem)], 50_000) for _ in range(2))
    assert first == second
