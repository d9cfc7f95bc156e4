"""Bytes of code and data that a model adds to a firmware, as the linker leaves them."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from codegen.errors import ToolError
from codegen.verify.compile import ports_dir, run_compiler, write_sources
from codegen.verify.sources import GeneratedSources
from codegen.verify.toolchain import EXACT_FLAGS, STRICT_FLAGS, find_tool

# [ 1] .text  PROGBITS  00008000 008000 0001a4 00  AX ...
_SECTION = re.compile(
    r"\[ *\d+\] (?P<name>\S+) +(?P<type>\S+) +[0-9a-f]+ "
    r"+(?P<offset>[0-9a-f]+) +(?P<size>[0-9a-f]+) +[0-9a-f]+ +(?P<flags>[A-Zop]*) "
)


@dataclass(frozen=True)
class Footprint:
    """Bytes by kind; `rodata` holds the weights and tables too."""

    text: int
    rodata: int
    data: int
    bss: int


def link_footprint(
    model: GeneratedSources, compiler: str, flags: Sequence[str], workdir: Path
) -> Footprint:
    """Link the model's own functions with what they call of the C library, and nothing else.

    Where the model drives NPU and DMA, the port among its files is linked too.

    Args:
        compiler: the command of a gcc or clang for the board.
        flags: what selects core, ABI, C library and level of optimisation.
        workdir: where to write.

    Raises:
        ToolError: if a tool is missing or fails.
    """
    sources = [str(path) for path in write_sources(model, workdir)]
    sources += [str(workdir / port) for port in model.port_files]
    image = workdir / "footprint.elf"
    entries = (f"{model.name}_{each}" for each in ("init", "reset", "input", "output", "step"))
    run_compiler(
        [
            find_tool(compiler),
            *(*STRICT_FLAGS, *EXACT_FLAGS, *flags),
            *("-ffunction-sections", "-fdata-sections", "-nostartfiles", "-Wl,--gc-sections"),
            *("-T", str(ports_dir() / "common" / "footprint.ld")),
            f"-Wl,-e,{model.name}_run",
            *(f"-Wl,-u,{entry}" for entry in entries),
            *(f"-I{workdir}", *sources, "-lm", "-o", str(image)),
        ]
    )
    return parse_sections(_section_headers(compiler, image), image.read_bytes())


def _section_headers(compiler: str, image: Path) -> str:
    readelf = _run([find_tool(compiler), "-print-prog-name=readelf"]).strip()
    return _run([find_tool(readelf), "--section-headers", "--wide", str(image)])


def _run(command: Sequence[str]) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise ToolError(f"{Path(command[0]).name}: {error}") from None


def parse_sections(text: str, image: bytes) -> Footprint:
    """Add up what occupies memory in `readelf --section-headers --wide` of `image`, by its flags.

    Variables in a section that the profile names have zeros in the image, because only the
    firmware's linker script makes it (NOLOAD): they are bss too.
    """
    sums = dict.fromkeys(("text", "rodata", "data", "bss"), 0)
    for match in _SECTION.finditer(text):
        flags, offset, size = match["flags"], int(match["offset"], 16), int(match["size"], 16)
        if "A" not in flags:
            continue
        if match["type"] == "NOBITS":
            kind = "bss"
        elif "X" in flags:
            kind = "text"
        elif "W" in flags:
            kind = "data" if any(image[offset : offset + size]) else "bss"
        else:
            kind = "rodata"
        sums[kind] += size
    return Footprint(**sums)
