"""Arena offsets: every strategy on cases made by hand, and on random ones against brute force."""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codegen.planner import arena
from codegen.planner.blocks import (
    NO_SPACING,
    Block,
    DoesNotFit,
    Nearness,
    Place,
    Region,
    Solution,
    Spacing,
    lower_bound,
    validate,
)
from codegen.planner.branch_and_bound import Verdict
from codegen.planner.first_fit import first_fit, greedy
from codegen.planner.optimal import optimal, solve_below
from codegen.planner.two_ended import place_between

EVERY = ("auto", *arena.STRATEGIES)
RAM = Region("ram", None, 1)


def solve(
    blocks: Sequence[Block], strategy: str, region: Region = RAM, seconds: float | None = None
) -> Solution:
    return arena.allocate(strategy, blocks, [region], seconds=seconds)


def offsets(solution: Solution) -> dict[str, int]:
    return {name: place.offset for name, place in solution.places.items()}


def chain(*sizes: int) -> list[Block]:
    """Each block is read by the operator that writes the next."""
    return [Block(f"t{i}", size, i - 1, i) for i, size in enumerate(sizes)]


def random_blocks(seed: int, count: int, life: int, largest: int = 5000) -> list[Block]:
    rng = np.random.default_rng(seed)
    first = rng.integers(0, count, count)
    last = first + rng.integers(0, life, count)
    sizes = rng.integers(1, largest, count)
    return [Block(f"b{i}", int(sizes[i]), int(first[i]), int(last[i])) for i in range(count)]


TRAP = [Block("a", 8, 3, 5), Block("b", 6, 1, 2), Block("c", 4, 2, 2), Block("d", 7, 2, 4)]
"""17 bytes live at once, which no first fit by one of the orders of `greedy` reaches."""


@st.composite
def instances(draw: st.DrawFn, largest: int = 12) -> list[Block]:
    count = draw(st.integers(0, largest))
    blocks = []
    for i in range(count):
        first = draw(st.integers(-1, 8))
        last = first + draw(st.integers(0, 5))
        blocks.append(Block(f"b{i}", draw(st.integers(0, 40)), first, last))
    return blocks


@st.composite
def lagging(draw: st.DrawFn, largest: int = 6) -> tuple[list[Block], Spacing]:
    """Operators in a row that each read some earlier results; some may overlap a dying one."""
    sizes = draw(st.lists(st.integers(1, 40), min_size=1, max_size=largest))
    lives = [draw(st.integers(0, 3)) for _ in sizes]
    blocks = [
        Block(f"b{i}", size, i, i + life)
        for i, (size, life) in enumerate(zip(sizes, lives, strict=True))
    ]
    nearness = []
    for result in blocks:
        for source in blocks:
            if source.last == result.first and source is not result and draw(st.booleans()):
                nearness.append(Nearness(result.name, source.name, draw(st.integers(0, 20))))
                if draw(st.booleans()):
                    nearness.append(Nearness(source.name, result.name, draw(st.integers(0, 20))))
                break
    return blocks, Spacing(nearness)


def brute_force(blocks: Sequence[Block], alignment: int, spacing: Spacing = NO_SPACING) -> int:
    """The least bytes: in the order of an optimum's offsets, first fit is not worse than it."""
    return min(
        max((found[b.name] + b.size for b in blocks), default=0)
        for order in itertools.permutations(blocks)
        for found in [first_fit(order, alignment, spacing)]
    )


# --- All strategies


@pytest.mark.parametrize("strategy", EVERY)
def test_nothing_takes_nothing(strategy: str) -> None:
    solution = solve([], strategy)
    assert (solution.bytes, solution.places, solution.proven) == (0, {}, True)


@pytest.mark.parametrize("strategy", EVERY)
def test_a_chain_takes_its_two_largest_neighbours(strategy: str) -> None:
    solution = solve(chain(10, 30, 20, 40, 5), strategy)
    assert (solution.bytes, solution.lower_bound, solution.proven) == (60, 60, True)
    assert solution.gap == 0


