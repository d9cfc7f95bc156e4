"""The command `codegen`. Each subcommand is a few lines over the functions of the package."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click
from rich.console import Console

from codegen import __version__, boards
from codegen.board_schema import Board
from codegen.cli_options import (
    BATCH,
    BOARD,
    JSON,
    MODEL,
    PATH,
    SHAPE,
    build_options,
    planner_options,
)
from codegen.errors import CodegenError
from codegen.graph import Model
from codegen.importer import InputShape, load_model, open_inputs
from codegen.memory_map import memory_map
from codegen.output import write_directory, write_file
from codegen.pipeline import Build, BuildOptions, build, prepare_graph
from codegen.plan import PlanOptions
from codegen.target import Kernels, target_of

if TYPE_CHECKING:
    from codegen.verify.trace import Simulated


class _Failure(click.ClickException):
    """An error of ours: one line on stderr and exit status 1."""

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(f"error: {self.message}", file=file, err=True)


class _Commands(click.Group):
    """Commands whose errors are lines for the user, never tracebacks."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except CodegenError as error:
            raise _Failure(str(error)) from error


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="codegen")
def cli() -> None:
    """Plain C99 for microcontrollers from TensorFlow Lite models."""


@cli.command("build")
@MODEL
@BOARD
@click.option("-o", "--output", required=True, type=PATH, help="Directory to write.")
@click.option("--force", is_flag=True, help="Replace files in a directory that is not empty.")
@build_options
@JSON
def build_command(
    model_path: Path, board_name: str, output: Path, force: bool, as_json: bool, **options: Any
) -> None:
    """Write the C99 files for a model on a board."""
    result = _build(
        _load(model_path, options["batch"], options["shapes"]),
        model_path,
        boards.load_board(board_name),
        options,
    )
    write_directory(output, result.files, force=force)
    if as_json:
        click.echo(json.dumps(result.summary(), indent=2))
        return
    click.echo(memory_map(result.plan, _width()))
    click.echo(
        f"\nwrote {len(result.files)} files to {output}: arena {result.plan.total_arena:,} B "
        f"(lower bound {result.plan.lower_bound:,}), stack <= {result.stack_bytes} B\n"
        f"how to use them: {output / 'README.md'}; picture: {output / 'report.html'}"
    )


