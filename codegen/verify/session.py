"""Verification: build the C code, run it, compare it with the interpreter, find the fault.

On the host the model is compiled twice: as it ships, for the outputs, and with taps, for the inner
tensors of the first few inputs. On an emulator it runs as it ships, on fewer inputs, with the
stack measured. Every input is run twice in a row: what is left behind must not change a result.

A model with state runs all inputs as one sequence instead, and again after a reset.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codegen.errors import ToolError
from codegen.graph import Graph, Model, Tensor
from codegen.ops import detection_postprocess
from codegen.pipeline import Build
from codegen.verify.closeness import largest_gap, unequal
from codegen.verify.emulator import build_emulator_program, emulator_target
from codegen.verify.engine import engine_sources
from codegen.verify.inputs import InputSet
from codegen.verify.program import build_host_program
from codegen.verify.reference import MicroReference, Reference
from codegen.verify.result import Difference, TargetResult
from codegen.verify.sources import GeneratedSources, Request, RunResult
from codegen.verify.tiles import tensors_of_tiles
from codegen.verify.toolchain import optimise_flags
from codegen.verify.trace import TRACE_VARIABLE, read_trace

Array = NDArray[Any]
Progress = Callable[[str], None]

TAPPED_SETS = 3
EMULATED_SETS = 3
REPEATS = 2


@dataclass(frozen=True, eq=False)
class Case:
    """One input set with what the interpreter makes of it: every tensor by index."""

    inputs: InputSet
    expected: dict[int, Array]


@dataclass(frozen=True)
class Turn:
    """One run: of which case, for which time (from 0), and whether after a reset."""

    case: int
    repeat: int
    reset: bool


@dataclass(frozen=True, eq=False)
class Session:
    """A build, the cases to run it on, and their labels if there are any."""

    build: Build
    cases: tuple[Case, ...]
    labels: tuple[int, ...] | None = None

    @property
    def graph(self) -> Graph:
        return self.build.plan.graph

    @property
    def has_state(self) -> bool:
        """Whether what a run gives depends on those before."""
        return bool(self.graph.states)

    def schedule(self) -> list[Turn]:
        """Every run in order."""
        numbers, repeats = range(len(self.cases)), range(REPEATS)
        if self.has_state:
            return [Turn(n, repeat, reset=n == 0) for repeat in repeats for n in numbers]
        return [Turn(n, repeat, reset=False) for n in numbers for repeat in repeats]

    def requests(self) -> Iterator[Request]:
        """What a program is asked for, run by run."""
        for turn in self.schedule():
            yield Request(0, tuple(_raw(self.cases[turn.case])), turn.reset)


def make_session(
    model: Model,
    data: bytes,
    build: Build,
    sets: Sequence[InputSet],
    labels: tuple[int, ...] | None = None,
) -> Session:
    """Run the interpreter on all input sets.

    `sets` hold values for the inputs of the built graph. Where a pass has replaced an input of the
    file (float made int8), the file's own input gets the real values that these stand for.

    Raises:
        ToolError: if the interpreter is missing or refuses the model.
    """
    graph, original = build.plan.graph, model.main
    file_inputs = [original.tensors[t] for t in original.inputs]
    reference: Reference | MicroReference
    if build.plan.options.reference == "tflm":
        reference = MicroReference(data, original)
    else:
        reference = Reference(data, [t.shape for t in file_inputs], _partly_written(original))
    wanted = [*graph.outputs, *(t for layer in build.plan.layers for t in layer.node.outputs)]
    known = [t for t in wanted if t < len(original.tensors)]
    built_inputs = [graph.tensors[t] for t in graph.inputs]
    cases = []
    for values in sets:
        fed = [
            _as_file_input(value, built, tensor)
            for value, built, tensor in zip(values, built_inputs, file_inputs, strict=True)
        ]
        cases.append(Case(values, reference.run(fed, known)))
        _require_outputs(graph, cases[-1])
    return Session(build, tuple(cases), labels)


def _partly_written(graph: Graph) -> list[int]:
    """Tensors whose last elements their operator writes only if there is something to say."""
    nodes = (node for node in graph.nodes if node.custom_name == detection_postprocess.NAME)
    return [t for node in nodes for t in node.outputs]


def _require_outputs(graph: Graph, case: Case) -> None:
    """Nothing may count as equal that was not compared.

    Raises:
        ToolError: if the interpreter gives no value for an output.
    """
    for t in graph.outputs:
        if t not in case.expected:
            raise ToolError(
                f"the TFLite interpreter gives no value for output {graph.tensors[t].label}, so "
                "it cannot be compared"
            )


def _as_file_input(value: Array, built: Tensor, file_input: Tensor) -> Array:
    if built.index == file_input.index or built.quant is None:
        return value
    real = (value.astype(np.int32) - built.quant.zero_point) * np.float32(built.quant.scale)
    return real.astype(np.float32)


def sources_of(build: Build) -> GeneratedSources:
    """What a test program compiles of a build."""
    graph = build.plan.graph
    return GeneratedSources(
        name=build.name,
        files={path: text for path, text in build.files.items() if path != "main_example.c"},
        input_bytes=tuple(graph.tensors[t].nbytes for t in graph.inputs),
        output_bytes=tuple(graph.tensors[t].nbytes for t in graph.outputs),
        caller_io=build.plan.options.caller_io,
        engine=engine_sources(build),
    )


def verify_host(
    session: Session, progress: Progress, *, sanitize: bool = False, flags: Sequence[str] = ()
) -> TargetResult:
    """Compile with the system's C compiler, run every case twice, compare outputs and taps."""
    result = TargetResult("host")
    try:
        with tempfile.TemporaryDirectory(prefix="codegen-") as folder:
            progress("host: compiling")
            trace = Path(folder) / "trace.txt"
            program = build_host_program(
                [sources_of(session.build)],
                Path(folder),
                sanitize=sanitize,
                flags=flags,
                environment={TRACE_VARIABLE: str(trace)},
            )
            with program:
                runs = (program.answer(request) for request in session.requests())
                result = _compare_runs(session, result, runs, progress)
            npu = session.build.plan.npu
            if npu is not None and result.equal:
                result = replace(result, simulated=read_trace(trace, npu))
        return _verify_taps(session, result, progress)
    except ToolError as error:
        return replace(result, error=str(error))


