"""Missing tools are named with the packages that bring them."""

from pathlib import Path

import pytest

from codegen.errors import ToolError
from codegen.verify.toolchain import find_tool, host_compiler


@pytest.mark.parametrize(
    ("command", "packages"),
    [
        ("arm-none-eabi-gcc", ["gcc-arm-none-eabi", "gcc-arm-embedded"]),
        ("riscv64-unknown-elf-gcc", ["picolibc-riscv64-unknown-elf", "riscv-gnu-toolchain"]),
        ("qemu-system-arm", ["apt-get install qemu-system-arm", "brew install qemu"]),
        ("qemu-system-riscv32", ["qemu-system-misc", "brew install qemu"]),
        ("armclang", ["armclang is not installed"]),
    ],
)
def test_missing_tool(
    command: str, packages: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolError) as caught:
        find_tool(command)
    assert all(package in str(caught.value) for package in packages)
    assert "\n" not in str(caught.value)


def test_no_host_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolError, match="apt-get install build-essential"):
        host_compiler()


def test_wrong_cc_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "no-such-compiler -m32")
    with pytest.raises(ToolError, match="CC=no-such-compiler"):
        host_compiler()


def test_cc_keeps_its_arguments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = tmp_path / "mycc"
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CC", "mycc -m32")
    assert host_compiler() == (str(tool), "-m32")
