"""The price of an order against a simulation that asks of every store at every step."""

from __future__ import annotations

import random

import pytest

from codegen.planner.order_cost import OrderProblem, Overlap, Work, live_bytes, peak
from codegen.planner.order_moves import backwards
from tests.planner.problems import is_legal, random_problem, random_tensor_problem, simulated_peak


def random_order(problem: OrderProblem, rng: random.Random) -> list[int]:
    order: list[int] = []
    while len(order) < len(problem.works):
        ready = [
            i
            for i, work in enumerate(problem.works)
            if i not in order and set(work.after) <= set(order)
        ]
        order.append(rng.choice(ready))
    return order


@pytest.mark.parametrize("make", [random_problem, random_tensor_problem])
def test_peak_equals_the_simulation(make) -> None:  # type: ignore[no-untyped-def]
    rng = random.Random(1)
    for _ in range(300):
        problem = make(rng, rng.randint(1, 9))
        order = random_order(problem, rng)
        assert is_legal(problem, order)
        assert peak(problem, order) == simulated_peak(problem, order)


def test_the_problem_backwards_has_the_same_peaks() -> None:
    rng = random.Random(2)
    for _ in range(200):
        problem = random_problem(rng, rng.randint(1, 8))
        mirrored = backwards(problem)
        order = random_order(problem, rng)
        last = len(order) - 1
        reverse = [last - work for work in reversed(order)]
        assert is_legal(mirrored, reverse)
        assert peak(mirrored, reverse) == peak(problem, order)
        assert backwards(mirrored) == problem


def test_legality() -> None:
    problem = OrderProblem((Work((0,), ()), Work((0, 1), (0,)), Work((2,), ())), (1, 1, 1))
    assert is_legal(problem, (0, 1, 2))
    assert is_legal(problem, (2, 0, 1))
    assert not is_legal(problem, (1, 0, 2))
    assert not is_legal(problem, (0, 1))
    assert not is_legal(problem, (0, 0, 1))


def test_inputs_are_live_from_the_start_and_results_to_the_end() -> None:
    works = (Work((1,), ()), Work((1, 2), (0,)), Work((0, 3), ()))
    problem = OrderProblem(works, (100, 10, 1, 1000), frozenset({0}), frozenset({2}))
    assert live_bytes(problem, (0, 1, 2)) == [110, 111, 1101]
    assert live_bytes(problem, (2, 0, 1)) == [1100, 10, 11]


def test_an_overlap_counts_only_over_a_dying_source_and_a_fresh_result() -> None:
    overlap = (Overlap(0, 1, 10),)
    alone = OrderProblem((Work((0, 1), (), overlap),), (10, 10), frozenset({0}), frozenset({1}))
    assert peak(alone, (0,)) == 10
    read_again = OrderProblem(
        (Work((0, 1), (), overlap), Work((0, 2), ())), (10, 10, 1), frozenset({0}), frozenset({1})
    )
    assert live_bytes(read_again, (0, 1)) == [20, 21]
    assert live_bytes(read_again, (1, 0)) == [11, 10]
    two = (Overlap(0, 2, 10), Overlap(1, 2, 8))
    best_of_two = OrderProblem(
        (Work((0, 1, 2), (), two, scratch=3),), (10, 8, 10), frozenset({0, 1}), frozenset({2})
    )
    assert peak(best_of_two, (0,)) == 10 + 8 + 3