@pytest.mark.parametrize("strategy", EVERY)
def test_blocks_that_never_meet_share_their_bytes(strategy: str) -> None:
    blocks = [Block(f"b{i}", 100 - i, 2 * i, 2 * i + 1) for i in range(5)]
    assert solve(blocks, strategy).bytes == 100


@pytest.mark.parametrize("strategy", EVERY)
def test_empty_blocks_take_no_bytes(strategy: str) -> None:
    blocks = [Block("empty", 0, 0, 9), *chain(8, 8, 8), Block("nothing", 0, 1, 1)]
    solution = solve(blocks, strategy)
    assert solution.bytes == 16
    assert set(solution.places) == {b.name for b in blocks}


@pytest.mark.parametrize("strategy", EVERY)
@given(blocks=instances(), alignment=st.sampled_from([1, 4, 16]))
@settings(max_examples=40, deadline=None)
def test_random_instances_are_valid(strategy: str, blocks: list[Block], alignment: int) -> None:
    region = Region("ram", None, alignment)
    solution = solve(blocks, strategy, region, seconds=0.05)
    validate(blocks, [region], solution.places)
    used = max((solution.places[b.name].offset + b.size for b in blocks), default=0)
    assert solution.bytes == used >= solution.lower_bound >= lower_bound(blocks, alignment)[0]
    assert solution.proven == (solution.bytes == solution.lower_bound)


@pytest.mark.parametrize("strategy", EVERY)
def test_the_same_blocks_give_the_same_plan_in_any_order(strategy: str) -> None:
    blocks = random_blocks(3, 60, 9)
    plans = [solve(order, strategy, seconds=0.2) for order in (blocks, blocks, blocks[::-1])]
    assert plans[0] == plans[1]
    assert plans[0].bytes == plans[2].bytes


@pytest.mark.parametrize("strategy", EVERY)
def test_too_much_for_the_memory_is_said(strategy: str) -> None:
    with pytest.raises(DoesNotFit):
        solve(chain(10, 30, 20), strategy, Region("ram", 49, 1))
    assert solve(chain(10, 30, 20), strategy, Region("ram", 50, 1)).bytes == 50


@pytest.mark.parametrize("strategy", EVERY)
def test_a_thousand_blocks_are_fast(strategy: str) -> None:
    blocks = random_blocks(1, 1000, 12)
    start = time.process_time()
    solution = solve(blocks, strategy, Region("ram", None, 16), seconds=0.5)
    assert time.process_time() - start < 2 * SLOW_MACHINE
    assert solution.gap <= solution.lower_bound // 4


SLOW_MACHINE = 3
"""Seconds here may be this many on a machine that others share."""


# --- Bounds and validation


def test_the_lower_bound_is_the_most_live_bytes_and_says_when() -> None:
    assert lower_bound([], 16) == (0, 0)
    assert lower_bound(chain(10, 30, 20, 40, 5), 1) == (60, 2)


def test_the_lower_bound_counts_padding_below_the_highest_block_only() -> None:
    blocks = [Block("a", 5, 0, 0), Block("b", 9, 0, 0)]
    assert lower_bound(blocks, 8) == (8 + 9, 0)
    assert solve(blocks, "optimal", Region("ram", None, 8)).bytes == 8 + 9


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (Place("ram", 0), Place("ram", 4)),
        (Place("ram", 0), Place("ram", 2)),
        (Place("ram", -8), Place("ram", 8)),
        (Place("ram", 12), Place("ram", 0)),
    ],
    ids=["overlap", "misaligned", "below the start", "above the capacity"],
)
def test_validation_finds_faults(a: Place, b: Place) -> None:
    blocks, region = [Block("a", 8, 0, 3), Block("b", 8, 3, 4)], Region("ram", 16, 4)
    validate(blocks, [region], {"a": Place("ram", 0), "b": Place("ram", 8)})
    with pytest.raises(AssertionError):
        validate(blocks, [region], {"a": a, "b": b})


