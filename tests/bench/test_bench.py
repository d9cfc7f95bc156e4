"""`codegen bench`: what is measured, how it adds up, and what saved figures are good for."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from codegen.bench.comparison import load_figures, ratios
from codegen.bench.footprint import parse_sections
from codegen.bench.inputs import bench_inputs
from codegen.errors import CodegenError
from codegen.importer import parse_model
from tests.emit.programs import two_convolutions
from tests.test_cli import fails, run

ARM = pytest.mark.skipif(
    not all(map(shutil.which, ("arm-none-eabi-gcc", "qemu-system-arm"))),
    reason="the Arm compiler or QEMU is not installed",
)
COMPILER = pytest.mark.skipif(
    shutil.which("arm-none-eabi-gcc") is None, reason="the Arm compiler is not installed"
)
SECTIONS = """
  [ 0]                   NULL            00000000 000000 000000 00      0   0  0
  [ 1] .text             PROGBITS        00008000 001000 0000c8 00  AX  0   0  4
  [ 2] .rodata           PROGBITS        000080c8 0010c8 000010 00   A  0   0  4
  [ 3] .data             PROGBITS        000090d8 0010d8 000004 00  WA  0   0  1
  [ 4] .dtcm_bss         PROGBITS        000090dc 0010dc 000040 00  WA  0   0  4
  [10] .bss              NOBITS          0000911c 00111c 00000c 00  WA  0   0  4
  [11] .debug_info       PROGBITS        00000000 00111e 000135 00      0   0  1
"""


@pytest.fixture
def net(tmp_path: Path) -> Path:
    path = tmp_path / "net.tflite"
    path.write_bytes(two_convolutions())
    return path


def test_inputs_are_the_top_bytes_of_the_generator() -> None:
    graph = parse_model(two_convolutions()).main
    (raw,) = bench_inputs([graph.tensors[t] for t in graph.inputs])
    x, expected = 1, []
    for _ in range(len(raw)):
        x = (x * 1664525 + 1013904223) % 2**32
        expected.append(x // 2**24)
    assert list(raw) == expected
    assert len(np.unique(np.frombuffer(raw, np.int8))) > len(raw) // 4


def test_sections_are_told_apart_by_their_flags_and_contents() -> None:
    image = bytes(0x10D8) + b"\0\0\0\1" + bytes(0x40) + b"\xff" * 0x200
    expected = {"text": 200, "rodata": 16, "data": 4, "bss": 12 + 64}
    assert vars(parse_sections(SECTIONS, image)) == expected


@ARM
@pytest.mark.emulator
def test_board_figures_add_up(net: Path) -> None:
    document = json.loads(run("bench", str(net), "--board", "mps2-an386", "--json").stdout)
    layers = document["layers"]
    assert [layer["op"] for layer in layers] == ["CONV_2D", "CONV_2D"]
    assert sum(layer["macs"] for layer in layers) == document["macs"] > 0
    # step() costs a little of its own, and every figure is exact to one tick of 40 only
    assert sum(f["instructions"] for f in layers) == pytest.approx(
        document["instructions"], rel=0.1, abs=200
    )
    assert document["rodata"] >= document["weights_bytes"] + document["tables_bytes"] > 0
    assert document["data"] == 0
    assert 0 < document["stack_bytes"] < 600
    assert document["bss"] >= document["arena_bytes"] > 0


@COMPILER
def test_an_arena_in_a_section_of_its_own_is_no_data(net: Path) -> None:
    document = json.loads(run("bench", str(net), "--board", "stm32f746", "--json").stdout)
    assert document["data"] == 0
    assert document["bss"] >= document["arena_bytes"] > 0


@COMPILER
@pytest.mark.parametrize("board", ["npu-32k", "npu-64k", "npu-256k"])
def test_code_for_an_npu_is_weighed_with_its_port(net: Path, board: str) -> None:
    document = json.loads(run("bench", str(net), "--board", board, "--json").stdout)
    assert document["instructions"] is None
    assert document["text"] > 0
    assert "cg/cg_port_cpu.c" in document["note"]


@ARM
@pytest.mark.emulator
def test_instructions_are_counted_with_a_port(net: Path) -> None:
    document = json.loads(run("bench", str(net), "--board", "mps2-an505-dma", "--json").stdout)
    assert [layer["op"] for layer in document["layers"]] == ["CONV_2D", "CONV_2D"]
    assert document["instructions"] > document["macs"] > 0
    assert document["text"] > 0


def test_this_machine_is_timed_beside_litert(net: Path) -> None:
    document = json.loads(run("bench", str(net), "--board", "host", "--json").stdout)
    assert document["microseconds"] > 0
    assert document["instructions"] is None
    assert set(document["peers"]) == {"litert_xnnpack", "litert_builtin"}
    assert all(layer["nanoseconds"] > 0 for layer in document["layers"])


def test_ratios_cover_what_both_have(net: Path, tmp_path: Path) -> None:
    saved = tmp_path / "saved.json"
    saved.write_text(json.dumps({"macs": 1000, "absent": 7, "name": "x", "arena_bytes": 10}))
    figures = load_figures(saved)
    assert ratios({"macs": 500, "arena_bytes": None}, figures) == {"macs": 0.5}
    text = run("bench", str(net), "--board", "host", "--vs", str(saved)).stdout
    assert "against saved.json" in text
    assert "arena_bytes" in text and "absent" not in text


@pytest.mark.parametrize("text", ["[]", "{}", "no json", '{"macs": "many"}'])
def test_files_without_figures_are_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "saved.json"
    path.write_text(text)
    with pytest.raises(CodegenError, match=r"saved\.json"):
        load_figures(path)


def test_missing_figures_are_one_line(net: Path) -> None:
    fails(run("bench", net, "--board", "host", "--vs", "nowhere.json"), "cannot be read")
