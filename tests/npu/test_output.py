"""What the files of a model with an NPU tell those who build firmware with them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from codegen.boards import list_boards, load_board
from codegen.emit.stack import LIMIT, stack_bound
from codegen.importer import load_model
from codegen.pipeline import build
from codegen.resources import data_dir
from codegen.verify.sources import GeneratedSources
from codegen.verify.stack import stack_usage
from codegen.verify.toolchain import find_tool
from tests.tools.port_stack import ports
from tests.tools.stack_table import DEMO


def test_every_way_to_build_compiles_the_port() -> None:
    files = build(load_model(DEMO), "net", load_board("mps2-an505-dma")).files
    sources = "net/net.c net/net_weights.c net/cg/cg_port_pl081.c"
    text = files["README.md"]
    assert f"SRCS += {sources}\n" in text
    assert f"target_sources(app PRIVATE {sources})\n" in text
    assert f"idf_component_register(SRCS main.c {sources}\n" in text
    assert "set(CG_PORT cg/cg_port_pl081.c CACHE" in files["CMakeLists.txt"]
    assert "cg/cg_port_pl081.c" in files


@pytest.mark.parametrize("name", ["npu-32k", "mps2-an505-dma"])
def test_stack_bound_covers_the_port(name: str, tmp_path: Path) -> None:
    """Measured like that of kernels: from run() down into the port, by the compiler's own graph."""
    board = load_board(name)
    found = build(load_model(DEMO), "net", board)
    sources = GeneratedSources("net", found.files, (), ())
    compiler = [find_tool(board.compiler.command)]
    usage = stack_usage(sources, compiler, (*board.compiler.flags, "-O2"), tmp_path)
    assert 200 < usage.run <= stack_bound(found.plan) < LIMIT


def test_table_has_every_port_within_the_limit() -> None:
    path = data_dir("runtime_c") / "hal" / "ports" / "stack.json"
    table = json.loads(path.read_text(encoding="utf-8"))
    assert sorted(table) == ports(), "run: python tests/tools/port_stack.py MODELS"
    for board in list_boards():
        if board.dma is not None:
            assert table[board.dma.port][board.cpu.core]["commands"] <= LIMIT, board.name