# --- Greedy


def test_greedy_takes_the_best_of_its_orders() -> None:
    """By size alone 8 + 6 + 4 stand on each other; in order of time they swing between ends."""
    blocks = [Block("a", 4, 0, 1), Block("b", 6, 1, 2), Block("c", 8, 2, 3), Block("d", 4, 3, 4)]
    by_size = first_fit(sorted(blocks, key=lambda b: -b.size), 1)
    assert max(by_size[b.name] + b.size for b in blocks) >= greedy(blocks, RAM).bytes == 14


def test_first_fit_uses_the_lowest_gap_that_is_large_enough() -> None:
    floor = [Block("a", 4, 0, 9), Block("b", 3, 0, 0), Block("c", 4, 0, 9), Block("d", 9, 0, 0)]
    last = [Block("e", 3, 1, 1), Block("f", 4, 1, 1)]
    found = first_fit([*floor, *last], 1)
    assert (found["e"], found["f"]) == (4, 11)


# --- Two-ended


def test_two_ended_swings_between_the_ends() -> None:
    found = place_between(chain(10, 10, 10, 10), 30, 1)
    assert found == {"t0": 0, "t1": 20, "t2": 0, "t3": 20}


def test_two_ended_keeps_results_of_branches_side_by_side() -> None:
    """Three branches of three operators from one input; a concatenation reads their results."""
    blocks = [Block("x", 8, -1, 6)]
    for branch in range(3):
        t = 3 * branch
        blocks += [
            Block(f"p{branch}", 20, t, t + 1),
            Block(f"q{branch}", 20, t + 1, t + 2),
            Block(f"r{branch}", 6, t + 2, 9),
        ]
    blocks.append(Block("y", 18, 9, 9))
    found = place_between(blocks, 66, 1)
    assert found is not None
    assert [found[f"r{branch}"] for branch in range(3)] == [28, 34, 40]
    assert [found[f"p{branch}"] for branch in range(3)] == [8, 8, 8]
    assert [found[f"q{branch}"] for branch in range(3)] == [46, 46, 46]
    tight = offsets(solve(blocks, "two-ended"))
    results = sorted(tight[f"r{branch}"] for branch in range(3))
    assert results == [results[0], results[0] + 6, results[0] + 12]


def test_two_ended_reports_no_room() -> None:
    assert place_between(chain(10, 10), 19, 1) is None


def test_two_ended_aligns_at_the_upper_end_too() -> None:
    found = place_between(chain(10, 10, 10), 45, 16)
    assert found == {"t0": 0, "t1": 32, "t2": 0}


# --- Optimal


def test_optimal_beats_every_first_fit_of_greedy() -> None:
    rough, exact = solve(TRAP, "greedy"), solve(TRAP, "optimal")
    assert exact.bytes == brute_force(TRAP, 1) < rough.bytes
    assert exact.proven
    assert exact.strategy == "optimal"
    assert solve(TRAP, "auto") == exact


def test_auto_stops_at_a_greedy_plan_that_is_proven() -> None:
    assert solve(chain(4, 6, 8), "auto").strategy == "greedy"


@given(blocks=instances(largest=6), alignment=st.sampled_from([1, 4, 8]))
@settings(max_examples=60, deadline=None)
def test_optimal_equals_brute_force(blocks: list[Block], alignment: int) -> None:
    solution = solve(blocks, "optimal", Region("ram", None, alignment))
    assert solution.proven
    assert solution.bytes == solution.lower_bound == brute_force(blocks, alignment)


@given(blocks=instances(largest=25))
@settings(max_examples=60, deadline=None)
def test_optimal_is_never_worse_than_greedy(blocks: list[Block]) -> None:
    region = Region("ram", None, 4)
    assert optimal(blocks, region, NO_SPACING, 0.05).bytes <= greedy(blocks, region).bytes


