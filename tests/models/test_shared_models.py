"""Real models that other people trained: every one that builds must equal the interpreter.

A plain run takes the MLPerf Tiny models, person detection and a sample of the others with a few
inputs each; `--full` takes all of them with 100 inputs, and all of them again with sanitizers.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from codegen.boards import load_board
from codegen.errors import CodegenError
from codegen.importer import load_model
from codegen.pipeline import Build, BuildOptions, build, prepare_graph
from codegen.planner.build import build_plan
from codegen.verify.inputs import edge_sets, random_set, with_stated_shapes
from codegen.verify.session import make_session, verify_emulator, verify_host
from tests.paths import app_models, optest_models, requires_models

NAMED = (
    "mlcommons-tiny__ad01_int8",
    "mlcommons-tiny__kws_ref_model",
    "mlcommons-tiny__pretrainedResnet_quant",
    "mlcommons-tiny__vww_96_int8",
    "mlcommons-tiny__str_ww_ref_model",
    "tflm__person_detect",
)
# What builds but cannot be compared, and why.
NO_REFERENCE = {
    "MohamedElhadidy0019-stm32ai-modelzoo__"
    "object_detection_coco_2017_person_ssd_mobilenet_v2_fpnlite_035_192_int8": (
        "LiteRT does not know its version of TILE"
    ),
    "litert__simple_ceil_op": "LiteRT has no reference kernel of CEIL",
    "litert__simple_elu_op": "LiteRT has no reference kernel of ELU",
    "litert__simple_round_op": "LiteRT has no reference kernel of ROUND",
    "litert__quantized_with_gather": "LiteRT refuses random indices, which may be negative",
}
# Float models with curves of the C library, small enough for emulators without its unit.
FLOATS = (
    "GreenWaves-Technologies-gap_sdk__expressions",
    "Wingman0618-Tiny_Machine_Learning__sinewave",
)
EMULATED = ("mps2-an386", "mps3-an547", "mps2-an505", "riscv32-virt")
OTHERS_IN_A_PLAIN_RUN = 14
SANITIZED_IN_A_PLAIN_RUN = 5

pytestmark = requires_models


def quiet(text: str) -> None:
    """No progress in tests."""


@cache
def buildable() -> dict[str, Path]:
    """Every model that the host board's planner takes, by name."""
    board = load_board("host")
    found = {}
    for path in [*app_models(), *optest_models()]:
        try:
            model = load_model(path)
            build_plan(prepare_graph(model, BuildOptions()), board)
            found[path.stem] = path
        except CodegenError:
            continue
    return found


def check(path: Path, samples: int, *, sanitize: bool = False) -> Build:
    """Build for the host and compare outputs and inner tensors."""
    model = load_model(path)
    built = build(model, path.stem, load_board("host"), BuildOptions(name="net"))
    tensors = [built.plan.graph.tensors[t] for t in built.plan.graph.inputs]
    rng = np.random.default_rng(zlib.crc32(path.stem.encode()))
    sets = [random_set(tensors, rng) for _ in range(samples)] + list(edge_sets(tensors))
    sets = [with_stated_shapes(values, built.plan.graph) for values in sets]
    session = make_session(model, path.read_bytes(), built, sets)
    result = verify_host(session, quiet, sanitize=sanitize)
    assert result.equal, result.error or (result.difference and result.difference.line())
    return built


def others() -> list[str]:
    return [name for name in sorted(buildable()) if name not in (*NAMED, *NO_REFERENCE)]


def test_the_named_models_build() -> None:
    assert set(NAMED) <= set(buildable())


@pytest.mark.parametrize("name", NAMED)
def test_named_model(name: str, pytestconfig: pytest.Config) -> None:
    check(buildable()[name], 100 if pytestconfig.getoption("--full") else 8)


@pytest.mark.parametrize("part", range(OTHERS_IN_A_PLAIN_RUN))
def test_other_models(
    part: int, sample: Callable[[list[str], int], list[str]], pytestconfig: pytest.Config
) -> None:
    """The sample in as many parts as a plain run has models, to share them out over the cores."""
    names = sample(others(), OTHERS_IN_A_PLAIN_RUN)
    samples = 100 if pytestconfig.getoption("--full") else 3
    for name in names[part::OTHERS_IN_A_PLAIN_RUN]:
        check(buildable()[name], samples)


@pytest.mark.parametrize("part", range(SANITIZED_IN_A_PLAIN_RUN))
def test_sanitized(
    part: int, sample: Callable[[list[str], int], list[str]], pytestconfig: pytest.Config
) -> None:
    names = sample([*NAMED, *others()], SANITIZED_IN_A_PLAIN_RUN)
    samples = 100 if pytestconfig.getoption("--full") else 1
    for name in names[part::SANITIZED_IN_A_PLAIN_RUN]:
        check(buildable()[name], samples, sanitize=True)


@pytest.mark.emulator
@pytest.mark.parametrize("board_name", EMULATED)
def test_emulated(board_name: str) -> None:
    """MLPerf Tiny models and two float ones on an emulated core; three inputs and edges each."""
    board = load_board(board_name)
    for name in (*NAMED[:5], *FLOATS):
        path = buildable()[name]
        model = load_model(path)
        built = build(model, path.stem, board, BuildOptions(name="net"))
        tensors = [built.plan.graph.tensors[t] for t in built.plan.graph.inputs]
        rng = np.random.default_rng(7)
        sets = [random_set(tensors, rng) for _ in range(3)] + list(edge_sets(tensors))
        result = verify_emulator(make_session(model, path.read_bytes(), built, sets), quiet)
        assert result.equal, f"{name}: {result.error or result.difference}"
        assert result.stack_bytes is not None and 0 < result.stack_bytes <= 600
