"""Instructions, stack and bytes of a model on a board, by its emulator and its compiler."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from codegen.bench.footprint import Footprint, link_footprint
from codegen.bench.inputs import bench_inputs
from codegen.bench.result import BenchResult, LayerFigures
from codegen.errors import ToolError
from codegen.ops.base import TableKind
from codegen.pipeline import Build
from codegen.verify.emulator import build_emulator_program, emulator_target
from codegen.verify.session import sources_of
from codegen.verify.sources import Request
from codegen.verify.toolchain import optimise_flags

Progress = Callable[[str], None]


def bench_device(build: Build, progress: Progress) -> BenchResult:
    """Run one inference as a whole and one layer by layer, on the same input, and link the code.

    Raises:
        ToolError: if a tool is missing or fails, or run() reports an error.
    """
    plan, sources = build.plan, sources_of(build)
    board, target = plan.board, emulator_target(plan.board)
    optimise = optimise_flags(plan.options.optimize)
    with tempfile.TemporaryDirectory(prefix="codegen-") as folder:
        progress("linking")
        footprint = link_footprint(
            sources,
            board.compiler.command,
            (*board.compiler.flags, *optimise),
            Path(folder) / "footprint",
        )
        if target is None:
            note = f"board {board.name} names no emulator, so nothing was run"
            if sources.port_files:
                note += f"; the code has {', '.join(sources.port_files)} in it"
            return _result(build, footprint, None, (), None, note)
        progress(f"{target.machine}: compiling")
        program = build_emulator_program([sources], target, Path(folder), flags=optimise)
        progress(f"{target.machine}: running")
        inputs = bench_inputs([plan.graph.tensors[t] for t in plan.graph.inputs])
        whole, single = program.run([Request(0, inputs), Request(0, inputs, layers=True)])
    for run in (whole, single):
        if run.status:
            raise ToolError(f"{target.machine}: run() returned status {run.status}")
    layers = tuple(layer_figures(build, single.layer_ticks))
    return _result(build, footprint, whole.ticks, layers, whole.stack_bytes, loop_note(build))


def layer_figures(build: Build, ticks: tuple[int, ...]) -> Iterator[LayerFigures]:
    """The layers that have code, in execution order, with what each took."""
    layers = (layer for layer in build.plan.outer_layers if layer.has_code)
    for index, (layer, taken) in enumerate(zip(layers, ticks, strict=False)):
        yield LayerFigures(index, layer.node.op, layer.lowered.macs, taken)


def loop_note(build: Build) -> str:
    """What the figures of a model with loops mean, if they mean less than usual."""
    if not build.plan.has_unbounded_loop:
        return ""
    return "a loop ran as often as its condition held on these inputs; MACs have one turn of it"


def plan_sizes(build: Build) -> dict[str, int]:
    """Bytes that the plan knows by itself."""
    plan = build.plan
    return {
        "arena_bytes": plan.total_arena,
        "weights_bytes": plan.constant_bytes(TableKind.WEIGHTS),
        "tables_bytes": plan.constant_bytes(TableKind.TABLES),
    }


def _result(
    build: Build,
    footprint: Footprint,
    instructions: int | None,
    layers: tuple[LayerFigures, ...],
    stack_bytes: int | None,
    note: str,
) -> BenchResult:
    return BenchResult(
        board=build.plan.board.name,
        macs=sum(layer.lowered.macs for layer in build.plan.outer_layers),
        instructions=instructions,
        microseconds=None,
        layers=layers,
        stack_bytes=stack_bytes,
        sizes={**plan_sizes(build), **vars(footprint)},
        note=note,
    )
