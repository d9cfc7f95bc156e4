"""Measures the tables of docs/performance.md: `python -m tests.benchmarks.performance --help`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import click

from codegen.bench.run import bench
from codegen.board_schema import Board
from codegen.boards import load_board
from codegen.importer import load_model
from codegen.pipeline import BuildOptions, build
from codegen.plan import PlanOptions
from tests.paths import MODELS

DOCUMENT = Path(__file__).parents[2] / "docs" / "performance.md"
TINY = {
    "ad": "ad01_int8",
    "ic": "pretrainedResnet_quant",
    "kws": "kws_ref_model",
    "vww": "vww_96_int8",
    "sww": "str_ww_ref_model",
}
"""The MLPerf Tiny models: short name -> file."""

BOARDS = {"mps2-an386": "m4", "mps2-an505": "m33", "mps3-an547": "m55", "riscv32-virt": "riscv32"}
"""Board -> what the peers' file calls its core."""

MODES = ("speed", "size")

Figures = Mapping[str, Any]
"""What `codegen bench --json` prints, or a case of the peers' file."""


def model_path(name: str) -> Path:
    """The file of a Tiny model by its short name."""
    assert MODELS is not None, "the models are not here: set CODEGEN_SHARED"
    return MODELS / "app" / f"mlcommons-tiny__{TINY[name]}.tflite"


HOST_RUNS = 5
"""Of this machine's times the least of so many medians counts: other load only adds."""


@cache
def measured(name: str, board: Board | str, optimize: str, kernels: str = "auto") -> Figures:
    """What `codegen bench --json` prints."""
    return benched(name, board, optimize, kernels)


def benched(
    name: str, board: Board | str, optimize: str = "speed", kernels: str = "auto"
) -> Figures:
    """The same, measured anew."""
    profile = load_board(board) if isinstance(board, str) else board
    options = BuildOptions(plan=PlanOptions(optimize=optimize, kernels=kernels))
    path = model_path(name)
    built = build(load_model(path), path.stem, profile, options)
    return bench(path, built, lambda _: None).to_json()


def code_bytes(figures: Figures) -> int:
    """Code and constants that are no data of the model."""
    data = figures["weights_bytes"] + figures["tables_bytes"]
    return int(figures["text"] + figures["rodata"] - data)


def figure_row(name: str, board: str, optimize: str) -> str:
    """Our own figures of one model."""
    found = measured(name, board, optimize)
    words = [
        *(f"{found['instructions']:,}", f"{found['instructions_per_mac']:.3f}"),
        *(f"{found[key]:,}" for key in ("arena_bytes", "stack_bytes", "text", "rodata")),
        *(f"{found[key]:,}" for key in ("weights_bytes", "tables_bytes")),
        f"{code_bytes(found):,}",
    ]
    return f"| {name} | {optimize} | {' | '.join(words)} |"


def figures_table(board: str) -> Iterator[str]:
    """Every model in every mode."""
    columns = ("arena", "stack", "text", "rodata", "weights", "tables", "code")
    yield f"| model | mode | instructions | per MAC | {' | '.join(columns)} |"
    yield "|---|---|" + "--:|" * 9
    yield from (figure_row(name, board, mode) for name in TINY for mode in MODES)


def peers_table(board: str, cases: Mapping[str, Figures]) -> Iterator[str]:
    """Our figures as multiples of the peer's, which stand beside them."""
    columns = ("instructions", "code", "all flash", "arena", "stack")
    yield f"| model | mode | {' | of | '.join(columns)} | of |"
    yield "|---|---|" + "--:|" * 10
    for name in TINY:
        for mode in MODES:
            peer = cases[f"{BOARDS[board]}/cmsis-nn/{name}"]
            ours, theirs = _compared(measured(name, board, mode)), _compared_peer(peer)
            pairs = zip(ours, theirs, strict=True)
            words = (f"{own / other:.3f}x | {other:,}" for own, other in pairs)
            yield f"| {name} | {mode} | {' | '.join(words)} |"


def _compared(found: Figures) -> tuple[int, ...]:
    flash = found["text"] + found["rodata"]
    return (
        *(found["instructions"], code_bytes(found), flash),
        *(found["arena_bytes"], found["stack_bytes"]),
    )


