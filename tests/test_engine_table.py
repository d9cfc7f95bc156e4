"""Partition: every operator to the NPU or, with a reason, to the CPU."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from codegen import ops
from codegen.board_schema import Npu
from codegen.boards import load_board
from codegen.cli import cli
from codegen.engine_table import engine_lines, engine_rows
from codegen.importer import parse_model
from codegen.target import PORTABLE
from codegen.targets.npu import Kind, compute_cycles, partition, whole_cycles
from tests.paths import MODELS, requires_models
from tests.tflite_builder import ModelBuilder


def _npu(**changes: Any) -> Npu:
    npu = load_board("npu-64k").npu
    assert npu is not None
    return npu.model_copy(update=changes)


def _conv(kernel: int, stride: int = 1, activation: str = "NONE", channels: int = 8) -> bytes:
    builder = ModelBuilder()
    x = builder.tensor((1, 16, 16, 8), "int8", 0.1, 0)
    size = -(-16 // stride)
    shape = (channels, kernel, kernel, 8)
    w = builder.tensor(shape, "int8", [0.1] * channels, [0] * channels, data=np.ones(shape))
    y = builder.tensor((1, size, size, channels), "int8", 0.1, 0)
    options: dict[str, Any] = {
        "stride_h": stride,
        "stride_w": stride,
        "padding": "SAME",
        "fused_activation_function": activation,
    }
    builder.op("CONV_2D", [x, w], [y], **options)
    return builder.build([x], [y])


def _reason(data: bytes, npu: Npu) -> str:
    graph = parse_model(data).main
    lowered = ops.lower_all(graph, graph.nodes, PORTABLE)
    (assignment,) = partition(graph, npu, lowered)
    assert (assignment.engine == "NPU") == (assignment.reason == "")
    return assignment.reason


def _limited(**limits: Any) -> Npu:
    npu = _npu()
    conv = npu.operators[0].model_copy(update=limits)
    return npu.model_copy(update={"operators": (conv,)})


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        ({}, ""),
        ({"max_kernel": (3, 3)}, "kernel 5x5 where the NPU takes 3x3"),
        ({"max_stride": (1, 1)}, "stride 2x2 where the NPU takes 1x1"),
        ({"max_input_channels": 4}, "8 input channels where the NPU takes 4"),
        ({"max_output_channels": 4}, "8 output channels where the NPU takes 4"),
        ({"activations": ("RELU",)}, "activation NONE where the NPU takes RELU"),
        ({"types": ("int16",)}, "int8 where the NPU takes int16"),
        ({"name": "ADD"}, "the NPU has no CONV_2D"),
    ],
)
def test_limits_of_the_profile(limits: dict[str, Any], reason: str) -> None:
    assert _reason(_conv(5, stride=2), _limited(**limits)) == reason


def test_cycles() -> None:
    """By hand: channels and taps rounded up, every command rounded up to a whole cycle."""
    graph = parse_model(_conv(3)).main
    lowered = ops.lower_all(graph, graph.nodes, PORTABLE)
    work = partition(graph, _npu(), lowered)[0].work
    assert work is not None and work.kind is Kind.DENSE
    assert whole_cycles(_npu(), work) == 256 * 9 * 8 * 8 // 128
    assert compute_cycles(_npu(), work, 16, 3, 1) == 16 * 9 * 8 * 8 // 128
    assert compute_cycles(_npu(macs_per_cycle=1000), work, 1, 8, 8) == 1


@requires_models
@pytest.mark.parametrize(
    "name", ["ad01_int8", "kws_ref_model", "pretrainedResnet_quant", "vww_96_int8"]
)
def test_the_npu_runs_whole_models(name: str) -> None:
    assert MODELS is not None
    data = (MODELS / "app" / f"mlcommons-tiny__{name}.tflite").read_bytes()
    board = load_board("npu-32k")
    rows = engine_rows(parse_model(data), board)
    assert {row.engine for row in rows} <= {"NPU", "view"}
    text = "\n".join(engine_lines(rows, board))
    assert f"NPU: {sum(row.engine == 'NPU' for row in rows)} operators" in text


def test_command(tmp_path: Any) -> None:
    path = tmp_path / "net.tflite"
    path.write_bytes(_conv(17))
    run = CliRunner().invoke(cli, ["inspect", str(path), "--board", "npu-64k", "--json"])
    (row,) = json.loads(run.output)["engines"]["operators"]
    assert (row["engine"], row["macs"]) == ("CPU", 256 * 17 * 17 * 64)
    assert row["bytes_moved"] == 2 * 2048 + 64 * 289 + 8 * 5
    text = CliRunner().invoke(cli, ["inspect", str(path), "--board", "npu-64k"]).output
    assert "kernel 17x17 where the NPU takes 16x16" in text
    text = CliRunner().invoke(cli, ["inspect", str(path), "--board", "host"]).output
    assert "the board has no NPU" in text
