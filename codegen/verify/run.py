"""`codegen verify`: choose the inputs, run every target that was asked for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from codegen.errors import CodegenError
from codegen.graph import Model
from codegen.pipeline import Build
from codegen.verify.endless import ending
from codegen.verify.inputs import edge_sets, load_npz, random_set, with_stated_shapes
from codegen.verify.result import TargetResult, VerifyResult
from codegen.verify.session import (
    Progress,
    Session,
    make_session,
    sources_of,
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

    Of the last two kinds those are left out on which a loop of the model does not end.

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
    given, own = (
        [with_stated_shapes(values, graph) for values in sets]
        for sets in (
            user.sets if user else (),
            [random_set(tensors, rng) for _ in range(request.samples)] + [*edge_sets(tensors)],
        )
    )
    sets = own
    if build.plan.has_unbounded_loop:
        progress("host: looking for inputs on which a loop does not end")
        sets = ending(sources_of(build), own)
    progress("running the TFLite interpreter")
    labels = user.labels if user else None
    session = make_session(model, path.read_bytes(), build, [*given, *sets], labels)
    targets = tuple(_targets(session, request, progress))
    return VerifyResult(targets, endless=len(own) - len(sets))


def _targets(session: Session, request: VerifyRequest, progress: Progress) -> list[TargetResult]:
    results = []
    if request.target in ("all", "host"):
        results.append(verify_host(session, progress, sanitize=request.sanitize))
    if request.target != "host" and session.build.plan.board.emulator is not None:
        results.append(verify_emulator(session, progress))
    return results