def _compared_peer(peer: Figures) -> tuple[int, ...]:
    code = peer["text"] + peer["rodata"]
    return (
        *(peer["instructions"], code, code + peer["model_array"]),
        *(peer["arena_min"], peer["stack"]),
    )


def layers_table() -> Iterator[str]:
    """The layers of `ad` on the Cortex-M4, whose ratio is the worst there."""
    yield "| layer | operator | MAC | instructions | per MAC |"
    yield "|--:|---|--:|--:|--:|"
    for layer in measured("ad", "mps2-an386", "speed")["layers"]:
        rate = layer["instructions"] / layer["macs"]
        yield (
            f"| {layer['layer']} | {layer['op']} | {layer['macs']:,} | {layer['instructions']:,} "
            f"| {rate:.3f} |"
        )


def portable_table() -> Iterator[str]:
    """Portable kernels on RISC-V and, compiled for a Cortex-M3, on the Cortex-M4's board."""
    board = load_board("mps2-an386")
    flags = ("-mcpu=cortex-m3", "-mthumb")
    cortex_m3 = board.model_copy(
        update={"compiler": board.compiler.model_copy(update={"flags": flags})}
    )
    yield "| model | riscv32 | Cortex-M3 | ratio |"
    yield "|---|--:|--:|--:|"
    for name in TINY:
        risc = measured(name, "riscv32-virt", "speed")["instructions"]
        arm = measured(name, cortex_m3, "speed", "portable")["instructions"]
        yield f"| {name} | {risc:,} | {arm:,} | {risc / arm:.2f} |"


def host_table() -> Iterator[str]:
    """Wall times on this machine."""
    yield "| model | codegen | LiteRT, built-in kernels | ratio | LiteRT, XNNPACK | ratio |"
    yield "|---|--:|--:|--:|--:|--:|"
    for name in TINY:
        runs = [benched(name, "host") for _ in range(HOST_RUNS)]
        ours = min(run["microseconds"] for run in runs)
        kinds = ("litert_builtin", "litert_xnnpack")
        peers = [min(run["peers"][kind] for run in runs) for kind in kinds]
        words = (f"{peer:,.1f} | {ours / peer:.2f}" for peer in peers)
        yield f"| {name} | {ours:,.1f} | {' | '.join(words)} |"


def sections(cases: Mapping[str, Figures]) -> dict[str, Iterator[str]]:
    """Name in the document -> the lines of its table, made when they are asked for."""
    compared = (b for b in BOARDS if f"{BOARDS[b]}/cmsis-nn/ad" in cases)
    return {
        **{board: figures_table(board) for board in BOARDS},
        **{f"{board} peers": peers_table(board, cases) for board in compared},
        "layers": layers_table(),
        "portable": portable_table(),
        "host": host_table(),
    }


def replaced(text: str, section: str, lines: Iterator[str]) -> str:
    """The document with another table between the marks of a section.

    Raises:
        ValueError: if it has no such marks.
    """
    begin, end = f"<!-- {section} -->\n", "<!-- end -->"
    pattern = re.compile(re.escape(begin) + r".*?" + re.escape(end), re.DOTALL)
    table = begin + "\n".join(lines) + "\n" + end
    changed, count = pattern.subn(lambda _: table, text)
    if count != 1:
        raise ValueError(f"{DOCUMENT}: section {section!r} stands {count} times in it")
    return changed


@click.command()
@click.option(
    "--peers",
    type=click.Path(exists=True, path_type=Path),
    help='Figures to compare with: JSON, {"cases": {"m4/cmsis-nn/ad": {"instructions", '
    '"arena_min", "text", "rodata", "model_array", "stack"}, ...}} for m4 and m55.',
)
@click.argument("names", metavar="[SECTION]...", nargs=-1)
def main(peers: Path | None, names: tuple[str, ...]) -> None:
    """Measure again what docs/performance.md says, in all sections or in those named.

    The Tiny models are those of the shared test models ($CODEGEN_SHARED).
    """
    cases = json.loads(peers.read_text(encoding="utf-8"))["cases"] if peers else {}
    for name, lines in sections(cases).items():
        if not names or name in names:
            click.echo(name)
            text = DOCUMENT.read_text(encoding="utf-8")
            DOCUMENT.write_text(replaced(text, name, lines), encoding="utf-8")


if __name__ == "__main__":
    main()
