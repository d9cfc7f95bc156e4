"""Wall time of a model on this machine, beside LiteRT's own kernels on one thread."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from codegen.bench.device import layer_figures, loop_note, plan_sizes
from codegen.bench.inputs import bench_inputs
from codegen.bench.result import BenchResult, Peer
from codegen.errors import ToolError
from codegen.pipeline import Build
from codegen.verify.program import HostProgram, build_host_program
from codegen.verify.session import sources_of
from codegen.verify.sources import Request, RunResult

Progress = Callable[[str], None]

FAST_FLAGS = ("-O3", "-march=native")
"""How a PC is compared: as LiteRT's wheels are, for speed and with its vector instructions."""

_SECONDS = 1.0
_WARM_UPS = 3
_FEWEST_RUNS, _MOST_RUNS = 20, 2000


def bench_host(model: bytes, build: Build, progress: Progress) -> BenchResult:
    """Median time of an inference, of each layer, and of LiteRT with and without XNNPACK.

    Raises:
        ToolError: if the compiler or the program fails, or the interpreter is missing.
    """
    plan = build.plan
    inputs = bench_inputs([plan.graph.tensors[t] for t in plan.graph.inputs])
    with tempfile.TemporaryDirectory(prefix="codegen-") as folder:
        progress("host: compiling")
        sources = [sources_of(build)]
        with build_host_program(sources, Path(folder), flags=FAST_FLAGS) as program:
            progress("host: running")
            microseconds = _median_of(lambda: _timed(program, inputs).ticks) / 1000
            layers = _timed(program, inputs, layers=True).layer_ticks
    progress("LiteRT: running")
    return BenchResult(
        board=plan.board.name,
        macs=sum(layer.lowered.macs for layer in plan.outer_layers),
        instructions=None,
        microseconds=round(microseconds, 2),
        layers=tuple(layer_figures(build, layers)),
        stack_bytes=None,
        sizes=plan_sizes(build),
        peers=tuple(_peers(model)),
        note=loop_note(build),
    )


def _timed(program: HostProgram, inputs: tuple[bytes, ...], *, layers: bool = False) -> RunResult:
    result = program.answer(Request(0, inputs, layers=layers, warm_ups=_WARM_UPS))
    if result.status:
        raise ToolError(f"host: run() returned status {result.status}")
    return result


def _median_of(nanoseconds: Callable[[], int]) -> float:
    """The median over about a second of runs, after a few that warm the caches up."""
    for _ in range(3):
        nanoseconds()
    samples: list[int] = []
    end = time.monotonic() + _SECONDS
    while len(samples) < _FEWEST_RUNS or (len(samples) < _MOST_RUNS and time.monotonic() < end):
        samples.append(nanoseconds())
    return statistics.median(samples)


def _peers(model: bytes) -> Iterator[Peer]:
    """LiteRT with its delegate for CPUs and with its built-in kernels alone."""
    try:
        from ai_edge_litert.interpreter import Interpreter, OpResolverType
    except ImportError:
        raise ToolError(
            "the TFLite interpreter is not installed; pip install ai-edge-litert"
        ) from None
    kinds = {
        "litert_xnnpack": OpResolverType.AUTO,
        "litert_builtin": OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
    }
    for name, resolver in kinds.items():
        try:
            interpreter = Interpreter(
                model_content=model, experimental_op_resolver_type=resolver, num_threads=1
            )
            interpreter.allocate_tensors()
            for detail in interpreter.get_input_details():
                interpreter.set_tensor(detail["index"], np.zeros(detail["shape"], detail["dtype"]))
            yield Peer(name, round(_median_of(lambda: _invoke(interpreter)) / 1000, 2))  # noqa: B023
        except (ValueError, RuntimeError):
            continue


def _invoke(interpreter: Any) -> int:
    start = time.perf_counter_ns()
    interpreter.invoke()
    return time.perf_counter_ns() - start
