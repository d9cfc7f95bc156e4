"""Choose how a board is measured."""

from __future__ import annotations

from pathlib import Path

from codegen.bench.device import Progress, bench_device
from codegen.bench.host import bench_host
from codegen.bench.result import BenchResult
from codegen.pipeline import Build


def bench(model_path: Path, build: Build, progress: Progress) -> BenchResult:
    """Measure a build: wall time where the board is this machine, instructions on all others.

    Raises:
        ToolError: if a compiler, an emulator or the interpreter is missing or fails.
    """
    if build.plan.board.cpu.core == "host":
        return bench_host(model_path.read_bytes(), build, progress)
    return bench_device(build, progress)
