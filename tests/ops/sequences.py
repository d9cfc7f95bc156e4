"""Holds models with state against the reference interpreter, over runs that follow each other."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from codegen.boards import load_board
from codegen.importer import parse_model
from codegen.pipeline import BuildOptions, build
from codegen.plan import PlanOptions
from codegen.verify.program import build_host_program
from codegen.verify.session import sources_of
from tests import oracle
from tests.ops.equality import difference, random_input


def assert_sequences_equal(
    cases: Mapping[str, bytes],
    workdir: Path,
    rng: np.random.Generator,
    *,
    steps: int = 12,
    sanitize: bool = False,
    plan: PlanOptions | None = None,
    tolerance: float = 0.0,
    board: str = "host",
) -> None:
    """Run every case (label -> .tflite bytes) for some steps, reset it, run them all again.

    Each sequence is compared with that of a new interpreter, step by step.
    """
    models = [parse_model(data) for data in cases.values()]
    names = [BuildOptions(name=f"m{i}", plan=plan or PlanOptions()) for i in range(len(models))]
    profile = load_board(board)
    builds = [build(m, "case", profile, o) for m, o in zip(models, names, strict=True)]
    failures = []
    with build_host_program([sources_of(b) for b in builds], workdir, sanitize=sanitize) as program:
        for number, (label, data) in enumerate(cases.items()):
            inputs = [models[number].main.tensors[t] for t in models[number].main.inputs]
            sets = [[random_input(t, rng) for t in inputs] for _ in range(steps)]
            expected = oracle.run_reference(data, sets)
            for count in (steps // 2, steps):  # the reset comes in the middle of a sequence
                for step, (values, wanted) in enumerate(zip(sets[:count], expected, strict=False)):
                    raw = [value.tobytes() for value in values]
                    result = program.run(number, raw, reset=step == 0)
                    found = difference(result.status, result.outputs, wanted, tolerance)
                    if found:
                        failures.append(f"{label}, step {step}: {found}")
                        break
    assert not failures, f"{len(failures)} differences, first: " + "; ".join(failures[:5])
