"""SwiftNet, a uint8 model of many branches: the same bytes under every strategy of the planner."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from codegen.boards import load_board
from codegen.importer import load_model
from codegen.pipeline import BuildOptions, build
from codegen.plan import PlanOptions
from codegen.planner.arena import STRATEGIES
from codegen.verify.inputs import edge_sets, random_set
from codegen.verify.program import build_host_program
from codegen.verify.session import make_session, sources_of
from tests.paths import app_models, requires_models

NAME = "newwhitecheng-vwwc19-submission__submission-uint8"
ORDERS = ("model", "dfs", "bfs", "optimal")
SAMPLES = 3

pytestmark = requires_models


def test_every_strategy(
    tmp_path: Path, rng: np.random.Generator, sample: Callable[[Any, int], Any]
) -> None:
    """Two pairs of strategies in a plain run, all of them with --full."""
    (path,) = (p for p in app_models() if p.stem == NAME)
    model, board = load_model(path), load_board("host")
    pairs = sample(list(itertools.product(ORDERS, STRATEGIES)), 2)
    options = [
        BuildOptions(name=f"n{i}", plan=PlanOptions(order=order, arena=arena))
        for i, (order, arena) in enumerate(pairs)
    ]
    builds = [build(model, NAME, board, chosen) for chosen in options]
    tensors = [model.main.tensors[t] for t in model.main.inputs]
    sets = [*(random_set(tensors, rng) for _ in range(SAMPLES)), *edge_sets(tensors)]
    session = make_session(model, path.read_bytes(), builds[0], sets)
    with build_host_program([sources_of(built) for built in builds], tmp_path) as program:
        for number, pair in enumerate(pairs):
            for case in session.cases:
                values = [value.tobytes() for value in case.inputs]
                for _ in range(2):
                    outputs = program.run(number, values, reset=False).outputs
                    wanted = [case.expected[t].tobytes() for t in model.main.outputs]
                    assert list(outputs) == wanted, pair
