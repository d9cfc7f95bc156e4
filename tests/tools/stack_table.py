"""Make runtime_c/kernels/stack.json: bytes of stack of one run() by kernel and core.

    python tests/tools/stack_table.py [--new] [MODEL.tflite ...]

Every kernel is compiled twice over: called with arguments that are not known at compile time, and
as the layers of the demo model and of the models given call it, which lets constants fold. The
worst of all counts, at -Os, -O2 and -O3 (on a PC: -O2), for each core of the shipped boards whose
gcc is installed. Figures of other cores and of kernels that are gone are dropped. With --new, the
figures of kernels that are in the table stay as they are, which is quick.

Kernels written for a core's instructions have a second entry, NAME/size: what they need as
--optimize size compiles them, with arguments that are not known.
"""

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import click

from codegen.board_schema import Board
from codegen.boards import list_boards
from codegen.emit.stack import FOR_SIZE
from codegen.errors import CodegenError, ToolError
from codegen.importer import load_model
from codegen.pipeline import Build, build
from codegen.plan import kernel_steps
from codegen.resources import data_dir
from codegen.verify.sources import GeneratedSources
from codegen.verify.stack import source_call_graph, stack_usage
from codegen.verify.toolchain import EXACT_FLAGS, find_tool, host_compiler

DEMO = Path(__file__).parents[2] / "docs" / "demo" / "digits.tflite"
_KERNEL = re.compile(
    r"\bvoid (?P<name>cg_\w+)\("
    r"(?P<parameters>const cg_(?:\w+_args|src) \*[^()]*\bconst cg_range \*[^()]*)\)\s*\{"
)

_FAMILY = re.compile(r"_(dsp|mve)(_|$)")
"""In the names of kernels that --optimize size compiles in another way."""

Figures = dict[str, int]
"""Kernel -> bytes."""


@dataclass(frozen=True)
class Target:
    """One core and how to compile for it."""

    board: Board
    compiler: tuple[str, ...]

    @property
    def flags(self) -> tuple[str, ...]:
        return ("-std=c99", *self.board.compiler.flags, *EXACT_FLAGS)

    @property
    def levels(self) -> tuple[str, ...]:
        """What firmware is built with; on a PC only what `verify` uses."""
        return ("-O2",) if self.board.cpu.core == "host" else ("-Os", "-O2", "-O3")


def targets() -> Iterator[Target]:
    """One for each way that the shipped boards compile, if the compiler is here."""
    seen: set[tuple[str, ...]] = set()
    for board in list_boards():
        core = board.cpu.core
        way = (core, board.compiler.command, *board.compiler.flags)
        if way in seen:
            continue
        seen.add(way)
        try:
            command = host_compiler() if core == "host" else (find_tool(board.compiler.command),)
        except ToolError as error:
            print(f"{core}: left out: {error}", file=sys.stderr)
            continue
        yield Target(board, command)


def include_lines() -> list[str]:
    """All headers of kernels."""
    headers = sorted((data_dir("runtime_c") / "kernels").glob("*.h"))
    return [f'#include "{header.name}"' for header in headers]


def include_flags() -> tuple[str, ...]:
    """Where the headers lie."""
    return tuple(f"-I{data_dir('runtime_c') / name}" for name in ("include", "kernels"))


def kernels() -> dict[str, str]:
    """Kernel -> its parameters; macros that define kernels are expanded."""
    command = [*host_compiler(), "-E", "-P", *include_flags(), "-x", "c", "-"]
    source = "\n".join(include_lines()) + "\n"
    text = subprocess.run(command, input=source, capture_output=True, text=True, check=True).stdout
    return {m["name"]: " ".join(m["parameters"].split()) for m in _KERNEL.finditer(text)}


def entries(found: Mapping[str, str]) -> dict[str, str]:
    """The entries of the table -> parameters: every kernel, and a family's for size."""
    small = {f"{name}{FOR_SIZE}": text for name, text in found.items() if _FAMILY.search(name)}
    return {**found, **small}


def probe_figures(target: Target, level: str, wanted: Mapping[str, str]) -> Figures:
    """Entries called with unknown arguments, without the callers of a layer."""
    plain = {name: text for name, text in wanted.items() if not name.endswith(FOR_SIZE)}
    small = {
        name.removesuffix(FOR_SIZE): text for name, text in wanted.items() if name not in plain
    }
    figures = _probed(target, level, plain, include_lines())
    probed = _probed(target, level, small, ["#define CG_OPTIMIZE_SIZE", *include_lines()])
    return {**figures, **{f"{name}{FOR_SIZE}": nbytes for name, nbytes in probed.items()}}


