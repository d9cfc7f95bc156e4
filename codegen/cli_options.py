"""The options that several commands share."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from codegen.importer import InputShape
from codegen.planner import arena, order
from codegen.planner.memory_modes import MODES
from codegen.target import WEIGHTS_GROWTH, Kernels, Optimize, Reference

_SHAPE = re.compile(r"(?:(?P<name>.+)=)?(?P<sizes>\d+(?:,\d+)*)")


def _input_shapes(
    context: click.Context, option: click.Parameter, given: tuple[str, ...]
) -> tuple[InputShape, ...]:
    """`1,96,96,3`, or `NAME=1,96,96,3` where the model has several inputs."""
    return tuple(map(_input_shape, given))


def _input_shape(words: str) -> InputShape:
    match = _SHAPE.fullmatch(words)
    sizes = tuple(map(int, match["sizes"].split(","))) if match else ()
    if match is None or not all(sizes):
        raise click.BadParameter(f"{words!r} is no shape such as 1,96,96,3 or NAME=1,96,96,3")
    return InputShape(match["name"], sizes)


def _finite(context: click.Context, option: click.Parameter, factor: float) -> float:
    if not math.isfinite(factor):
        raise click.BadParameter(f"{factor} is no factor")
    return factor


Command = TypeVar("Command", bound=Callable[..., Any])

PATH = click.Path(readable=False, path_type=Path)
"""A path that our own messages speak of: what cannot be read ends in one line, as all errors do."""
MODEL = click.argument("model_path", metavar="MODEL.tflite", type=PATH)
JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead.")
BATCH = click.option(
    "--batch",
    type=click.IntRange(min=1),
    help="Batch size for a model that leaves it open.  [default: 1]",
)
SHAPE = click.option(
    "--shape",
    "shapes",
    metavar="[INPUT=]SIZES",
    multiple=True,
    callback=_input_shapes,
    help="Sizes of an input that leaves more than the batch open, such as 1,96,96,3.",
)
BOARD = click.option(
    "--board", "board_name", required=True, help="A board by name (boards list) or a .toml file."
)


def _with(command: Command, options: Sequence[Callable[[Command], Command]]) -> Command:
    """The command with options, which its help lists in this order."""
    for option in reversed(options):
        command = option(command)
    return command


def planner_options(command: Command) -> Command:
    """What may be asked of the planner."""
    options = (
        click.option(
            "--io-buffers",
            type=click.Choice(["arena", "caller"]),
            default="arena",
            show_default=True,
            help="Whose memory inputs and outputs lie in.",
        ),
        click.option("--keep-input", is_flag=True, help="run() leaves the inputs as they are."),
        click.option(
            "--order",
            "order_name",
            type=click.Choice(["auto", *order.STRATEGIES]),
            default="auto",
            show_default=True,
            help="Execution order.",
        ),
        click.option(
            "--arena",
            "arena_name",
            type=click.Choice(["auto", *arena.STRATEGIES]),
            default="auto",
            show_default=True,
            help="How offsets in the arena are found.",
        ),
        click.option(
            "--memory",
            type=click.Choice(list(MODES)),
            default="balanced",
            show_default=True,
            help="Least memory, the fastest kernels within 10 % of it, or the fastest that fit.",
        ),
        click.option(
            "--kernels",
            type=click.Choice(["auto", *(family.value for family in Kernels)]),
            default="auto",
            show_default=True,
            help="Instructions that kernels are written for; auto: what the board's core has.",
        ),
        click.option(
            "--reference",
            type=click.Choice([runtime.value for runtime in Reference]),
            default="litert",
            show_default=True,
            help="The runtime whose results to give to the last bit: LiteRT or TFLite Micro.",
        ),
        click.option(
            "--optimize",
            type=click.Choice([goal.value for goal in Optimize]),
            default="speed",
            show_default=True,
            help="speed: a copy of the kernel in every layer; size: layers share few, small ones.",
        ),
        click.option(
            "--weights-growth",
            type=click.FloatRange(min=1.0),
            callback=_finite,
            default=WEIGHTS_GROWTH,
            show_default=True,
            metavar="FACTOR",
            help="How many times its bytes in the model a filter may take in flash to be faster; "
            "from 3.6 on 3x3 convolutions may use Winograd's algorithm.",
        ),
    )
    return _with(command, options)


def build_options(command: Command) -> Command:
    """The options that shape the generated code, the same for build and verify."""
    command = planner_options(command)
    options = (
        click.option("--name", help="Prefix of all symbols and files.  [default: the file's name]"),
        BATCH,
        SHAPE,
        click.option(
            "--io",
            type=click.Choice(["model", "int8"]),
            default="model",
            show_default=True,
            help="int8: drop QUANTIZE and DEQUANTIZE at the border.",
        ),
    )
    return _with(command, options)
