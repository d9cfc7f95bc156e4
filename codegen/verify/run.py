"""`codegen verify`: choose the inputs, run every target that was asked for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from codegen.errors import CodegenError
from codegen.graph import Model
from codegen.pipeline import Build
from codegen.verify.inputs import InputSet, edge_sets, load_npz, random_set, with_stated_shapes
from codegen.verify.result import TargetResult, VerifyResult
from codegen.verify.session import (
    Progress,
    Session,
    make_session,
    verify_emulator,
    verify_host,
)


@dataclass(frozen=True)
class VerifyRequest:
    """What the user asked of `codegen verify`."""

    samples: int
    seed: int
    npz: Path | None
    target: str
    sanitize: bool


def verify(
    model: Model, path: Path, build: Build, request: VerifyRequest, progress: Progress
) -> VerifyResult:
    """Run the user's inputs, random ones and the edge values on every target.

    Raises:
        CodegenError: if there is nothing to run on, the inputs cannot be read or the interpreter
            is missing or refuses the model.
    """
    board = build.plan.board
    if request.target == "emulator" and board.emulator is None:
        raise CodegenError(f"board {board.name} names no emulator; verify with --target host")
    graph = build.plan.graph
    tensors = [graph.tensors[t] for t in graph.inputs]
    user = load_npz(request.npz, tensors) if request.npz else None
    rng = np.random.default_rng(request.seed)
    sets: list[InputSet] = [*(user.sets if user else ())]
    sets += [random_set(tensors, rng) for _ in range(request.samples)]
    sets += edge_sets(tensors)
    sets = [with_stated_shapes(values, graph) for values in sets]
    progress("running the TFLite interpreter")
    session = make_session(model, path.read_bytes(), build, sets, user.labels if user else None)
    return VerifyResult(tuple(_targets(session, request, progress)))


def _targets(session: Session, request: VerifyRequest, progress: Progress) -> list[TargetResult]:
    results = []
    if request.target in ("all", "host"):
        results.append(verify_host(session, progress, sanitize=request.sanitize))
    if request.target != "host" and session.build.plan.board.emulator is not None:
        results.append(verify_emulator(session, progress))
    return results