def verify_emulator(session: Session, progress: Progress) -> TargetResult:
    """Cross-compile for the board's emulator and run a few cases there.

    Fails also when run() used more stack than the header states.
    """
    board = session.build.plan.board
    target = emulator_target(board)
    if target is None:
        raise ValueError(f"board {board.name} has no emulator")
    result = TargetResult("emulator")
    few = replace(session, cases=_few(session))
    try:
        with tempfile.TemporaryDirectory(prefix="codegen-") as folder:
            progress(f"{target.machine}: compiling")
            program = build_emulator_program(
                [sources_of(session.build)],
                target,
                Path(folder),
                flags=optimise_flags(session.build.plan.options.optimize),
            )
            progress(f"{target.machine}: running")
            runs = program.run(list(few.requests()))
        result = _compare_runs(replace(few, labels=None), result, iter(runs), progress)
        return _with_stack(session, result, runs)
    except ToolError as error:
        return replace(result, error=str(error))


def _few(session: Session) -> tuple[Case, ...]:
    """The first random cases and, at the end of the list, the edge cases; a sequence's start."""
    cases = session.cases
    if session.has_state:
        return cases[: 2 * EMULATED_SETS]
    middle = len(cases) - EMULATED_SETS
    return (*cases[: min(EMULATED_SETS, middle)], *cases[max(0, middle) :])


def _raw(case: Case) -> list[bytes]:
    return [value.tobytes() for value in case.inputs]


def _compare_runs(
    session: Session, result: TargetResult, runs: Iterator[RunResult], progress: Progress
) -> TargetResult:
    """Hold every run's outputs against the interpreter's, up to the first difference."""
    schedule = session.schedule()
    compared, right, total, gap = 0, 0, len(schedule), 0.0
    for number, (turn, run) in enumerate(zip(schedule, runs, strict=True)):
        case = session.cases[turn.case]
        progress(f"{result.name}: run {number + 1} of {total}")
        if run.status:
            return replace(result, runs=number, error=f"run() returned status {run.status}")
        for t, raw in zip(session.graph.outputs, run.outputs, strict=True):
            difference = _compare(session, result.name, number, t, raw, case)
            if difference:
                return replace(result, runs=number + 1, difference=difference)
            compared += len(raw)
            gap = max(gap, largest_gap(_values(raw, case.expected[t]), case.expected[t]))
        if session.labels and not turn.repeat and turn.case < len(session.labels):
            right += _class_of(session, run) == session.labels[turn.case]
    accuracy = right / len(session.labels) if session.labels else None
    return replace(result, runs=total, bytes_compared=compared, largest_gap=gap, accuracy=accuracy)


