"""Options of the test run: how much of the long sweeps is run, and with which random seed.

pytest              a sample of each sweep, always the same one
pytest --seed 7     another sample and other random data
pytest --full       every case of every sweep, and the tests marked `full`
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from tests.sampling import sampled

DEFAULT_SEED = 20240


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full", action="store_true", help="run the long sweeps in full")
    parser.addoption(
        "--seed", type=int, default=DEFAULT_SEED, help="seed of random data and samples"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--full"):
        return
    skip = pytest.mark.skip(reason="long sweep: give --full")
    for item in items:
        if item.get_closest_marker("full"):
            item.add_marker(skip)


@pytest.fixture(scope="session")
def seed(pytestconfig: pytest.Config) -> int:
    """The run's seed; every test derives its random data from it alone."""
    return int(pytestconfig.getoption("--seed"))


@pytest.fixture
def rng(seed: int) -> np.random.Generator:
    """A generator that starts afresh in each test, so that tests do not depend on their order."""
    return np.random.default_rng(seed)


@pytest.fixture(scope="session")
def sample(pytestconfig: pytest.Config, seed: int) -> Callable[[Sequence[Any], int], list[Any]]:
    """`sample(cases, k)`: all cases with --full, else `k` of them, chosen by the run's seed."""
    full = bool(pytestconfig.getoption("--full"))

    def choose(cases: Sequence[Any], k: int) -> list[Any]:
        return list(cases) if full else sampled(cases, k, seed)

    return choose
