"""Small models and compiled C for tests of what is printed."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from codegen.boards import load_board
from codegen.importer import parse_model
from codegen.pipeline import Build, BuildOptions, build
from codegen.verify.toolchain import EXACT_FLAGS, STRICT_FLAGS
from tests.tflite_builder import ModelBuilder


def two_convolutions(seed: int = 0, name: str | None = None) -> bytes:
    """int8[1,6,6,2] -> CONV_2D 3x3 -> CONV_2D 1x1 -> int8[1,6,6,3]; `name` names every tensor."""
    rng = np.random.default_rng(seed)
    builder = ModelBuilder()
    x = builder.tensor((1, 6, 6, 2), scale=0.05, zero_point=-3, name=name)
    middle = builder.tensor((1, 6, 6, 4), scale=0.2, zero_point=5, name=name)
    y = builder.tensor((1, 6, 6, 3), scale=0.3, zero_point=-9, name=name)
    for source, result, shape in ((x, middle, (4, 3, 3, 2)), (middle, y, (3, 1, 1, 4))):
        weights = rng.integers(-127, 128, shape)
        bias = rng.integers(-500, 500, shape[0])
        w = builder.tensor(shape, scale=0.01, zero_point=0, data=weights, name=name)
        b = builder.tensor((shape[0],), "int32", scale=5e-4, zero_point=0, data=bias, name=name)
        builder.op("CONV_2D", [source, w, b], [result], padding="SAME", stride_h=1, stride_w=1)
    return builder.build([x], [y])


def make_build(
    data: bytes, title: str = "net", board: str = "host", options: BuildOptions | None = None
) -> Build:
    """A build without touching the disk."""
    return build(parse_model(data), title, load_board(board), options)


def write(files: Mapping[str, str], folder: Path) -> None:
    """The files of a build below `folder`."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def run_c(
    folder: Path,
    sources: Sequence[Path],
    flags: Sequence[str] = (),
    compiler: str = "cc",
    stdin: bytes = b"",
) -> str:
    """Compile strictly, run on `stdin`, and return what the program prints."""
    program = folder / "program"
    command = [compiler, *STRICT_FLAGS, *EXACT_FLAGS, "-O1", *flags, f"-I{folder}"]
    subprocess.run([*command, *map(str, sources), "-o", str(program)], check=True)
    done = subprocess.run([str(program)], check=True, capture_output=True, input=stdin)
    return done.stdout.decode()
