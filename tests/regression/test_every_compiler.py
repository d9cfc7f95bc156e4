"""The same bytes from every compiler, optimisation level, char signedness and core.

Code that worked with one compiler crashed or gave equal scores with another, or at -O3.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from codegen.boards import load_board
from codegen.importer import parse_model
from codegen.pipeline import Build, BuildOptions, build
from codegen.verify.emulator import build_emulator_program, emulator_target
from codegen.verify.program import build_host_program
from codegen.verify.session import sources_of
from codegen.verify.sources import Request
from tests import oracle
from tests.ops.equality import input_sets
from tests.regression.nets import inverted_residual, long_skips
from tests.zoo import zoo

MODELS = {"zoo": zoo, "inverted": inverted_residual, "skips": long_skips}
SETS = 2

HOST = [
    ("gcc", "-O0 -funsigned-char"),
    ("gcc", "-Os -fno-strict-aliasing"),
    ("gcc", "-O3 -fstrict-aliasing -ftree-vectorize"),
    ("gcc", "-O3 -flto -funroll-loops"),
    ("clang", "-O0"),
    ("clang", "-Os -funsigned-char"),
    ("clang", "-O3 -fstrict-aliasing"),
    ("clang", "-O1 -fsanitize=address,undefined,integer-divide-by-zero -fno-sanitize-recover=all"),
]
EMULATED = {
    "mps2-an386": ("arm-none-eabi-gcc", "qemu-system-arm"),
    "mps3-an547": ("arm-none-eabi-gcc", "qemu-system-arm"),
    "riscv32-virt": ("riscv64-unknown-elf-gcc", "qemu-system-riscv32"),
}


def builds(board: str) -> list[Build]:
    return [
        build(parse_model(make()), name, load_board(board), BuildOptions(name=name))
        for name, make in MODELS.items()
    ]


def cases() -> list[tuple[int, list[bytes], list[bytes]]]:
    """(model, inputs, outputs as the interpreter gives them), random and edge values."""
    rng = np.random.default_rng(5)
    found = []
    for number, make in enumerate(MODELS.values()):
        sets = input_sets(parse_model(make()), SETS, rng)
        for values, wanted in zip(sets, oracle.run_afresh(make(), sets), strict=True):
            found.append((number, [v.tobytes() for v in values], [w.tobytes() for w in wanted]))
    return found


@pytest.mark.parametrize(("compiler", "flags"), HOST)
def test_host(compiler: str, flags: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    monkeypatch.setenv("CC", compiler)
    sources = [sources_of(built) for built in builds("host")]
    with build_host_program(sources, tmp_path, flags=flags.split()) as program:
        for model, inputs, wanted in cases():
            assert list(program.run(model, inputs).outputs) == wanted


@pytest.mark.emulator
@pytest.mark.parametrize("level", ["-Os", "-O3 -funsigned-char"])
@pytest.mark.parametrize("board", EMULATED)
def test_emulated(board: str, level: str, tmp_path: Path) -> None:
    for tool in EMULATED[board]:
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    target = emulator_target(load_board(board))
    assert target is not None
    sources = [sources_of(built) for built in builds(board)]
    program = build_emulator_program(sources, target, tmp_path, flags=level.split())
    results = program.run([Request(model, tuple(inputs)) for model, inputs, _ in cases()])
    assert [list(r.outputs) for r in results] == [wanted for _, _, wanted in cases()]
