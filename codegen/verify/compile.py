"""Compile models, their adapters, the harness and a port into one program."""

import os
import subprocess
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from codegen.emit.files import environment
from codegen.errors import ToolError
from codegen.resources import data_dir
from codegen.verify.sources import GeneratedSources

_TIMEOUT = 600


@dataclass(frozen=True)
class Recipe:
    """How to compile and link for one machine."""

    compiler: tuple[str, ...]
    flags: tuple[str, ...]
    link_flags: tuple[str, ...]
    port: str
    """Directory below runtime_c/ports."""
    port_sources: tuple[str, ...]
    """Paths below runtime_c/ports besides the harness itself."""
    simulated: bool = False
    """Models with NPU and DMA run on the `sim` port instead of the board's own."""


@dataclass(frozen=True)
class _Unit:
    source: Path
    object: Path
    includes: tuple[Path, ...]
    defines: tuple[str, ...] = ()


def compile_program(
    models: Sequence[GeneratedSources], recipe: Recipe, workdir: Path, *, taps: bool
) -> Path:
    """Write and compile everything below `workdir` and return the program.

    With `taps`, `<NAME>_TAP=1` is defined for each model. Raises ToolError with the compiler's
    first complaint, ValueError if two models share a name.
    """
    names = [model.name for model in models]
    if len(set(names)) != len(names):
        raise ValueError(f"models of one program need distinct names: {', '.join(names)}")
    units = [
        *(unit for model in models for unit in _model_units(model, recipe, workdir, taps)),
        *_harness_units(names, recipe, workdir),
        *_engine_units(models, recipe, workdir),
    ]
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        list(pool.map(lambda unit: _compile(unit, recipe), units))
    program = workdir / "program"
    objects = [str(unit.object) for unit in units]
    run_compiler(
        [*recipe.compiler, *recipe.flags, *objects, *recipe.link_flags, "-o", str(program)]
    )
    return program


def write_sources(model: GeneratedSources, directory: Path) -> list[Path]:
    """Write the model's files below `directory`; returns those to compile."""
    for name, content in model.files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    if model.engine is not None:
        (directory / f"{model.name}_sim_hooks.h").write_text(model.engine.hooks)
    return [directory / f"{model.name}{suffix}.c" for suffix in ("", "_weights")]


def ports_dir() -> Path:
    """Where the harness and the ports lie."""
    return data_dir("runtime_c") / "ports"


def _model_units(
    model: GeneratedSources, recipe: Recipe, workdir: Path, taps: bool
) -> Iterator[_Unit]:
    """The model's own sources, which see only the model's headers, and its adapter."""
    directory = workdir / model.name
    defines = (f"-D{model.name.upper()}_TAP=1",) if taps else ()
    hooked = recipe.simulated and model.engine is not None
    hooks = (f'-D{model.name.upper()}_HOOKS_HEADER="{model.name}_sim_hooks.h"',) if hooked else ()
    seen = (directory, _ports("sim")) if hooked else (directory,)
    for source in write_sources(model, directory):
        yield _Unit(source, source.with_suffix(".o"), seen, (*defines, *hooks))
    adapter = workdir / f"{model.name}_adapter.c"
    adapter.write_text(
        _render(
            "adapter.c.j2",
            name=model.name,
            inputs=len(model.input_bytes),
            outputs=len(model.output_bytes),
            caller_io=model.caller_io,
            taps=taps,
            tiles=taps and hooked,
        )
    )
    includes = (directory, *_harness_includes(recipe))
    if hooked:
        includes = (*includes, directory / "cg", _ports("sim"))
    yield _Unit(adapter, adapter.with_suffix(".o"), includes, defines)


def _harness_units(names: list[str], recipe: Recipe, workdir: Path) -> Iterator[_Unit]:
    table = workdir / "models.c"
    table.write_text(_render("models.c.j2", names=names))
    port_sources = (ports_dir() / name for name in ("common/harness.c", *recipe.port_sources))
    for source in (table, *port_sources):
        target = workdir / f"harness_{source.stem}.o"
        yield _Unit(source, target, _harness_includes(recipe))


def _ports(name: str) -> Path:
    """A port of cg_hal.h: a file or a directory."""
    return data_dir("runtime_c") / "hal" / "ports" / name


def _engine_units(
    models: Sequence[GeneratedSources], recipe: Recipe, workdir: Path
) -> Iterator[_Unit]:
    """The port of NPU and DMA, once for all models, which are for one board."""
    first = next((model for model in models if model.engine is not None), None)
    if first is None or first.engine is None:
        return
    includes = (workdir / first.name / "cg", *_harness_includes(recipe))
    sources = [_ports(f"{first.engine.port}.c")]
    if recipe.simulated:
        folder = workdir / "sim"
        folder.mkdir(exist_ok=True)
        (folder / "cg_sim_board.h").write_text(first.engine.board_header)
        includes = (*includes, _ports("sim"), folder)
        sources = sorted(_ports("sim").glob("*.c"))
    for source in sources:
        yield _Unit(source, workdir / f"hal_{source.stem}.o", includes)


def _harness_includes(recipe: Recipe) -> tuple[Path, ...]:
    return (ports_dir() / recipe.port, ports_dir() / "common")


def _render(template: str, **variables: object) -> str:
    return environment().get_template(f"verify/{template}").render(**variables)


def _compile(unit: _Unit, recipe: Recipe) -> None:
    includes = (f"-I{path}" for path in unit.includes)
    run_compiler(
        [
            *recipe.compiler,
            *recipe.flags,
            *unit.defines,
            *includes,
            "-c",
            str(unit.source),
            "-o",
            str(unit.object),
        ]
    )


def run_compiler(command: list[str]) -> None:
    """Run the compiler; ToolError with its first complaint if it fails."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=_TIMEOUT, check=False
        )
    except OSError as error:
        raise ToolError(f"{command[0]} cannot be run: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise ToolError(f"{command[0]} did not end within {_TIMEOUT} s") from None
    if done.returncode != 0:
        raise ToolError(f"{Path(command[0]).name}: {_first_complaint(done.stderr)}")


def _first_complaint(text: str) -> str:
    """The line of a compiler's or linker's output that says what is wrong."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if "picolibc.specs" in text:
        return "picolibc is not installed; Debian/Ubuntu: apt-get install " + (
            "picolibc-riscv64-unknown-elf"
        )
    marks = (
        "error:",
        "undefined reference",
        "overflowed by",
        "will not fit",
        "multiple definition",
        "ABI is",
    )
    for line in lines:
        if any(mark in line for mark in marks) and not line.startswith("collect2"):
            return line
    return lines[-1] if lines else "failed without a message"
