"""The simulated hardware: its clock is the planner's, its errors come out, its log shows reuse."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from codegen.boards import load_board
from codegen.cli import cli
from codegen.errors import ToolError
from codegen.importer import parse_model
from codegen.npu.figures import transfer_of_ticket
from codegen.npu.program import Way
from codegen.pipeline import Build, build
from codegen.verify.program import build_host_program
from codegen.verify.session import sources_of
from codegen.verify.trace import TRACE_VARIABLE, Simulated, read_trace
from tests import oracle
from tests.npu.test_models import MODELS, NAMES, built
from tests.ops.equality import assert_equal
from tests.ops.test_conv_2d import conv_model
from tests.paths import requires_models
from tests.tflite_builder import ModelBuilder


def simulated(result: Build, folder: Path) -> Simulated:
    """One run on zeros, traced by the simulator."""
    trace = folder / "trace.txt"
    sources = sources_of(result)
    with build_host_program([sources], folder, environment={TRACE_VARIABLE: str(trace)}) as program:
        run = program.run(0, [bytes(size) for size in sources.input_bytes])
    assert run.status == 0 and result.plan.npu is not None
    return read_trace(trace, result.plan.npu)


@requires_models
@pytest.mark.parametrize(("name", "board"), [("kws", "npu-256k"), ("ic", "npu-32k")])
def test_the_clock_is_the_planners(name: str, board: str, tmp_path: Path) -> None:
    """Every event of the run starts and ends when the planner has said."""
    result = built(name, board)
    found = simulated(result, tmp_path)
    assert result.plan.npu is not None
    modelled = result.plan.npu.timeline
    assert found.total == modelled.total
    assert set(found.events) == set(modelled.events)


@requires_models
def test_reuse_shows_in_the_log(tmp_path: Path) -> None:
    """What the three rules of reuse spare is not among the transfers.

    Weights that fit are loaded once; a map that the next operator reads stays where it is; with the
    same weights only the feature map moves.
    """
    found = simulated(built("ic", "npu-64k"), tmp_path)
    program, graph = found.npu.builder.program, built("ic", "npu-64k").plan.graph
    tickets = transfer_of_ticket(found.npu)
    done = [program.transfers[tickets[e.number]] for e in found.events if e.lane.isdigit()]
    weights = Counter(t.work.node.index for t in done if t.tensor < 0)
    moved = sum(t.copy.bytes for t in done if t.tensor < 0)
    packed = sum(max(parts.values()) for parts in found.npu.builder.packed.values())
    assert moved >= packed and len(weights) == len(found.npu.builder.packed)
    assert moved == sum(built("ic", "npu-64k").plan.buffer(f"w{node}").size for node in weights), (
        "every block of weights is loaded exactly once"
    )
    maps = {t.tensor for t in done if t.tensor >= 0}
    borders = {*graph.inputs, *(found.npu.builder.root(t) for t in graph.outputs)}
    assert maps == borders, "no inner map leaves the scratchpad"
    first = [t for t in done if t.work.node.index == 0]
    assert len([t for t in first if t.tensor >= 0]) > 1, "the first map comes in pieces"
    assert len([t for t in first if t.tensor < 0]) == 1, "its weights come once"


def test_weights_are_streamed_when_they_do_not_fit(
    tmp_path: Path, rng: np.random.Generator
) -> None:
    """Weights larger than the scratchpad: each block once, the whole feature map once."""
    data = conv_model(rng, in_shape=(1, 6, 6, 96), filters=(96, 3, 3, 96))
    found = simulated(build(parse_model(data), "net", load_board("npu-32k")), tmp_path)
    program = found.npu.builder.program
    loads = [t for t in program.transfers if t.way is Way.LOAD]
    assert sum(t.copy.bytes for t in loads if t.tensor < 0) > 32768
    assert sum(t.copy.bytes for t in loads if t.tensor >= 0) == 6 * 6 * 96


def engines_in_turn(rng: np.random.Generator) -> bytes:
    """RELU on the NPU, an ADD that the CPU has to do, RELU again; all results are outputs."""
    builder = ModelBuilder()
    shape = (1, 9, 7, 5)
    x, a, b, y = (builder.tensor(shape, "int8", 0.05, z) for z in (3, -5, 7, 0))
    constant = builder.tensor((5,), "int8", 0.03, 1, data=rng.integers(-128, 128, 5))
    builder.op("RELU", [x], [a])
    builder.op("ADD", [a, constant], [b])
    builder.op("RELU", [b], [y])
    return builder.build([x], [a, b, y])


def test_cache_andengines_in_turn(tmp_path: Path, rng: np.random.Generator) -> None:
    """Behind a write-back cache, under the sanitizers: whole lines are ours, nothing is stale."""
    cases = {
        "one operator": conv_model(rng, in_shape=(1, 5, 5, 3), filters=(7, 3, 3, 3)),
        "engines in turn": engines_in_turn(rng),
    }
    assert_equal(cases, tmp_path, rng, samples=1, board="npu-256k", sanitize=True)


@pytest.mark.parametrize("fault", ["dma:0", "dma:2", "npu:1"])
def test_errors_of_the_hardware_travel_out(
    fault: str, tmp_path: Path, rng: np.random.Generator
) -> None:
    """run() says so, and the next run is right."""
    data = conv_model(rng, in_shape=(1, 64, 64, 16), filters=(16, 3, 3, 16))
    result = build(parse_model(data), "net", load_board("npu-32k"))
    sources = sources_of(result)
    values = [rng.integers(-128, 128, (1, 64, 64, 16)).astype(np.int8)]
    inputs = [values[0].tobytes()]
    with build_host_program([sources], tmp_path, environment={"CG_SIM_FAIL": fault}) as program:
        assert program.run(0, inputs).status == 4
        after = program.run(0, inputs)
        assert after.status == 0
        assert after.outputs == program.run(0, inputs).outputs
    assert oracle.run_reference(data, [values])[0][0].tobytes() == after.outputs[0]
    assert "NET_HARDWARE_ERROR = 4" in str(sources.files["net.h"])


def test_a_fault_names_layer_and_transfer(tmp_path: Path, rng: np.random.Generator) -> None:
    data = conv_model(rng, in_shape=(1, 64, 64, 16), filters=(16, 3, 3, 16))
    sources = sources_of(build(parse_model(data), "net", load_board("npu-32k")))
    text = str(sources.files["net.c"]).replace("CG_TRY(cg_dma_wait(1));", "", 1)
    changed = type(sources)(**{**vars(sources), "files": {**sources.files, "net.c": text}})
    with (
        build_host_program([changed], tmp_path) as program,
        pytest.raises(
            ToolError, match=r"sim: layer 0 CONV_2D: command 0: reads .* has not arrived"
        ),
    ):
        program.run(0, [bytes(size) for size in sources.input_bytes])


@requires_models
def test_timeline_files(tmp_path: Path) -> None:
    assert MODELS is not None
    path, trace = MODELS / "app" / f"{NAMES['kws']}.tflite", tmp_path / "t.json"
    command = ["verify", str(path), "--board", "npu-64k", "--samples", "0", "--json"]
    run = CliRunner().invoke(cli, [*command, "--timeline", str(trace)])
    assert run.exit_code == 0, run.output
    found = json.loads(run.output)["timeline"]
    total = max(
        e["ts"] + e["dur"] for e in json.loads(trace.read_text())["traceEvents"] if "ts" in e
    )
    assert found["total_cycles"] == total == built("kws", "npu-64k").plan.npu.timeline.total  # type: ignore[union-attr]
    assert found["exposed_dma_cycles"] == found["total_cycles"] - found["compute_cycles"]
    assert found["bytes_moved"] >= found["compulsory_bytes"]
    assert trace.with_suffix(".svg").read_text().startswith("<svg")


@requires_models
def test_plan_and_sweep(tmp_path: Path) -> None:
    assert MODELS is not None
    path, picture = str(MODELS / "app" / f"{NAMES['ad']}.tflite"), tmp_path / "s.svg"
    text = CliRunner().invoke(cli, ["plan", path, "--board", "npu-64k"]).output
    assert "proved bound for this order" in text and "FULLY_CONNECTED" in text
    command = ["plan", path, "--board", "npu-64k", "--svg", str(picture), "--json"]
    run = CliRunner().invoke(cli, [*command, "--sweep", "scratchpad=4k..32k"])
    points = json.loads(run.output)["sweep"]
    sizes = [p["scratchpad_bytes"] for p in points]
    assert sizes[0] == 4096 and sizes[-1] == 32768 and len(sizes) == 7
    totals = [p["timeline"]["total_cycles"] for p in points]
    assert totals[-1] <= totals[0]
    assert all(p["bound_cycles"] <= t for p, t in zip(points, totals, strict=True))
    assert picture.read_text().startswith("<svg")
    wrong = CliRunner().invoke(cli, [*command, "--sweep", "scratchpad=32k..4k"])
    assert wrong.exit_code == 1 and "is no range of sizes" in wrong.output
    plain = CliRunner().invoke(
        cli, ["plan", path, "--board", "host", "--sweep", "scratchpad=4k..8k"]
    )
    assert plain.exit_code == 1 and "needs a board with an NPU" in plain.output
