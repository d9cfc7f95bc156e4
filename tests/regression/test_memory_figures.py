"""The memory figures are exact: of the plan, of the header and of what the linker places.

Elsewhere the arena was found by trial and error. Here one byte less than stated must fail at build
time, and the sections of the compiled program hold what the header says and nothing besides.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from codegen.board_schema import Board
from codegen.boards import load_board
from codegen.errors import OverBudget
from codegen.importer import parse_model
from codegen.pipeline import Build, BuildOptions, build
from codegen.plan import PlanOptions
from tests.emit.programs import write
from tests.regression.nets import inverted_residual, long_skips
from tests.zoo import zoo

NETS = {"inverted": inverted_residual, "skips": long_skips, "zoo": zoo}
CROSS = ("arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-O2", "-ffp-contract=off")


def shrunk(board: Board, kind: str, size: int) -> Board:
    """The board with `size` bytes in its only memory of that kind."""
    memories = tuple(
        m.model_copy(update={"size": size + m.reserved}) if m.kind == kind else m
        for m in board.memories
    )
    return board.model_copy(update={"memories": memories})


def made(name: str, board: Board, *, keep_input: bool = False) -> Build:
    options = BuildOptions(name="net", plan=PlanOptions(keep_input=keep_input))
    return build(parse_model(NETS[name]()), "net", board, options)


def taken(built: Build, kind: str) -> int:
    """Bytes of the only memory of that kind."""
    plan = built.plan
    return next(plan.memories[m.name].used for m in plan.board.memories if m.kind == kind)


@pytest.mark.parametrize("kind", ["ram", "flash"])
@pytest.mark.parametrize("name", NETS)
def test_one_byte_less_fails(name: str, kind: str) -> None:
    """Other forms of kernels may do with less; the least that any takes is named in the error."""
    board = load_board("host")
    need = taken(made(name, board), kind)
    for _ in range(20):
        assert taken(made(name, shrunk(board, kind, need)), kind) == need
        try:
            less = taken(made(name, shrunk(board, kind, need - 1)), kind)
        except OverBudget as error:
            assert re.search(rf"{need:,} B of (RAM|flash)", str(error))
            return
        assert less < need
        need = less
    pytest.fail("the need never ends to shrink")


def sections(path: Path, prefix: str) -> dict[str, int]:
    """Symbol -> bytes, of the objects in sections that start with `prefix`."""
    text = subprocess.run(
        ["arm-none-eabi-objdump", "-t", str(path)], check=True, capture_output=True, text=True
    ).stdout
    rows = re.findall(rf" O ({prefix}\S*)\s+([0-9a-f]+)\s+(?:\.hidden )?(\S+)", text)
    return {symbol: int(size, 16) for _, size, symbol in rows}


@pytest.mark.skipif(shutil.which(CROSS[0]) is None, reason=f"{CROSS[0]} is not installed")
@pytest.mark.parametrize("name", NETS)
def test_header_equals_objects(name: str, tmp_path: Path) -> None:
    """RAM is the arena, the state and one counter; the constants add up to weights and tables."""
    built = made(name, load_board("mps2-an386"))
    write(built.files, tmp_path)
    for source in ("net", "net_weights"):
        command = [*CROSS, "-c", f"{source}.c", "-o", f"{source}.o"]
        subprocess.run(command, cwd=tmp_path, check=True)
    plan, summary = built.plan, built.summary()
    ram = sections(tmp_path / "net.o", r"\.(?:bss|data)")
    (arena,) = [size for symbol, size in ram.items() if symbol.startswith("arena_")]
    assert arena == plan.total_arena == summary["arena_bytes"]
    assert f"#define NET_ARENA_BYTES {arena}\n" in built.files["net.h"]
    state = sum(size for symbol, size in ram.items() if symbol.startswith("state_"))
    assert state == summary["state_bytes"]
    others = {s: n for s, n in ram.items() if not s.startswith(("arena_", "state_"))}
    assert others == {"next_layer": 4}
    constants = sum(sections(tmp_path / "net_weights.o", r"\.rodata").values())
    assert constants == summary["weights_bytes"] + summary["tables_bytes"]
    assert f"#define NET_WEIGHTS_BYTES {summary['weights_bytes']}\n" in built.files["net.h"]
    assert f"#define NET_TABLES_BYTES {summary['tables_bytes']}\n" in built.files["net.h"]
