"""Holds generated C on an emulated board against the reference, many models in one image."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from codegen.boards import load_board
from codegen.importer import parse_model
from codegen.pipeline import BuildOptions, build
from codegen.plan import PlanOptions
from codegen.verify.emulator import build_emulator_program, emulator_target
from codegen.verify.session import sources_of
from codegen.verify.sources import Request
from tests import oracle
from tests.ops.equality import Array, difference, input_sets


def assert_equal_emulated(
    cases: Mapping[str, bytes],
    workdir: Path,
    rng: np.random.Generator,
    board: str,
    *,
    samples: int = 2,
    plan: PlanOptions | None = None,
    flags: Sequence[str] = (),
) -> None:
    """`tests.ops.equality.assert_equal` on an emulated board; skips where its tools are missing.

    `flags` are for the compiler and override its others.
    """
    profile = load_board(board)
    target = emulator_target(profile)
    assert target is not None, f"{board} is not emulated"
    for tool in (target.compiler, target.emulator):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    models = [parse_model(data) for data in cases.values()]
    options = [BuildOptions(name=f"m{i}", plan=plan or PlanOptions()) for i in range(len(models))]
    builds = [build(m, "case", profile, o) for m, o in zip(models, options, strict=True)]
    sources = [sources_of(built) for built in builds]
    program = build_emulator_program(sources, target, workdir, flags=flags)

    requests: list[Request] = []
    expected: list[tuple[str, list[Array]]] = []
    for number, (label, data) in enumerate(cases.items()):
        sets = input_sets(models[number], samples, rng)
        for values, outputs in zip(sets, oracle.run_reference(data, sets), strict=True):
            request = Request(number, tuple(v.tobytes() for v in values), reset=False)
            requests += [request] * 2
            expected += [(label, outputs)] * 2
    failures = []
    for result, (label, outputs) in zip(program.run(requests), expected, strict=True):
        found = difference(result.status, result.outputs, outputs, tolerance=0.0)
        if found:
            failures.append(f"{label}: {found}")
    assert not failures, f"{len(failures)} differences, first: " + "; ".join(failures[:5])
