"""Make runtime_c/hal/ports/stack.json: bytes of stack of one run() that drives NPU and DMA.

    python tests/tools/port_stack.py MODEL.tflite ...

Every model is planned for every shipped board with an NPU, compiled with each port for each core
of the shipped boards whose gcc is installed, and followed from run() down into the port. By port
and core the table has the worst of all at -Os, -O2 and -O3 ("commands"), and what the callers of a
layer need there more than on boards without an NPU ("callers").
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import click

from codegen.board_schema import Board
from codegen.boards import list_boards
from codegen.errors import CodegenError
from codegen.importer import load_model
from codegen.pipeline import Build, build
from codegen.resources import data_dir
from codegen.verify.compile import write_sources
from codegen.verify.sources import GeneratedSources
from codegen.verify.stack import CallGraph, source_call_graph, usage_of
from tests.tools.stack_table import DEMO, Target, include_flags, targets

PORTS = data_dir("runtime_c") / "hal" / "ports"

Figures = dict[str, int]
"""`commands` and `callers`, in bytes."""


def ports() -> list[str]:
    """The ports that boards may name."""
    return sorted(path.stem for path in PORTS.glob("*.c"))


def model_graph(build: Build, target: Target, level: str) -> CallGraph:
    """The functions of a model, without those of the port."""
    with tempfile.TemporaryDirectory() as name:
        source, _ = write_sources(GeneratedSources(build.name, build.files, (), ()), Path(name))
        return source_call_graph(target.compiler, (*target.flags, level), source)


def port_graph(port: str, target: Target, level: str) -> CallGraph:
    """The functions of a port."""
    flags = (*target.flags, level, *include_flags(), f"-I{PORTS.parent}")
    with tempfile.TemporaryDirectory() as name:
        copy = Path(name) / f"{port}.c"
        copy.write_text((PORTS / copy.name).read_text())
        return source_call_graph(target.compiler, flags, copy)


def built(paths: Sequence[Path], board: Board) -> Iterator[Build]:
    """The models that the board has memory for."""
    for path in paths:
        try:
            yield build(load_model(path), path.stem, board)
        except CodegenError as error:
            print(f"{path.name}: left out: {str(error)[:100]}", file=sys.stderr)


def callers_without(target: Target, level: str) -> int:
    """What the callers of a layer need on boards without an NPU."""
    demo = build(load_model(DEMO), "demo", target.board)
    return usage_of(model_graph(demo, target, level), "demo").callers


def figures(builds: Sequence[Build], target: Target, level: str) -> dict[str, Figures]:
    """Port -> figures of one core and level."""
    graphs = {build: model_graph(build, target, level) for build in builds}
    plain = callers_without(target, level)
    found = {}
    for port in ports():
        unit = port_graph(port, target, level)
        usages = [usage_of(graph.with_unit(unit), build.name) for build, graph in graphs.items()]
        found[port] = {
            "commands": max(u.run for u in usages),
            "callers": max(0, max(u.callers for u in usages) - plain),
        }
    return found


def table_of(paths: Sequence[Path]) -> dict[str, dict[str, Figures]]:
    """Port -> core -> figures."""
    engines = [board for board in list_boards() if board.npu is not None]
    builds = [b for board in engines for b in built(paths, board)]
    jobs = [(target, level) for target in targets() for level in target.levels]
    with ThreadPoolExecutor() as pool:
        measured = list(pool.map(lambda job: figures(builds, *job), jobs))
    table: dict[str, dict[str, Figures]] = {port: {} for port in ports()}
    for (target, _), found in zip(jobs, measured, strict=True):
        for port, values in found.items():
            known = table[port].setdefault(target.board.cpu.core, dict.fromkeys(values, 0))
            known.update({key: max(known[key], value) for key, value in values.items()})
    return table


@click.command(help=__doc__)
@click.argument("models", nargs=-1, type=click.Path(exists=True, path_type=Path))
def main(models: tuple[Path, ...]) -> None:
    """Write the table, or say in one line what is wrong."""
    try:
        table = table_of([DEMO, *models])
    except CodegenError as error:
        sys.exit(f"error: {error}")
    (PORTS / "stack.json").write_text(json.dumps(table, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
