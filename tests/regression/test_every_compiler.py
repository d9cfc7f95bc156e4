"""The same bytes from every compiler, optimisation level, char signedness and core.

Code that worked with one compiler crashed or gave equal scores with another, or at -O3.
"""

from __future__ import annotations

import shutil
import subprocess
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from codegen.boards import load_board
from codegen.importer import parse_model
from codegen.pipeline import Build, BuildOptions, build
from codegen.plan import PlanOptions
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

SANITIZE = "-O1 -fsanitize=undefined -fno-sanitize-recover=all"
M32 = "-m32 -msse2 -mfpmath=sse"
"""The x87 unit rounds floats in another way."""

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
OTHER_KERNELS = [
    ("gcc", f"{M32} -O2", PlanOptions()),
    ("gcc", f"{M32} -Os -funsigned-char", PlanOptions(kernels="dsp", optimize="size")),
    ("clang", SANITIZE, PlanOptions(kernels="mve", optimize="size")),
]
EMULATED = {
    "mps2-an386": ("arm-none-eabi-gcc", "qemu-system-arm"),
    "mps3-an547": ("arm-none-eabi-gcc", "qemu-system-arm"),
    "riscv32-virt": ("riscv64-unknown-elf-gcc", "qemu-system-riscv32"),
}


def builds(board: str, plan: PlanOptions = PlanOptions()) -> list[Build]:  # noqa: B008
    return [
        build(parse_model(make()), name, load_board(board), BuildOptions(name=name, plan=plan))
        for name, make in MODELS.items()
    ]


@cache
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
    require_equal_on_host(PlanOptions(), flags, tmp_path)


@pytest.mark.parametrize(("compiler", "flags", "plan"), OTHER_KERNELS)
def test_other_kernels_and_words_on_the_host(
    compiler: str, flags: str, plan: PlanOptions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The C of kernels for other cores, and pointers of 32 bits."""
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    if M32 in flags and not compiles(compiler, "-m32", tmp_path):
        pytest.skip("gcc-multilib is not installed")
    monkeypatch.setenv("CC", compiler)
    require_equal_on_host(plan, flags, tmp_path)


def compiles(compiler: str, flag: str, workdir: Path) -> bool:
    """Whether the compiler makes programs with this flag."""
    command = [compiler, flag, "-x", "c", "-", "-o", str(workdir / "empty")]
    text = "#include <stdio.h>\nint main(void) { return 0; }\n"
    return subprocess.run(command, input=text.encode(), capture_output=True).returncode == 0


def require_equal_on_host(plan: PlanOptions, flags: str, workdir: Path) -> None:
    sources = [sources_of(built) for built in builds("host", plan)]
    with build_host_program(sources, workdir, flags=flags.split()) as program:
        for model, inputs, wanted in cases():
            assert list(program.run(model, inputs).outputs) == wanted


@pytest.mark.emulator
@pytest.mark.parametrize("level", ["-Os", "-O3 -funsigned-char", "-Os for size"])
@pytest.mark.parametrize("board", EMULATED)
def test_emulated(board: str, level: str, tmp_path: Path) -> None:
    for tool in EMULATED[board]:
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    target = emulator_target(load_board(board))
    assert target is not None
    plan = PlanOptions(optimize="size" if "for size" in level else "speed")
    sources = [sources_of(built) for built in builds(board, plan)]
    flags = level.removesuffix(" for size").split()
    program = build_emulator_program(sources, target, tmp_path, flags=flags)
    results = program.run([Request(model, tuple(inputs)) for model, inputs, _ in cases()])
    assert [list(r.outputs) for r in results] == [wanted for _, _, wanted in cases()]


@pytest.mark.emulator
@pytest.mark.parametrize("board", ["mps2-an386", "mps3-an547"])
def test_without_assembly(board: str, tmp_path: Path) -> None:
    """What compilers other than gcc and clang see of the kernels for a core's instructions."""
    for tool in EMULATED[board]:
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    target = emulator_target(load_board(board))
    assert target is not None
    _, *small = builds(board)
    sources = [sources_of(built) for built in small]
    program = build_emulator_program(sources, target, tmp_path, flags=["-DCG_NO_ASSEMBLY"])
    wanted = [(model - 1, inputs, outputs) for model, inputs, outputs in cases() if model > 0]
    results = program.run([Request(model, tuple(inputs)) for model, inputs, _ in wanted])
    assert [list(r.outputs) for r in results] == [outputs for _, _, outputs in wanted]
