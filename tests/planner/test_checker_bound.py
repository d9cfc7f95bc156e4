"""The lower bound that a plan claims, counted anew by the checker."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from codegen.boards import load_board
from codegen.cli import cli
from codegen.importer import parse_model
from codegen.pipeline import BuildOptions, build
from codegen.plan import PlanOptions
from codegen.planner.checker import check_plan
from codegen.planner.checker.bound import counted_bound
from codegen.planner.checker.document import parse
from codegen.planner.checker.index import Index
from tests.planner.plans import Json, PlanWriter, kernel, through_json, window
from tests.planner.test_checker import OPTIONS, residual_model
from tests.planner.test_joins import swift_block


def counted(document: Json) -> int:
    parsed, faults = parse(document)
    assert parsed is not None, faults
    return counted_bound(Index.of(parsed))


@pytest.mark.parametrize("options", [*OPTIONS, PlanOptions(arena="pingpong")], ids=str)
@pytest.mark.parametrize("board", ["host", "imxrt1062"])
def test_planner_and_checker_count_the_same(
    options: PlanOptions, board: str, rng: np.random.Generator
) -> None:
    for data in (residual_model(rng, 1), residual_model(rng, 2), swift_block()):
        made = build(parse_model(data), "m", load_board(board), BuildOptions(plan=options))
        document = json.loads(made.files["plan.json"])
        assert counted(document) == made.plan.counted_bound > 0
        assert check_plan(document).bound_fault == ""


def lagging(distance: int, *, rows_per_step: int = 1, alias: str = "row") -> Json:
    """3x3 on 8 rows of 32 bytes, whose result starts `distance` bytes below its source."""
    plan = PlanWriter()
    x = plan.tensor((1, 8, 4, 8), plan.buffer("x", offset=distance, size=256, first=-1, last=0))
    y = plan.tensor((1, 8, 4, 8), plan.buffer("y", offset=0, size=256, first=0, last=1))
    read = plan.read(x, rows=window(3), alias=alias)
    step = kernel([read], [plan.write(y)], rows_per_step=rows_per_step)
    plan.layer("CONV_2D", [x], [y], [step])
    return plan.build(inputs=[x], outputs=[y])


@pytest.mark.parametrize(
    ("options", "least"),
    [
        ({}, 256 + 2 * 32),  # a row is written when the one above it is still read
        ({"rows_per_step": 4}, 256 + 5 * 32),  # four rows, of the first of which one is read before
        ({"alias": "none"}, 2 * 256),
    ],
)
def test_what_a_kernel_lets_share_is_granted(options: dict[str, int], least: int) -> None:
    assert counted(lagging(256, **options)) == least  # type: ignore[arg-type]
    assert counted(lagging(64, **options)) == least  # type: ignore[arg-type]


def test_false_claims_are_refused(tmp_path: Path) -> None:
    document = lagging(64)
    for claimed, by, fault in (
        (320, "count", ""),
        (300, "count", ""),
        (321, "count", "321 bytes are claimed, but the arenas take 320"),
        (321, "search", "321 bytes are claimed, but the arenas take 320"),
    ):
        report = check_plan(through_json(document | {"lower_bound_bytes": claimed, "bound_by": by}))
        assert (
            report.safe
            and report.bound_fault.endswith(fault)
            and bool(report.bound_fault) == bool(fault)
        )
    loose = lagging(128) | {"lower_bound_bytes": 321}
    assert check_plan(through_json(loose)).bound_fault == (
        "lower bound: 321 bytes are claimed, but 320 are counted"
    )
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(loose))
    result = CliRunner().invoke(cli, ["check", str(path)])
    assert result.exit_code == 1 and "but 320 are counted" in result.output
