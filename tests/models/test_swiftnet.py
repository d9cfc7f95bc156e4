"""SwiftNet, a uint8 model of many branches: the same bytes under every strategy of the planner."""

from __future__ import annotations

import itertools
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from codegen.boards import load_board
from codegen.importer import load_model
from codegen.pipeline import BuildOptions, build
from codegen.plan import PlanOptions
from codegen.planner.arena import STRATEGIES
from codegen.planner.memory_modes import MODES
from codegen.planner.order import STRATEGIES as ORDERS
from codegen.target import Kernels
from codegen.verify.inputs import edge_sets, random_set
from codegen.verify.program import build_host_program
from codegen.verify.session import Session, make_session, sources_of
from tests.paths import app_models, requires_models

NAME = "newwhitecheng-vwwc19-submission__submission-uint8"
SAMPLES = 3
ALL = tuple(itertools.product(ORDERS, STRATEGIES, MODES, (k.value for k in Kernels)))
CHUNK = 8  # builds per compiler call

pytestmark = requires_models


def strategies() -> list[tuple[str, ...]]:
    """As few as have every order, arena, mode of memory and family of kernels."""
    kinds = (ORDERS, STRATEGIES, MODES, [k.value for k in Kernels])
    count = max(map(len, kinds))
    columns = (itertools.islice(itertools.cycle(kind), count) for kind in kinds)
    return list(zip(*columns, strict=True))


@cache
def session() -> Session:
    """The interpreter's results, with some build."""
    (path,) = (p for p in app_models() if p.stem == NAME)
    model = load_model(path)
    tensors = [model.main.tensors[t] for t in model.main.inputs]
    rng = np.random.default_rng(5)
    sets = [*(random_set(tensors, rng) for _ in range(SAMPLES)), *edge_sets(tensors)]
    return make_session(model, path.read_bytes(), build(model, NAME, load_board("host")), sets)


def check(chosen: list[tuple[str, ...]], workdir: Path) -> None:
    (path,) = (p for p in app_models() if p.stem == NAME)
    model, board = load_model(path), load_board("host")
    builds = []
    for number, (order, arena, memory, kernels) in enumerate(chosen):
        plan = PlanOptions(order=order, arena=arena, memory=memory, kernels=kernels)
        builds.append(build(model, NAME, board, BuildOptions(name=f"n{number}", plan=plan)))
    with build_host_program([sources_of(built) for built in builds], workdir) as program:
        for number, strategy in enumerate(chosen):
            for case in session().cases:
                values = [value.tobytes() for value in case.inputs]
                wanted = [case.expected[t].tobytes() for t in model.main.outputs]
                for _ in range(2):
                    outputs = program.run(number, values, reset=False).outputs
                    assert list(outputs) == wanted, strategy


def test_each_strategy(tmp_path: Path) -> None:
    check(strategies(), tmp_path)


@pytest.mark.full
@pytest.mark.parametrize("first", range(0, len(ALL), CHUNK))
def test_all_strategies(first: int, tmp_path: Path) -> None:
    check(list(ALL[first : first + CHUNK]), tmp_path)
