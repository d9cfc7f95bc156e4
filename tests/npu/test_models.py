"""Whole models on every board with an NPU, on hostile simulated hardware: equal, and fast enough.

A plain run takes a sample of models and boards with one random input each; `--full` takes all of
them with 20.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest

from codegen.boards import load_board
from codegen.importer import load_model
from codegen.npu.bound import proved_bound
from codegen.npu.network import limits
from codegen.npu.plan import NpuPlan
from codegen.pipeline import Build, build
from codegen.verify.inputs import edge_sets, random_set
from codegen.verify.session import make_session, verify_host
from tests.paths import MODELS, requires_models

BOARDS = ("npu-32k", "npu-64k", "npu-64k-flash", "npu-256k")
NAMES = {
    "ad": "mlcommons-tiny__ad01_int8",
    "kws": "mlcommons-tiny__kws_ref_model",
    "ic": "mlcommons-tiny__pretrainedResnet_quant",
    "vww": "mlcommons-tiny__vww_96_int8",
    "sww": "mlcommons-tiny__str_ww_ref_model",
    "person": "tflm__person_detect",
}

pytestmark = requires_models


@cache
def built(name: str, board: str) -> Build:
    assert MODELS is not None
    path = MODELS / "app" / f"{NAMES[name]}.tflite"
    return build(load_model(path), path.stem, load_board(board))


def npu_plan(name: str, board: str) -> NpuPlan:
    plan = built(name, board).plan.npu
    assert plan is not None
    return plan


def test_equal_to_the_interpreter(
    rng: np.random.Generator,
    sample: Callable[[Sequence[Any], int], list[Any]],
    pytestconfig: pytest.Config,
) -> None:
    assert MODELS is not None
    cases = [(name, board) for name in NAMES for board in BOARDS]
    for name, board in sample(cases, 4):
        path = MODELS / "app" / f"{NAMES[name]}.tflite"
        result = built(name, board)
        tensors = [result.plan.graph.tensors[t] for t in result.plan.graph.inputs]
        count = 20 if pytestconfig.getoption("--full") else 1
        sets = [*(random_set(tensors, rng) for _ in range(count)), *edge_sets(tensors)]
        session = make_session(load_model(path), path.read_bytes(), result, sets)
        found = verify_host(session, lambda text: None)
        assert found.equal, (name, board, found)


# name, board: most of total / limit, of exposed cycles, of traffic / compulsory bytes
FIGURES = [
    ("ic", "npu-64k", 1.04, 0.03, 1.02),
    ("vww", "npu-64k", 1.06, 0.03, 1.02),
    ("kws", "npu-64k", 1.06, 0.03, 1.02),
    ("ad", "npu-64k", 1.08, 1.0, 1.02),
    ("ic", "npu-256k", 1.08, 1.0, 9.0),
    ("vww", "npu-256k", 1.08, 1.0, 9.0),
    ("kws", "npu-256k", 1.08, 1.0, 9.0),
    ("ic", "npu-32k", 9.0, 1.0, 1.45),
    ("vww", "npu-32k", 9.0, 1.0, 1.35),
    ("kws", "npu-32k", 9.0, 1.0, 1.02),
    ("ad", "npu-32k", 9.0, 1.0, 1.02),
]


def test_planning_time() -> None:
    assert MODELS is not None
    model = load_model(MODELS / "app" / f"{NAMES['vww']}.tflite")
    start = time.process_time()
    plan = build(model, "vww", load_board("npu-64k")).plan
    assert time.process_time() - start < 10, "seconds of one CPU, checker and emitter included"
    again = build(model, "vww", load_board("npu-64k")).plan
    assert again.npu is not None and plan.npu is not None
    assert again.npu.issue.actions == plan.npu.issue.actions


@pytest.mark.parametrize(("name", "board"), [("ic", "npu-64k"), ("vww", "npu-32k")])
def test_bound(name: str, board: str) -> None:
    """Below every schedule, and close to ours."""
    plan = npu_plan(name, board)
    bound = proved_bound(plan.network)
    assert bound <= plan.timeline.total <= 1.05 * bound


@pytest.mark.parametrize(("name", "board", "ratio", "exposed", "traffic"), FIGURES)
def test_figures(name: str, board: str, ratio: float, exposed: float, traffic: float) -> None:
    plan = npu_plan(name, board)
    clock, limit = plan.timeline, limits(plan.network)
    assert clock.total <= ratio * limit.cycles
    assert clock.exposed <= exposed * clock.total
    assert clock.bytes <= traffic * limit.compulsory
