"""A sweep's sample is the same in every run and never repeats a case."""

from __future__ import annotations

from tests.sampling import sampled


def test_sample_is_decided_by_the_seed() -> None:
    cases = list(range(1000))
    assert sampled(cases, 20, 1) == sampled(cases, 20, 1)
    assert sampled(cases, 20, 1) != sampled(cases, 20, 2)


def test_sample_keeps_order_and_repeats_nothing() -> None:
    chosen = sampled(list(range(100)), 30, 5)
    assert len(chosen) == 30
    assert chosen == sorted(set(chosen))


def test_short_sweeps_are_run_whole() -> None:
    assert sampled("abc", 3, 1) == ["a", "b", "c"]
