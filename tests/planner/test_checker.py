"""The checker on plans without a fault and on plans with one fault each, which it has to name."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen import ops
from codegen.boards import load_board
from codegen.errors import Unsupported
from codegen.importer import parse_model
from codegen.ops.base import OpContext
from codegen.pipeline import Build, BuildOptions, build, prepare_graph
from codegen.plan import PlanOptions
from codegen.plan_json import plan_document
from codegen.planner.build import build_plan
from codegen.planner.checker import UnsafePlan, check_file, check_plan
from tests.paths import app_models, requires_models
from tests.planner.plans import (
    Json,
    affine,
    assert_fault,
    buffer,
    chain,
    faults,
    step,
    through_json,
)
from tests.tflite_builder import ModelBuilder

Breakage = Callable[[Json], None]


def residual_model(rng: np.random.Generator, batch: int = 2) -> bytes:
    """Three convolutions, a sum, a concatenation, an activation and a reshape; two outputs."""
    builder = ModelBuilder()

    def feature_map(channels: int) -> int:
        return builder.tensor((batch, 6, 6, channels), scale=0.1, zero_point=1)

    data = rng.integers(-9, 9, (4, 3, 3, 4))
    weights = builder.tensor((4, 3, 3, 4), scale=[0.1] * 4, zero_point=[0] * 4, data=data)
    x, a, b, c, total, rectified = (feature_map(4) for _ in range(6))
    both = feature_map(8)
    for source, result in ((x, a), (a, b), (a, c)):
        inputs = [source, weights, -1]
        builder.op("CONV_2D", inputs, [result], padding="SAME", stride_h=1, stride_w=1)
    builder.op("ADD", [b, c], [total])
    builder.op("RELU", [total], [rectified])
    builder.op("CONCATENATION", [rectified, c], [both], axis=3)
    flat = builder.tensor((batch, 288), scale=0.1, zero_point=1)
    builder.op("RESHAPE", [both], [flat], new_shape=[batch, 288])
    return builder.build([x], [flat, rectified])


OPTIONS = (PlanOptions(), PlanOptions(keep_input=True), PlanOptions(caller_io=True))


def built(data: bytes, options: PlanOptions = OPTIONS[0]) -> Build:
    return build(parse_model(data), "m", load_board("host"), BuildOptions(plan=options))


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("batch", [1, 2])
def test_real_plans_are_safe(options: PlanOptions, batch: int, rng: np.random.Generator) -> None:
    document = json.loads(built(residual_model(rng, batch), options).files["plan.json"])
    report = check_plan(document)
    assert report.safe, report.faults
    assert document["layers"][3]["note"] == "in place"
    reshape = document["layers"][6]
    assert bool(reshape["steps"]) == options.caller_io != bool(reshape["views"])
    image = 6 * 6 * 4
    copied = 2 * image if options.caller_io else 0
    # Of the two parts that are joined, the one that is also a model output is copied; the other one
    # too where the memory serves the convolutions better.
    joined = 2 if document["layers"][5]["note"].startswith("copies") else 1
    assert report.bytes_written == batch * ((3 + 1 + 1 + joined) * image + copied)


@requires_models
def test_plans_of_deployed_models_are_safe_and_checked_soon() -> None:
    names = (
        "ad01_int8",
        "kws_ref_model",
        "pretrainedResnet_quant",
        "vww_96_int8",
        "str_ww_ref_model",
    )
    paths = {path.stem: path for path in app_models()}
    for name in names:
        model = parse_model(paths[f"mlcommons-tiny__{name}"].read_bytes())
        plan = build_plan(prepare_graph(model, BuildOptions()), load_board("host"))
        start = time.process_time()
        report = check_plan(plan_document(plan, name))
        assert time.process_time() - start < 0.3
        assert report.safe and report.executions >= 10, report.faults


def test_an_unsafe_plan_stops_the_build(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> Json:
        document = chain()
        document["layers"].pop(0)
        return document

    monkeypatch.setattr("codegen.pipeline.plan_document", broken)
    with pytest.raises(UnsafePlan, match=r"the planner made an unsafe plan: .*no layer yields it"):
        built(residual_model(rng))


def test_the_checker_stands_alone() -> None:
    code = (
        "import sys, codegen.planner.checker\n"
        "bad = [m for m in sys.modules if m.startswith('codegen.') and not "
        "m.startswith('codegen.planner.checker') and m not in ('codegen.planner',)]\n"
        "sys.exit(' '.join(bad) or 0)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def test_the_chain_is_safe() -> None:
    report = check_plan(through_json(chain()))
    assert report.safe, report.faults
    assert report.executions == 3
    assert report.bytes_read == 4 * 128


def set_buffer(name: str, **values: int) -> Breakage:
    def change(document: Json) -> None:
        buffer(document, name).update(values)

    return change


def set_memory(**values: Any) -> Breakage:
    return lambda document: document["memories"][0].update(values)


def set_view(layer: int, kind: str, number: int = 0, **values: Any) -> Breakage:
    return lambda document: step(document, layer)[kind][number].update(values)


def set_box(layer: int, kind: str, **values: Any) -> Breakage:
    return lambda document: step(document, layer)[kind][0]["box"].update(values)


def set_step(layer: int, **values: Any) -> Breakage:
    return lambda document: step(document, layer).update(values)


def set_layer(layer: int, **values: Any) -> Breakage:
    return lambda document: document["layers"][layer].update(values)


def set_tensor(number: int, **values: Any) -> Breakage:
    return lambda document: document["tensors"][number].update(values)


def several(*changes: Breakage) -> Breakage:
    def change(document: Json) -> None:
        for each in changes:
            each(document)

    return change


def swap_layers(document: Json) -> None:
    layers = document["layers"]
    layers[0], layers[1] = layers[1], layers[0]


def drop_step(document: Json) -> None:
    document["layers"][1]["steps"] = []


def repeat_step(document: Json) -> None:
    document["layers"][1]["steps"] *= 2


def loop_around(document: Json, **values: Any) -> None:
    layer = document["layers"][1]
    layer["steps"] = [{"loop": "n", "count": 2, "body": layer["steps"]} | values]


def nested_loop(document: Json) -> None:
    loop_around(document)
    loop_around(document)


def double(kind: str) -> Breakage:
    return lambda document: document[kind].append(document[kind][0])


X_IN_PLACE = several(set_buffer("b", offset=0), set_memory(arena_bytes=416))
FAULTS: dict[str, tuple[Breakage, tuple[str, ...]]] = {
    # addresses and lifetimes
    "shifted": (set_buffer("a", offset=124), ("buffers x and a overlap", "124..127", "0..1")),
    "shifted and read": (set_buffer("a", offset=64), ("layer 1 ADD", "reads tensor 0", "64 bytes")),
    "misaligned": (set_buffer("b", offset=258), ("buffer b", "misaligned")),
    "short life": (set_buffer("x", last=0), ("layer 1 ADD", "tensor 0", "used at layer 1")),
    "born late": (set_buffer("x", first=0), ("input", "used before the first layer")),
    "output dies": (set_buffer("y", last=2), ("output", "used at layer 3")),
    "backwards life": (set_buffer("s", first=2, last=1), ("buffer s", "lives in layers 2..1")),
    "over budget": (set_memory(usable=400), ("memory ram", "over budget", "400 usable")),
    "wrong total": (set_memory(used=100), ("memory ram", "over budget")),
    "wrong end": (set_memory(arena_bytes=420, used=420), ("arena ends at byte 416, not 420",)),
    "odd alignment": (set_memory(alignment=12), ("alignment 12",)),
    "arena in flash": (set_memory(kind="flash"), ("is flash",)),
    # contents
    "swapped": (swap_layers, ("layer 0 ADD", "reads tensor 1", "nobody has written")),
    "dropped step": (drop_step, ("layer 1 ADD", "tensor 2", "incomplete", "128 bytes")),
    "dropped layer": (lambda d: d["layers"].pop(1), ("tensor 2", "no layer yields it")),
    "double write": (repeat_step, ("layer 1 ADD, step 1", "double write", "128 bytes")),
    "half range": (set_step(1, range=[0, 2, 0, 4, 0, 8]), ("incomplete: 64 bytes from byte 64",)),
    "looped": (loop_around, ("layer 1 ADD, step 0.0 (n=1)", "double write")),
    "wrong offset": (set_view(1, "reads", 1, offset=affine(4)), ("out of bounds", "131")),
    "wrong row": (set_view(1, "reads", 1, row=28), ("reads tensor 1", "byte 32")),
    "wrong pixel": (set_view(1, "writes", pixel=4), ("writes tensor 2", "over itself")),
    "out of bounds": (set_view(1, "writes", row=36), ("tensor 2", "out of bounds", "139")),
    "wrong ring": (set_view(0, "reads", ring=2), ("reads tensor 0", "byte 64", "byte 0 of")),
    "ring for output": (set_view(0, "writes", ring=3), ("writes tensor 1", "over itself")),
    "before row0": (set_view(0, "reads", ring=4, row0=2), ("row 0 lies before row0 = 2",)),
    "before col0": (set_view(0, "reads", col0=1), ("tensor 0", "out of bounds", "-8")),
    "one byte over": (set_view(0, "writes", offset=affine(1)), ("out of bounds: bytes 1..128",)),
    "wrong image": (set_step(0, image=affine(1)), ("image 1 lies outside",)),
    # output over input
    "in place, still live": (
        several(set_buffer("a", offset=0), set_buffer("x", last=1)),
        ("layer 0 CONV_2D", "too early for alias none", "128 bytes"),
    ),
    "in place, read later": (
        several(X_IN_PLACE, set_layer(2, inputs=[2, 0]), lambda d: read_x_in_layer_2(d)),
        ("layer 2 CONV_2D", "reads tensor 0", "byte 0 of tensor 2"),
    ),
    "ahead of the reader": (set_buffer("b", offset=4), ("alias element", "read later")),
    # scratch
    "no scratch": (set_step(2, scratch=None), ("layer 2 CONV_2D", "needs 32 bytes")),
    "small scratch": (set_buffer("s", size=16), ("needs 32 bytes of scratch, s has 16",)),
    "unknown scratch": (set_step(2, scratch="q"), ("scratch buffer q does not exist",)),
    "scratch in tensor": (set_step(2, scratch="b"), ("scratch buffer b is not free",)),
    "scratch over input": (set_buffer("s", offset=352), ("reads tensor 2", "scratch of layer 2")),
    "scratch over output": (set_buffer("s", offset=96), ("scratch s lies in its output",)),
    "scratch over live": (
        several(set_step(1, scratch="s", scratch_bytes=32), set_buffer("s", offset=32, first=1)),
        ("layer 1 ADD", "reads tensor 0", "32 bytes", "scratch of layer 1"),
    ),
    # references
    "unknown buffer": (set_view(0, "reads", buffer="q"), ("buffer q does not exist",)),
    "other buffer": (set_view(0, "reads", buffer="b"), ("in buffer b but lies in x",)),
    "unknown tensor": (set_view(0, "reads", tensor=9), ("tensor 9", "does not exist")),
    "foreign tensor": (set_layer(1, inputs=[0]), ("tensor 1", "neither input nor output")),
    "writes its input": (set_layer(1, outputs=[]), ("tensor 2", "no output of the layer")),
    "unknown output": (set_layer(1, outputs=[2, 7]), ("output tensor 7 does not exist",)),
    "unknown memory": (lambda d: d["buffers"][0].update(memory="q"), ("memory 'q'",)),
    "unknown home": (lambda d: d["buffers"][0].update(home="q"), ("buffers[0].home",)),
    "unknown input": (lambda d: d.update(inputs=[7]), ("input 0: tensor 7 does not exist",)),
    "input computed": (lambda d: d.update(inputs=[0, 1]), ("yields tensor 1", "model's input")),
    "no place": (set_tensor(3, buffer=None), ("output 0", "has no place")),
    "buffer forgets": (lambda d: d["buffers"][1].update(tensors=[]), ("does not list it",)),
    "buffer claims": (lambda d: d["buffers"][1].update(tensors=[1, 0]), ("lies elsewhere",)),
    "two operators": (set_layer(2, outputs=[3, 2]), ("yields tensor 2", "as operator 1 does")),
    "two tensors": (double("tensors"), ("tensor 0: is listed 2 times",)),
    "two buffers": (double("buffers"), ("buffer x: is listed 2 times",)),
    "two memories": (double("memories"), ("memory ram: is listed 2 times",)),
    "unknown variable": (set_step(0, image=affine(0, n=1)), ("no loop has the variable n",)),
    "variable of a view": (set_view(0, "reads", offset=affine(0, n=1)), ("the variable n",)),
    "loop in its loop": (nested_loop, ("loop n stands inside",)),
    # shapes
    "wrong size": (set_tensor(0, bytes=64), ("tensor 0", "has 128 bytes, not 64")),
    "wrong type": (set_tensor(0, type="int9"), ("tensor 0", "int9")),
    "wrong view": (set_view(0, "reads", height=3), ("view of 3 x 4 pixels",)),
    "wrong map": (set_box(0, "reads", map=[1, 3, 4, 8]), ("does not divide",)),
    "wrong box": (set_box(0, "reads", start=[0, 1, 0, 0]), ("exceeds the map",)),
    "range beyond": (set_step(0, range=[0, 5, 0, 4, 0, 8]), ("exceeds the box 4 x 4 x 8",)),
    "range empty": (set_step(0, range=[2, 2, 0, 4, 0, 8]), ("is empty",)),
    "short table": (set_view(0, "reads", rows={"table": [[0, 1]] * 3}), ("ends at output row 3",)),
    "table beyond": (set_view(0, "reads", rows={"table": [[0, 5]] * 4}), ("reads rows 0..5 of 4",)),
}


def read_x_in_layer_2(document: Json) -> None:
    step(document, 2)["reads"].append(step(document, 1)["reads"][0])
    set_buffer("x", last=2)(document)


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_is_named(name: str) -> None:
    breakage, words = FAULTS[name]
    document = chain()
    breakage(document)
    assert_fault(document, *words)


def test_element_order_allows_a_full_overlap() -> None:
    document = chain()
    several(set_buffer("b", offset=0), set_buffer("y", offset=256))(document)
    assert not faults(document)


def test_check_file(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(chain()))
    report = check_file(path)
    assert report.safe and report.executions > 0 and report.bytes_written > 0
    document = chain()
    drop_step(document)
    path.write_text(json.dumps(document))
    (fault, *_) = check_file(path).faults
    assert fault.startswith(f"{path}: ") and "incomplete" in fault
    for data, word in (
        (b"{", "not valid JSON"),
        (b"", "not valid JSON"),
        (b"\xff\xfe\x00{", "plan.json"),
        (b"[" * 100_000, "not valid JSON"),
        (b"[]", "plan: must be an object, not list"),
        (b"{}", "format: must be 'codegen-plan', not None"),
        (b'{"format": "codegen-plan", "version": 2}', "version: must be 1, not 2"),
        (b'{"format": "codegen-plan", "version": true}', "version: must be 1, not True"),
    ):
        path.write_bytes(data)
        lines = check_file(path).faults
        assert len(lines) == 1 and word in lines[0], lines
    assert "cannot be read" in check_file(tmp_path / "none.json").faults[0]
    assert "cannot be read" in check_file(tmp_path).faults[0]


@pytest.mark.parametrize("shape", [(1, 0, 4, 4), (0,)])
def test_empty_tensors_are_refused_before_they_get_a_place(shape: tuple[int, ...]) -> None:
    builder = ModelBuilder()
    x, y = (builder.tensor((1, 2, 2, 4), scale=0.1, zero_point=1) for _ in range(2))
    empty, result = (builder.tensor(shape, scale=0.1, zero_point=1) for _ in range(2))
    builder.op("RELU", [x], [y])
    data = builder.build([x, empty], [y])
    with pytest.raises(Unsupported, match=r"tensor 2 .* is an input or output of the model"):
        built(data)
    builder.op("RELU", [empty], [result])
    graph = parse_model(builder.build([x, empty], [y])).main
    with pytest.raises(Unsupported, match=r"operator 1 RELU .*: tensor 3 .* is empty; remove"):
        ops.lower(OpContext(graph, graph.nodes[1]))