@cli.command("verify")
@MODEL
@BOARD
@click.option(
    "--samples",
    type=click.IntRange(min=0),
    default=20,
    show_default=True,
    help="Random inputs, run twice each; all smallest, all largest and all zero points are fed "
    "besides. An emulator takes the first 3 and these.",
)
@click.option("--seed", type=int, default=1, show_default=True, help="Of the random inputs.")
@click.option(
    "--inputs",
    "npz",
    type=PATH,
    help="A .npz file with inputs of your own; an array `labels` gives the accuracy too.",
)
@click.option(
    "--target",
    type=click.Choice(["all", "host", "emulator"]),
    default="all",
    show_default=True,
    help="Where to run; all: on the host and on the board's emulator if it has one.",
)
@click.option("--sanitize", is_flag=True, help="Host build with address and undefined sanitizers.")
@click.option(
    "--timeline",
    "timeline_path",
    type=PATH,
    help="For a board with an NPU: write when CPU, NPU and DMA work, in Chrome's trace format; a "
    "picture goes beside it (.svg).",
)
@build_options
@JSON
@click.pass_context
def verify_command(
    context: click.Context,
    /,
    model_path: Path,
    board_name: str,
    samples: int,
    seed: int,
    npz: Path | None,
    target: str,
    sanitize: bool,
    timeline_path: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Compile and run the C code and compare every byte with the TFLite interpreter."""
    from codegen.verify.run import VerifyRequest, verify

    model, board = (
        _load(model_path, options["batch"], options["shapes"]),
        boards.load_board(board_name),
    )
    request = VerifyRequest(samples, seed, npz, target, sanitize)
    built = _build(model, model_path, board, options)
    if timeline_path is not None and built.plan.npu is None:
        raise CodegenError(
            f"--timeline: on board {board.name} no operator of this model runs on an NPU; "
            f"codegen inspect --board {board.name} says why"
        )
    with _progress() as progress:
        result = verify(model, model_path, built, request, progress)
    if as_json:
        click.echo(json.dumps(result.to_json(), indent=2))
    else:
        click.echo("\n".join(result.lines()))
    if not result.equal:
        context.exit(1)
    if timeline_path is not None:
        _write_timeline(timeline_path, result.simulated)


def _write_timeline(path: Path, simulated: Simulated | None) -> None:
    """The trace and its picture.

    Raises:
        CodegenError: if nothing was simulated, or a file cannot be written.
    """
    from codegen.npu.figures import chrome_trace

    if simulated is None:
        raise CodegenError("--timeline: nothing was simulated, as --target leaves the host out")
    write_file(path, json.dumps(chrome_trace(simulated.npu, simulated.events)) + "\n")
    write_file(path.with_suffix(".svg"), simulated.svg())


@cli.command("bench")
@MODEL
@BOARD
@click.option(
    "--vs",
    "saved",
    metavar="FILE",
    type=PATH,
    help="Print ratios against figures that bench --json printed before.",
)
@build_options
@JSON
def bench_command(
    model_path: Path, board_name: str, saved: Path | None, as_json: bool, **options: Any
) -> None:
    """Measure an inference: instructions, stack and code on a board, time on this machine."""
    from codegen.bench.comparison import comparison_lines, load_figures, ratios
    from codegen.bench.run import bench

    model, board = (
        _load(model_path, options["batch"], options["shapes"]),
        boards.load_board(board_name),
    )
    figures = load_figures(saved) if saved else {}
    with _progress() as progress:
        result = bench(model_path, _build(model, model_path, board, options), progress)
    document = result.to_json()
    if as_json:
        compared = {"vs": ratios(document, figures)} if saved else {}
        click.echo(json.dumps({**document, **compared}, indent=2))
        return
    click.echo("\n".join(result.lines()))
    if saved:
        click.echo("\n" + "\n".join(comparison_lines(document, figures, saved.name)))


@cli.command("plan")
@MODEL
@BOARD
@click.option(
    "--svg",
    "svg_path",
    type=PATH,
    help="Write the arena over time as a picture (with an NPU: the timeline; with --sweep: that).",
)
@click.option(
    "--sweep",
    "sweep_range",
    help="For a board with an NPU: latency by scratchpad size, such as scratchpad=16k..512k.",
)
@BATCH
@SHAPE
@planner_options
@JSON
def plan_command(
    model_path: Path,
    board_name: str,
    svg_path: Path | None,
    sweep_range: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Compare every order and arena strategy; works on every valid model.

    For a board with an NPU: the schedule of NPU and DMA, layer by layer.
    """
    from codegen.planning import plan_model, svg

    model, board = (
        _load(model_path, options["batch"], options["shapes"]),
        boards.load_board(board_name),
    )
    if board.npu is not None or sweep_range is not None:
        picture, text = _plan_schedule(model, board, _plan_options(options), sweep_range, as_json)
        if svg_path is not None:
            write_file(svg_path, picture)
        click.echo(text)
        return
    with _progress() as progress:
        planning = plan_model(model, board, _plan_options(options), progress, boards.list_boards())
    if svg_path is not None:
        write_file(svg_path, svg(planning.plan))
    if as_json:
        click.echo(json.dumps(planning.to_json(), indent=2))
    else:
        click.echo("\n".join(planning.lines(_width())))


def _plan_schedule(
    model: Model, board: Board, options: PlanOptions, sweep_range: str | None, as_json: bool
) -> tuple[str, str]:
    """The picture and the text of a schedule, or of a sweep over scratchpads."""
    from codegen.npu import planning

    graph = prepare_graph(model, BuildOptions(plan=options))
    if sweep_range is None:
        npu = planning.schedule_of(graph, board, options)
        found = planning.plan_json(npu)
        lines = planning.plan_lines(npu)
        return planning.timeline_svg(npu), json.dumps(found, indent=2) if as_json else "\n".join(
            lines
        )
    with _progress() as progress:
        sizes = planning.sizes_of(sweep_range)
        points = planning.sweep(graph, board, options, sizes, progress)
    rows = [point.to_json() for point in points]
    text = (
        json.dumps({"sweep": rows}, indent=2)
        if as_json
        else "\n".join(planning.sweep_lines(points))
    )
    return planning.sweep_svg(points), text


@cli.command("inspect")
@MODEL
@click.option("--board", "board_name", help="Show too which engine of this board runs what.")
@BATCH
@SHAPE
@JSON
def inspect_command(
    model_path: Path,
    board_name: str | None,
    batch: int | None,
    shapes: tuple[InputShape, ...],
    as_json: bool,
) -> None:
    """Show what is in a model and what it costs."""
    from codegen.engine_table import engine_dict, engine_lines, engine_rows
    from codegen.inspection import inspect_model, inspection_dict, inspection_text
    from codegen.planning import concatenations
    from codegen.support import unsupported_operators

    model = _load(model_path, batch, shapes)
    board = boards.load_board(board_name) if board_name else None
    refused = unsupported_operators(model)
    report = inspect_model(model, model_path.stem, refused, concatenations(model))
    rows = engine_rows(model, board) if board else ()
    if as_json:
        engines = {"engines": engine_dict(rows, board)} if board else {}
        click.echo(json.dumps(inspection_dict(report) | engines, indent=2))
        return
    click.echo(inspection_text(report), nl=False)
    if board:
        click.echo("\n" + "\n".join(engine_lines(rows, board)))


@cli.command("check")
@click.argument("path", metavar="PLAN.json", type=PATH)
@click.pass_context
def check_command(context: click.Context, /, path: Path) -> None:
    """Prove a plan.json safe, from the file alone."""
    from codegen.planner.checker import check_file

    report = check_file(path)
    for fault in (*report.faults, *filter(None, [report.bound_fault])):
        click.echo(f"error: {fault}", err=True)
    if not report.safe or report.bound_fault:
        context.exit(1)
    click.echo(
        f"{path}: safe: {report.executions:,} steps simulated, {report.bytes_read:,} bytes "
        f"read and {report.bytes_written:,} written, none lost; the lower bound holds"
    )


@cli.group("boards")
def boards_group() -> None:
    """List, show and check board profiles."""


@boards_group.command("list")
@JSON
def boards_list(as_json: bool) -> None:
    """The boards that come with codegen."""
    shipped = boards.list_boards()
    if as_json:
        click.echo(json.dumps([b.model_dump(mode="json") for b in shipped], indent=2))
        return
    width = max(len(b.name) for b in shipped)
    for b in shipped:
        click.echo(f"{b.name:<{width}}  {b.description}")


@boards_group.command("show")
@click.argument("board_name", metavar="NAME")
@JSON
def boards_show(board_name: str, as_json: bool) -> None:
    """One board in detail."""
    board = boards.load_board(board_name)
    click.echo(board.model_dump_json(indent=2) if as_json else boards.describe(board))


@boards_group.command("check")
@click.argument("path", metavar="FILE", type=PATH)
@click.pass_context
def boards_check(context: click.Context, /, path: Path) -> None:
    """Check a board profile of your own."""
    problems = boards.check_board(path)
    for problem in problems:
        click.echo(f"error: {problem}", err=True)
    if problems:
        context.exit(1)
    click.echo(f"{path}: a valid board profile")


def _load(path: Path, batch: int | None, shapes: Sequence[InputShape]) -> Model:
    """The model with the shapes that are asked for; a note for every size that still is open."""
    if batch is not None and shapes:
        raise click.UsageError("--shape has the batch among its sizes; leave --batch out")
    model = load_model(path, batch=batch, shapes=shapes)
    for tensor in open_inputs(model.main):
        axes = ", ".join(map(str, tensor.free_dims))
        click.echo(
            f"note: the file leaves axis {axes} of input {tensor.label} open; it is taken as "
            f"{tensor.describe()}, and --shape gives other sizes",
            err=True,
        )
    return model


def _plan_options(options: dict[str, Any]) -> PlanOptions:
    return PlanOptions(
        order=options["order_name"],
        arena=options["arena_name"],
        memory=options["memory"],
        keep_input=options["keep_input"],
        caller_io=options["io_buffers"] == "caller",
        kernels=options["kernels"],
        reference=options["reference"],
        optimize=options["optimize"],
        weights_growth=options["weights_growth"],
    )


def _build(model: Model, path: Path, board: Board, options: dict[str, Any]) -> Build:
    _note_missing_instructions(board, options["kernels"])
    batch, shapes = options["batch"], options["shapes"]
    sizes = [f"--shape {shape}" for shape in shapes] + [f"--batch {batch}"] * (batch is not None)
    chosen = BuildOptions(options["name"], options["io"], _plan_options(options), tuple(sizes))
    return build(model, path.stem, board, chosen, boards.list_boards())


def _note_missing_instructions(board: Board, kernels: str) -> None:
    families = list(Kernels)
    best = target_of(board.cpu).kernels
    asked = best if kernels == "auto" else Kernels(kernels)
    if board.cpu.core != "host" and families.index(asked) > families.index(best):
        click.echo(
            f"note: core {board.cpu.core} lacks the instructions of --kernels {kernels}; their "
            f"plain C is slower there than --kernels {best.value}",
            err=True,
        )


def _width() -> int:
    """Characters in a line: those of the terminal, or enough for most names in a file or a pipe."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 120


@contextmanager
def _progress() -> Iterator[Callable[[str], None]]:
    """A status line on a terminal, nothing in a pipe."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda text: None
        return
    with console.status("starting") as status:
        yield lambda text: status.update(text.replace("[", r"\["))


def main() -> None:
    """Entry point of the command and of `python -m codegen`."""
    cli(prog_name="codegen")


if __name__ == "__main__":
    main()
