"""Real models that other people trained: every one equals the interpreter, but for a short list.

Every run plans all of them and holds the list of refusals against what is refused. A plain run
compares the MLPerf Tiny models, person detection and a sample of the others with a few inputs
each; `--full` takes all of them with 100 inputs, 50 in a row and again after a reset where there
is state, and all of them again with sanitizers.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from codegen.boards import load_board
from codegen.errors import CodegenError
from codegen.graph import DType, Tensor
from codegen.importer import load_model
from codegen.pipeline import Build, BuildOptions, build, prepare_graph
from codegen.planner.build import build_plan
from codegen.verify.inputs import InputSet, edge_sets, random_set, with_stated_shapes
from codegen.verify.session import make_session, verify_emulator, verify_host
from tests.models.shared_lists import (
    INCOMPARABLE,
    NOT_RUN_BY_LITERT,
    REFUSED,
    all_models,
    verified_models,
)
from tests.oracle import make_reference_interpreter
from tests.paths import requires_models

NAMED = (
    "mlcommons-tiny__ad01_int8",
    "mlcommons-tiny__kws_ref_model",
    "mlcommons-tiny__pretrainedResnet_quant",
    "mlcommons-tiny__vww_96_int8",
    "mlcommons-tiny__str_ww_ref_model",
    "tflm__person_detect",
)
# Models whose int32 inputs are indices: the largest that exists.
LARGEST_INDEX = {"litert__quantized_with_gather": 11}
# Float models with curves of the C library, small enough for emulators without its unit.
FLOATS = (
    "GreenWaves-Technologies-gap_sdk__expressions",
    "Wingman0618-Tiny_Machine_Learning__sinewave",
)
EMULATED = ("mps2-an386", "mps3-an547", "mps2-an505", "riscv32-virt")
STEPS = 50  # in a row of models with state
PARTS_OF_ALL = 4
OTHERS_IN_A_PLAIN_RUN = 14
SANITIZED_IN_A_PLAIN_RUN = 5

pytestmark = requires_models


def quiet(text: str) -> None:
    """No progress in tests."""


def refusal(path: Path) -> str:
    """The line with which a model is refused; nothing if the host board's planner takes it."""
    try:
        build_plan(prepare_graph(load_model(path), BuildOptions()), load_board("host"))
    except CodegenError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("part", range(PARTS_OF_ALL))
def test_what_is_refused_is_listed_with_its_reason(part: int) -> None:
    for name, path in sorted(all_models().items())[part::PARTS_OF_ALL]:
        line = refusal(path)
        assert bool(line) == (name in REFUSED), f"{name}: {line or 'builds; take it off the list'}"
        assert REFUSED.get(name, "") in line and "\n" not in line, f"{name}: {line}"


def test_the_lists_name_models() -> None:
    assert {*REFUSED, *INCOMPARABLE, *NOT_RUN_BY_LITERT, *LARGEST_INDEX, *NAMED} <= set(
        all_models()
    )
    assert not set(REFUSED) & set(INCOMPARABLE)


@pytest.mark.parametrize("name", NOT_RUN_BY_LITERT)
def test_litert_refuses(name: str) -> None:
    with pytest.raises((ValueError, RuntimeError), match=re.escape(NOT_RUN_BY_LITERT[name])):
        make_reference_interpreter(all_models()[name].read_bytes())


def test_nearly_all_that_litert_runs_is_verified() -> None:
    """The rest is refused or has no reference, each for the reason listed."""
    run = set(all_models()) - set(NOT_RUN_BY_LITERT)
    equal = run & set(verified_models())
    assert len(equal) >= 0.97 * len(run), f"{len(equal)} of {len(run)}"


def inputs_of(name: str, tensors: list[Tensor], samples: int) -> list[InputSet]:
    """Random sets and edges; indices stay inside what they index."""
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    sets = [random_set(tensors, rng) for _ in range(samples)] + list(edge_sets(tensors))
    largest = LARGEST_INDEX.get(name)
    if largest is None:
        return sets
    indices = [tensor.dtype is DType.INT32 for tensor in tensors]
    return [
        tuple(
            np.clip(v, 0, largest) if index else v for v, index in zip(values, indices, strict=True)
        )
        for values in sets
    ]


def check(path: Path, samples: int, *, sanitize: bool = False) -> Build:
    """Build for the host and compare outputs and inner tensors."""
    model = load_model(path)
    built = build(model, path.stem, load_board("host"), BuildOptions(name="net"))
    tensors = [built.plan.graph.tensors[t] for t in built.plan.graph.inputs]
    if built.plan.graph.states:
        samples = min(samples, STEPS)
    sets = inputs_of(path.stem, tensors, samples)
    sets = [with_stated_shapes(values, built.plan.graph) for values in sets]
    session = make_session(model, path.read_bytes(), built, sets)
    result = verify_host(session, quiet, sanitize=sanitize)
    assert result.equal, result.error or (result.difference and result.difference.line())
    return built


def others() -> list[str]:
    return [name for name in sorted(verified_models()) if name not in NAMED]


@pytest.mark.parametrize("name", NAMED)
def test_named_model(name: str, pytestconfig: pytest.Config) -> None:
    check(verified_models()[name], 100 if pytestconfig.getoption("--full") else 8)


@pytest.mark.parametrize("part", range(OTHERS_IN_A_PLAIN_RUN))
def test_other_models(
    part: int, sample: Callable[[list[str], int], list[str]], pytestconfig: pytest.Config
) -> None:
    """The sample in as many parts as a plain run has models, to share them out over the cores."""
    names = sample(others(), OTHERS_IN_A_PLAIN_RUN)
    samples = 100 if pytestconfig.getoption("--full") else 3
    for name in names[part::OTHERS_IN_A_PLAIN_RUN]:
        check(verified_models()[name], samples)


@pytest.mark.parametrize("part", range(SANITIZED_IN_A_PLAIN_RUN))
def test_sanitized(
    part: int, sample: Callable[[list[str], int], list[str]], pytestconfig: pytest.Config
) -> None:
    names = sample([*NAMED, *others()], SANITIZED_IN_A_PLAIN_RUN)
    samples = 100 if pytestconfig.getoption("--full") else 1
    for name in names[part::SANITIZED_IN_A_PLAIN_RUN]:
        check(verified_models()[name], samples, sanitize=True)


@pytest.mark.emulator
@pytest.mark.parametrize("board_name", EMULATED)
def test_emulated(board_name: str) -> None:
    """MLPerf Tiny models and two float ones on an emulated core; three inputs and edges each."""
    board = load_board(board_name)
    for name in (*NAMED[:5], *FLOATS):
        path = verified_models()[name]
        model = load_model(path)
        built = build(model, path.stem, board, BuildOptions(name="net"))
        tensors = [built.plan.graph.tensors[t] for t in built.plan.graph.inputs]
        rng = np.random.default_rng(7)
        sets = [random_set(tensors, rng) for _ in range(3)] + list(edge_sets(tensors))
        result = verify_emulator(make_session(model, path.read_bytes(), built, sets), quiet)
        assert result.equal, f"{name}: {result.error or result.difference}"
        assert result.stack_bytes is not None and 0 < result.stack_bytes <= 600
