"""Generated C on an emulated microcontroller: cross-compile, run under QEMU, read figures back."""

import io
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from codegen.boards import Board
from codegen.errors import ToolError
from codegen.verify.compile import Recipe, compile_program, ports_dir
from codegen.verify.program import useful_line
from codegen.verify.protocol import (
    Calibration,
    ReadExactly,
    encode_request,
    read_calibration,
    read_result,
)
from codegen.verify.sources import GeneratedSources, Request, RunResult
from codegen.verify.toolchain import EXACT_FLAGS, OPTIMISE_FLAGS, STRICT_FLAGS, find_tool

# Emulated time goes on by 1 ns with each instruction and never waits for the real time.
_QEMU_FLAGS = (
    *("-display", "none", "-monitor", "none", "-serial", "none", "-nodefaults"),
    *("-semihosting-config", "enable=on,target=native"),
    *("-icount", "shift=0,align=off,sleep=off"),
)
_CLOCK_TOLERANCE = 0.005


@dataclass(frozen=True)
class EmulatorTarget:
    """An emulated machine and how to compile for it."""

    compiler: str
    flags: tuple[str, ...]
    """They select core, ABI and C library."""
    emulator: str
    """The QEMU command."""
    machine: str
    """QEMU's name of the machine."""
    port: str
    """Directory in runtime_c/ports with start-up code and linker script."""


def emulator_target(board: Board) -> EmulatorTarget | None:
    """The machine that a profile names, or None if it names none."""
    if board.emulator is None:
        return None
    return EmulatorTarget(
        board.compiler.command,
        board.compiler.flags,
        board.emulator.command,
        board.emulator.machine,
        board.emulator.port,
    )


def build_emulator_program(
    models: Sequence[GeneratedSources],
    target: EmulatorTarget,
    workdir: Path,
    *,
    flags: Sequence[str] = (),
    taps: bool = False,
    timeout: float = 300.0,
) -> "EmulatorProgram":
    """Cross-compile `models` into one image for `target`, with every warning an error.

    `flags` come last and so override the others. `timeout` is in seconds for one start of the
    emulator. Raises ToolError if a tool is missing or with the compiler's first complaint.
    """
    emulator = find_tool(target.emulator)
    port = ports_dir() / target.port
    linking = ("-nostartfiles", "-Wl,--gc-sections", f"-L{ports_dir() / 'common'}")
    recipe = Recipe(
        (find_tool(target.compiler),),
        (
            *target.flags,
            *STRICT_FLAGS,
            *EXACT_FLAGS,
            *OPTIMISE_FLAGS,
            "-ffunction-sections",
            "-fdata-sections",
            *flags,
        ),
        (*linking, "-T", str(port / "link.ld"), "-lm"),
        target.port,
        ("common/semihost.c", _start_source(port)),
    )
    image = compile_program(models, recipe, workdir, taps=taps)
    command = (emulator, "-M", target.machine, *_firmware_flags(target), *_QEMU_FLAGS)
    return EmulatorProgram(image, tuple(models), target, command, timeout)


@dataclass(frozen=True)
class EmulatorProgram:
    """An image with its models, and the command that runs it."""

    path: Path
    models: tuple[GeneratedSources, ...]
    target: EmulatorTarget
    command: tuple[str, ...]
    timeout: float

    def run(self, requests: Sequence[Request]) -> list[RunResult]:
        """Start the emulator once and run all `requests` in order.

        Raises ToolError if the image faults, does not end in time or the emulator does not count
        instructions.
        """
        with tempfile.TemporaryDirectory(prefix="codegen-") as name:
            directory = Path(name)
            (directory / "requests.bin").write_bytes(
                b"".join(encode_request(each, self.models[each.model]) for each in requests)
            )
            self._emulate(directory)
            read = _reader((directory / "answers.bin").read_bytes(), self.target)
        _check_clock(read_calibration(read), self.target)
        return [read_result(read, self.models[each.model], emulated=True) for each in requests]

    def _emulate(self, directory: Path) -> None:
        machine = self.target.machine
        try:
            done = subprocess.run(
                [*self.command, "-kernel", str(self.path.resolve())],
                cwd=directory,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=self.timeout,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise ToolError(f"{machine}: did not end within {self.timeout:g} s") from None
        if done.returncode != 0:
            reason = useful_line(done.stderr) or f"ended with status {done.returncode}"
            raise ToolError(f"{machine}: {reason}")


def _start_source(port: Path) -> str:
    own = port / "start.c"
    return f"{port.name}/start.c" if own.is_file() else "common/cortexm_start.c"


def _firmware_flags(target: EmulatorTarget) -> tuple[str, ...]:
    """RISC-V machines start a firmware of QEMU's own unless told otherwise."""
    return ("-bios", "none") if "riscv" in target.emulator else ()


def _reader(data: bytes, target: EmulatorTarget) -> ReadExactly:
    stream = io.BytesIO(data)

    def read(count: int) -> bytes:
        part = stream.read(count)
        if len(part) != count:
            raise ToolError(f"{target.machine}: the answers end early; run it again")
        return part

    return read


def _check_clock(calibration: Calibration, target: EmulatorTarget) -> None:
    error = abs(calibration.counted - calibration.expected)
    if error > _CLOCK_TOLERANCE * calibration.expected:
        raise ToolError(
            f"{target.machine}: {target.emulator} counted {calibration.counted} instructions for a "
            f"loop of {calibration.expected}; use a QEMU that supports -icount shift=0"
        )