@given(blocks=instances(largest=6), alignment=st.sampled_from([1, 8]), below=st.integers(1, 20))
@settings(max_examples=60, deadline=None)
def test_impossible_heights_are_proven(blocks: list[Block], alignment: int, below: int) -> None:
    least = brute_force(blocks, alignment)
    assert solve_below(blocks, least, alignment, 10.0)[0] is Verdict.FITS
    if least:
        height = max(0, least - below)
        assert solve_below(blocks, height, alignment, 10.0) == (Verdict.IMPOSSIBLE, {})


def test_without_work_the_best_known_and_the_gap_are_reported() -> None:
    solution = solve(TRAP, "optimal", seconds=0.0)
    assert solution.bytes == greedy(TRAP, RAM).bytes
    assert not solution.proven
    assert solution.gap > 0


def test_the_capacity_is_met_before_anything_is_improved() -> None:
    least = brute_force(TRAP, 1)
    assert least < greedy(TRAP, RAM).bytes
    assert solve(TRAP, "optimal", Region("ram", least, 1)).bytes == least
    with pytest.raises(DoesNotFit):
        solve(TRAP, "optimal", Region("ram", least - 1, 1))


def test_the_search_leaves_the_recursion_limit_alone() -> None:
    before = sys.getrecursionlimit()
    solve_below(random_blocks(5, 800, 4), 10_000, 1, 0.3)
    assert sys.getrecursionlimit() == before


# --- Blocks that may share bytes


def lag_chain(sizes: Sequence[int], below: int, above: int) -> tuple[list[Block], Spacing]:
    blocks = chain(*sizes)
    near = [
        pair
        for source, result in itertools.pairwise(blocks)
        for pair in (
            Nearness(result.name, source.name, below),
            Nearness(source.name, result.name, above),
        )
    ]
    return blocks, Spacing(near)


@pytest.mark.parametrize("strategy", ["auto", "greedy", "optimal"])
def test_a_lagging_chain_goes_down_and_up_in_one_map_and_a_lag(strategy: str) -> None:
    blocks, spacing = lag_chain([40] * 6, 8, 8)
    solution = arena.allocate(strategy, blocks, [RAM], spacing)
    assert (solution.bytes, solution.lower_bound, solution.proven) == (48, 48, True)
    assert set(offsets(solution).values()) == {0, 8}


def test_validation_knows_how_near_is_too_near() -> None:
    blocks, spacing = lag_chain([40, 40], 8, 16)
    assert [b.name for b in blocks] == ["t0", "t1"]
    for start, allowed in ((0, 8), (40, 32), (0, 16), (0, 40), (40, 0)):
        places = {"t0": Place("ram", start), "t1": Place("ram", allowed)}
        if (start, allowed) == (0, 8):
            with pytest.raises(AssertionError):
                validate(blocks, [RAM], places, spacing)
        else:
            validate(blocks, [RAM], places, spacing)


def test_a_distance_is_never_more_than_the_lower_block() -> None:
    blocks, spacing = lag_chain([40, 8], 100, 100)
    assert arena.allocate("optimal", blocks, [RAM], spacing).bytes == 48


@pytest.mark.parametrize("strategy", EVERY)
@given(case=lagging(largest=12), alignment=st.sampled_from([1, 4]))
@settings(max_examples=40, deadline=None)
def test_random_lags_are_kept(
    strategy: str, case: tuple[list[Block], Spacing], alignment: int
) -> None:
    blocks, spacing = case
    region = Region("ram", None, alignment)
    solution = arena.allocate(strategy, blocks, [region], spacing, seconds=0.05)
    validate(blocks, [region], solution.places, spacing)
    assert solution.lower_bound >= lower_bound(blocks, alignment, spacing)[0]


