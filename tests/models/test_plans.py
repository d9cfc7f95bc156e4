"""Plans of deployed models, whatever their types and operators: tight, quick and the same again."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from codegen.boards import load_board
from codegen.cli import cli
from codegen.importer import load_model
from codegen.plan import Plan, PlanOptions
from codegen.plan_json import plan_document
from codegen.planning import chosen_plan
from tests.paths import app_models, requires_models

SECONDS = 1.0  # of planning for up to NODES operators; tests may run beside others
NODES = 150

UNPROVEN: dict[str, int] = {}
"""File -> bytes by which the best arena known lies above what is proven to be needed."""


def planned(path: Path) -> tuple[Plan, float]:
    """The smallest plan on the host, and the CPU seconds that it took."""
    model, options = load_model(path), PlanOptions(memory="min")
    start = time.process_time()
    plan = chosen_plan(model, load_board("host"), options)
    return plan, time.process_time() - start


@requires_models
def test_deployed_models_plan_at_their_bound(sample: Callable[[Any, int], Any]) -> None:
    for path in sample(app_models(), 12):
        plan, seconds = planned(path)
        assert plan.total_arena - plan.lower_bound <= UNPROVEN.get(path.stem, 0), path.name
        if len(plan.layers) <= NODES:
            assert seconds < 3 * SECONDS, f"{path.name}: {seconds:.2f} s"
        again, _ = planned(path)
        assert plan_document(plan, "m") == plan_document(again, "m"), path.name


@requires_models
def test_deployed_models_can_be_inspected(sample: Callable[[Any, int], Any]) -> None:
    for path in sample(app_models(), 12):
        result = CliRunner().invoke(cli, ["inspect", str(path)])
        assert result.exit_code == 0, f"{path.name}: {result.output}"


@requires_models
@pytest.mark.parametrize(
    ("name", "arena"),
    [
        ("mlcommons-tiny__ad01_int8", 768),
        ("mlcommons-tiny__kws_ref_model", 8640),
        ("mlcommons-tiny__pretrainedResnet_quant", 33792),
        ("mlcommons-tiny__vww_96_int8", 37248),
        ("mlcommons-tiny__str_ww_ref_model", 3712),
    ],
)
@pytest.mark.parametrize("board", ["host", "mps2-an386", "mps3-an547"])
def test_arenas_of_the_benchmark(name: str, arena: int, board: str) -> None:
    """Inputs, outputs and scratch inside; no kernel form may cost memory that `min` takes."""
    (path,) = (p for p in app_models() if p.stem == name)
    plan = chosen_plan(load_model(path), load_board(board), PlanOptions(memory="min"))
    assert plan.total_arena == plan.lower_bound == arena
