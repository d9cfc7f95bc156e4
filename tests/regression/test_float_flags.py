"""Floats to the last bit whatever the compiler may use: nothing is fused or reordered."""

from __future__ import annotations

import platform
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from codegen.boards import load_board
from codegen.importer import parse_model
from codegen.pipeline import BuildOptions, build
from codegen.verify.program import build_host_program
from codegen.verify.session import sources_of
from tests.ops.equality import input_sets
from tests.ops.floats import float_model
from tests.ops.test_float_windows import DENSE, OPERATORS, window
from tests.ops.test_lstm import Net, lstm_model
from tests.ops.test_svdf import Layer, svdf_model

COMPILERS = ("gcc", "clang")
FLAGS = ("-O1", "-O3 -march=native")
STEPS = 8


def models(rng: np.random.Generator) -> list[bytes]:
    """Convolutions, poolings, dense layers, and what keeps state, with float and int8 weights."""
    windows = [window(op, channels=16) for op in OPERATORS] + DENSE[1:5]
    net = Net("float32", outputs=3, peepholes=True, norms=True, inputs=19, units=17)
    layer = Layer("float32", "float32", inputs=33, memory=9, rank=2)
    return [
        float_model(windows, rng),
        lstm_model(net, rng),
        lstm_model(replace(net, hybrid=True), rng),
        svdf_model(layer, rng),
        svdf_model(replace(layer, weights="int8", asymmetric=True), rng),
    ]


@pytest.mark.skipif(platform.machine() != "x86_64", reason="names flags of that machine")
def test_fused_instructions_change_nothing(
    tmp_path: Path, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All compilers and levels, FMA included, give the bytes of the first."""
    graphs = [parse_model(data) for data in models(rng)]
    board = load_board("host")
    sources = [
        sources_of(build(model, "case", board, BuildOptions(name=f"m{i}")))
        for i, model in enumerate(graphs)
    ]
    sets = [input_sets(model, STEPS, rng) for model in graphs]
    first: list[tuple[bytes, ...]] = []
    for compiler in COMPILERS:
        if shutil.which(compiler) is None:
            continue
        monkeypatch.setenv("CC", compiler)
        for number, flags in enumerate(FLAGS):
            folder = tmp_path / f"{compiler}{number}"
            with build_host_program(sources, folder, flags=flags.split()) as program:
                found = [
                    program.run(m, [v.tobytes() for v in values], reset=step == 0).outputs
                    for m, steps in enumerate(sets)
                    for step, values in enumerate(steps)
                ]
            first = first or found
            assert found == first, f"{compiler} {flags}"
    assert first