def _class_of(session: Session, run: RunResult) -> int:
    dtype = session.graph.tensors[session.graph.outputs[0]].dtype.numpy
    return int(np.argmax(np.frombuffer(run.outputs[0], dtype)))


def _compare(
    session: Session, target: str, run: int, t: int, raw: bytes, case: Case
) -> Difference | None:
    """The first element of a tensor that differs."""
    tensor, expected = session.graph.tensors[t], case.expected.get(t)
    if expected is None or raw == expected.tobytes():
        return None
    got = _values(raw, expected)
    wrong = np.argwhere(unequal(got, expected))
    if not len(wrong):
        return None
    element = tuple(int(i) for i in wrong[0])
    return Difference(target, run, tensor.label, element, str(got[element]), str(expected[element]))


def _values(raw: bytes, like: Array) -> Array:
    return np.frombuffer(raw, like.dtype).reshape(like.shape)


def _verify_taps(session: Session, result: TargetResult, progress: Progress) -> TargetResult:
    """Compare inner tensors in a debug build; with a difference found before, locate its origin."""
    if result.error is not None:
        return result
    numbers = range(min(TAPPED_SETS, len(session.cases)))
    if result.difference is not None:
        different = session.schedule()[result.difference.run].case
        numbers = range(0 if session.has_state else different, different + 1)
    with tempfile.TemporaryDirectory(prefix="codegen-") as folder:
        progress("host: compiling with taps")
        with build_host_program([sources_of(session.build)], Path(folder), taps=True) as program:
            inner = 0
            for number in numbers:
                progress(f"host: inner tensors of input {number + 1}")
                case = session.cases[number]
                taps = _taps(session, program.run(0, _raw(case), reset=number == 0))
                found = _first_tap(session, _first_run(session, number), taps, case)
                if found:
                    return replace(result, difference=found)
                inner += sum(t in case.expected for t in taps)
    return replace(result, inner_tensors=inner, unseen_tensors=_unseen(session))


def _unseen(session: Session) -> int:
    """How many tensors the layers inside of subgraphs write."""
    plan = session.build.plan
    every, outer = (
        sum(len(layer.node.outputs) for layer in layers)
        for layers in (plan.layers, plan.outer_layers)
    )
    return every - outer


def _taps(session: Session, run: RunResult) -> dict[int, bytes]:
    """Every inner tensor that a run has shown, those of a simulated NPU too."""
    npu = session.build.plan.npu
    return {**run.taps, **(tensors_of_tiles(npu, run.tiles) if npu is not None else {})}


def _first_run(session: Session, case: int) -> int:
    """The number of the first run of a case."""
    return next(i for i, turn in enumerate(session.schedule()) if turn.case == case)


def _first_tap(
    session: Session, run: int, taps: Mapping[int, bytes], case: Case
) -> Difference | None:
    """In execution order, the first tensor that differs: the operator that made it is at fault."""
    layer = 0
    for planned in session.build.plan.outer_layers:
        for t in planned.node.outputs:
            if t in taps and t in case.expected:
                difference = _compare(session, "host", run, t, taps[t], case)
                if difference:
                    return replace(difference, operator=planned.node.label, layer=layer)
        layer += planned.has_code
    return None


def _with_stack(session: Session, result: TargetResult, runs: Sequence[RunResult]) -> TargetResult:
    """Add the emulator's measurements and hold the stack against the header's bound."""
    stack = max((run.stack_bytes or 0 for run in runs), default=0)
    result = replace(result, stack_bytes=stack, instructions=runs[0].ticks if runs else None)
    bound = session.build.stack_bytes
    if stack > bound and result.error is None:
        return replace(
            result, error=f"run() used {stack} B of stack, more than the {bound} B of the header"
        )
    return result