def _probed(target: Target, level: str, found: Mapping[str, str], lines: list[str]) -> Figures:
    """Kernels called with unknown arguments, behind `lines` of C."""
    for kernel, parameters in found.items():
        arguments = ", ".join(re.findall(r"(\w+)(?:,|$)", parameters))
        lines += [f"void probe_{kernel}({parameters});", f"void probe_{kernel}({parameters})"]
        lines += ["{", f"    {kernel}({arguments});", "}"]
    with tempfile.TemporaryDirectory() as name:
        source = Path(name) / "probes.c"
        source.write_text("\n".join(lines) + "\n")
        graph = source_call_graph(target.compiler, (*target.flags, level, *include_flags()), source)
    return {kernel: graph.deepest(f"probe_{kernel}") for kernel in found}


def model_figures(built: Build, target: Target, level: str) -> tuple[int, Figures]:
    """Bytes that the callers of a layer need, and each kernel in its layers with them."""
    sources = GeneratedSources(built.name, built.files, (), ())
    with tempfile.TemporaryDirectory() as name:
        usage = stack_usage(sources, target.compiler, (*target.flags, level), Path(name))
    figures: Figures = {}
    for layer, nbytes in zip(
        (layer for layer in built.plan.layers if layer.steps), usage.layers, strict=True
    ):
        for step in kernel_steps(layer.steps):
            figures[step.call.kernel] = max(nbytes, figures.get(step.call.kernel, 0))
    return usage.callers, figures


def built_for(paths: Sequence[Path], target: Target) -> Iterator[Build]:
    """The models that can be built for the core, whatever memory they need."""
    ample = [memory.model_copy(update={"size": 1 << 30}) for memory in target.board.memories]
    board = target.board.model_copy(update={"memories": tuple(ample)})
    for path in paths:
        try:
            yield build(load_model(path), path.stem, board)
        except CodegenError as error:
            print(f"{path.name}: left out: {str(error)[:100]}", file=sys.stderr)


def core_figures(target: Target, paths: Sequence[Path], wanted: Mapping[str, str]) -> Figures:
    """The worst of all levels, probes and models for one core, of the kernels that are wanted."""
    jobs = [(built, level) for built in built_for(paths, target) for level in target.levels]
    with ThreadPoolExecutor() as pool:
        measured = list(pool.map(lambda job: model_figures(job[0], target, job[1]), jobs))
        probed = list(pool.map(lambda level: probe_figures(target, level, wanted), target.levels))
    if not measured:
        raise ToolError("none of the models can be built; give one that can")
    callers = max(above for above, _ in measured)
    worst = {kernel: callers + max(p[kernel] for p in probed) for kernel in wanted}
    for _, figures in measured:
        for kernel in figures.keys() & wanted.keys():
            worst[kernel] = max(figures[kernel], worst[kernel])
    return worst


@click.command(help=__doc__)
@click.option("--new", is_flag=True, help="Measure only kernels that the table does not have.")
@click.argument("models", nargs=-1, type=click.Path(exists=True, path_type=Path))
def main(models: tuple[Path, ...], new: bool) -> None:
    """Write the table, or say in one line what is wrong."""
    try:
        write_table(models, new)
    except CodegenError as error:
        sys.exit(f"error: {error}")


def write_table(models: Sequence[Path], new: bool) -> None:
    """Measure, write the table and say what the worst kernel of each board is."""
    path = data_dir("runtime_c") / "kernels" / "stack.json"
    found, known = entries(kernels()), json.loads(path.read_text()) if new else {}
    table: dict[str, Figures] = {kernel: known.get(kernel, {}) for kernel in found}
    wanted = {kernel: found[kernel] for kernel in found if kernel not in known}
    for target in targets():
        core = target.board.cpu.core
        figures = core_figures(target, [DEMO, *models], wanted)
        for kernel, nbytes in figures.items():
            table[kernel][core] = max(nbytes, table[kernel].get(core, 0))
        worst = max(figures, key=lambda kernel: figures[kernel], default="no kernel")
        click.echo(f"{target.board.name} ({core}): {worst} {figures.get(worst, 0)}")
    path.write_text(json.dumps(table, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
