"""The compilers and emulators of this machine, and the flags that generated C is held to."""

import os
import shlex
import shutil

from codegen.errors import ToolError

STRICT_FLAGS = (
    "-std=c99",
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Wconversion",
    "-Wshadow",
    "-Werror",
)
"""Generated C compiles without a warning under these."""

EXACT_FLAGS = ("-ffp-contract=off",)
"""Float results must not depend on whether the compiler fuses multiplications and additions."""

OPTIMISE_FLAGS = ("-O2",)
_SIZE_FLAGS = ("-Os",)


def optimise_flags(optimize: str) -> tuple[str, ...]:
    """What files written with `--optimize speed` or `size` are to be compiled with."""
    return _SIZE_FLAGS if optimize == "size" else OPTIMISE_FLAGS


SANITIZE_FLAGS = (
    "-O1",
    "-g",
    "-fno-omit-frame-pointer",
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
)

_PACKAGES = {
    "cc": ("build-essential", "gcc"),
    "gcc": ("gcc", "gcc"),
    "clang": ("clang", "llvm"),
    "arm-none-eabi-gcc": (
        "gcc-arm-none-eabi libnewlib-arm-none-eabi",
        "--cask gcc-arm-embedded",
    ),
    "riscv64-unknown-elf-gcc": (
        "gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf",
        "riscv-software-src/riscv/riscv-gnu-toolchain",
    ),
    "qemu-system-arm": ("qemu-system-arm", "qemu"),
    "qemu-system-riscv32": ("qemu-system-misc", "qemu"),
}
"""Command -> the package to install with apt and with brew."""


def find_tool(command: str) -> str:
    """The path of `command`. Raises ToolError that names the packages to install."""
    path = shutil.which(command)
    if path is None:
        raise ToolError(f"{command} is not installed; {_advice(command)}")
    return path


def host_compiler() -> tuple[str, ...]:
    """The C compiler for this machine with its leading arguments: $CC, else cc, gcc or clang."""
    asked = shlex.split(os.environ.get("CC", ""))
    if asked:
        path = shutil.which(asked[0])
        if path is None:
            raise ToolError(f"CC={asked[0]} is not a command here; correct or unset CC")
        return (path, *asked[1:])
    for command in ("cc", "gcc", "clang"):
        path = shutil.which(command)
        if path is not None:
            return (path,)
    return (find_tool("cc"),)


def _advice(command: str) -> str:
    if command not in _PACKAGES:
        return "install it or put it on PATH"
    debian, homebrew = _PACKAGES[command]
    return f"Debian/Ubuntu: apt-get install {debian}; macOS: brew install {homebrew}"
