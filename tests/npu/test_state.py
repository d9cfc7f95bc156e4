"""Models with state on boards with an NPU: its operators run there, state changes on the CPU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen.boards import load_board
from codegen.errors import CodegenError
from codegen.importer import parse_model
from codegen.npu.planning import schedule_of
from codegen.pipeline import build
from codegen.plan import Home, PlanOptions
from codegen.plan_json import plan_document
from codegen.planner.checker import check_plan
from codegen.verify.inputs import random_set
from codegen.verify.session import make_session, verify_host
from tests.npu.test_models import BOARDS
from tests.ops.sequences import assert_sequences_equal
from tests.passes.test_link_state import CASES, assigned_twice, read_late
from tests.paths import MODELS, requires_models

STREAMING = (
    "esphome-micro-wake-word-models__v2_vad",
    "esphome-micro-wake-word-models__v2_okay_nabu",
    "esphome-micro-wake-word-models__v2_hey_jarvis",
    "tflm__trained_lstm_int8",
)


@pytest.mark.parametrize("board", ["npu-32k", "npu-256k"])
def test_sequences(board: str, tmp_path: Path, rng: np.random.Generator) -> None:
    """Every way to read and assign variables; behind a write-back cache too."""
    models = {name: make() for name, make in CASES.items()}
    assert_sequences_equal(models, tmp_path, rng, steps=6, board=board)


def test_state_lies_apart() -> None:
    """In whole lines of the cache, which the checker proves to be cleaned for the NPU."""
    plan = build(parse_model(assigned_twice()), "case", load_board("npu-256k")).plan
    states = [b for b in plan.buffers if b.home is Home.STATE]
    assert [b.size for b in states] == [32] and plan.total_state == 32
    assert len(states[0].tensors) >= 2, "the next run's value lies in the place of this one's"
    assert check_plan(plan_document(plan, "case")).safe


def test_a_model_without_operators_for_the_npu() -> None:
    """It is planned like one for a board without."""
    board = load_board("npu-64k")
    built = build(parse_model(read_late()), "case", board)
    assert built.plan.npu is None and "scratchpad" not in built.files["model_case.c"]
    with pytest.raises(CodegenError, match="no schedule of NPU and DMA: it runs no operator"):
        schedule_of(built.plan.graph, board, PlanOptions())


@requires_models
def test_streaming_models(sample: Callable[[Sequence[Any], int], list[Any]]) -> None:
    """Byte-equal over a sequence of runs, and again after a reset."""
    assert MODELS is not None
    for name, board in sample([(name, board) for name in STREAMING for board in BOARDS], 2):
        data = (MODELS / "app" / f"{name}.tflite").read_bytes()
        built = build(parse_model(data), name, load_board(board))
        npu, graph = built.plan.npu, built.plan.graph
        assert npu is not None and any(step.work for step in npu.network.steps)
        tensors = [graph.tensors[t] for t in graph.inputs]
        sets = [random_set(tensors, np.random.default_rng(seed)) for seed in range(4)]
        found = verify_host(make_session(parse_model(data), data, built, sets), lambda text: None)
        assert found.equal, (name, board, found)
        assert found.runs == 8