@given(case=lagging(), alignment=st.sampled_from([1, 4]))
@settings(max_examples=150, deadline=None)
def test_optimal_equals_brute_force_with_lags(
    case: tuple[list[Block], Spacing], alignment: int
) -> None:
    blocks, spacing = case
    solution = arena.allocate("optimal", blocks, [Region("ram", None, alignment)], spacing)
    least = brute_force(blocks, alignment, spacing)
    assert (solution.bytes, solution.lower_bound, solution.proven) == (least, least, True)
    height = least - 1
    assert solve_below(blocks, height, alignment, 10.0, spacing)[0] is Verdict.IMPOSSIBLE


# --- Several memories


FAST, SLOW = Region("fast", 100, 4), Region("slow", None, 16)


@pytest.mark.parametrize("strategy", EVERY)
def test_what_fits_stays_in_the_preferred_memory(strategy: str) -> None:
    solution = arena.allocate(strategy, chain(40, 60, 40), [FAST, SLOW])
    assert {place.region for place in solution.places.values()} == {"fast"}


@pytest.mark.parametrize("strategy", EVERY)
def test_hot_blocks_get_the_fast_memory(strategy: str) -> None:
    blocks = [
        Block("cold", 60, 0, 5, weight=60),
        Block("hot", 60, 0, 5, weight=600),
        Block("small", 30, 0, 5, weight=90),
        Block("huge", 400, 0, 5, weight=9000),
    ]
    solution = arena.allocate(strategy, blocks, [FAST, SLOW])
    regions = {name: place.region for name, place in solution.places.items()}
    assert regions == {"cold": "slow", "hot": "fast", "small": "fast", "huge": "slow"}
    assert solution.bytes == 92 - 2 + 400 + 60


@pytest.mark.parametrize("strategy", EVERY)
def test_a_block_for_which_later_memories_are_too_small_goes_first(strategy: str) -> None:
    blocks = [Block("large", 90, 0, 5, weight=90), Block("hot", 30, 0, 5, weight=900)]
    regions = [FAST, Region("tiny", 40, 4)]
    solution = arena.allocate(strategy, blocks, regions)
    assert solution.places == {"large": Place("fast", 0), "hot": Place("tiny", 0)}


@pytest.mark.parametrize("strategy", EVERY)
def test_first_fit_by_size_helps_where_heat_leads_astray(strategy: str) -> None:
    """Hottest first, 25 + 15 + 32 would fill the larger memory, and 34 + 34 do not fit into 40."""
    sizes = {"a": 34, "b": 34, "c": 32, "hot": 25, "hotter": 15}
    blocks = [Block(n, size, 0, 5, size * (9 if "hot" in n else 1)) for n, size in sizes.items()]
    regions = [Region("fast", 100, 1), Region("tiny", 40, 1)]
    solution = arena.allocate(strategy, blocks, regions)
    assert {n for n, p in solution.places.items() if p.region == "tiny"} == {"hot", "hotter"}
    assert solution.bytes == 140


@pytest.mark.parametrize("strategy", EVERY)
def test_all_memories_together_may_be_too_small(strategy: str) -> None:
    with pytest.raises(DoesNotFit):
        arena.allocate(strategy, chain(90, 90, 90), [FAST, Region("tiny", 40, 1)])


@pytest.mark.parametrize("strategy", EVERY)
@given(blocks=instances(), capacity=st.integers(0, 90))
@settings(max_examples=30, deadline=None)
def test_random_instances_in_two_memories(
    strategy: str, blocks: list[Block], capacity: int
) -> None:
    weighted = [replace(b, weight=i * b.size) for i, b in enumerate(blocks)]
    regions = [Region("fast", capacity, 4), Region("slow", None, 8)]
    solution = arena.allocate(strategy, weighted, regions, seconds=0.02)
    validate(weighted, regions, solution.places)
    assert set(solution.places) == {b.name for b in blocks}
