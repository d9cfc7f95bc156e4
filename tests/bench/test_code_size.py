"""Code of the MLPerf Tiny models against TensorFlow Lite Micro with CMSIS-NN, in both modes.

What counts is .text + .rodata less weights, biases and per-channel tables: all that is not data of
the model.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from codegen.bench.footprint import link_footprint
from codegen.boards import load_board
from codegen.importer import load_model
from codegen.ops.base import TableKind
from codegen.pipeline import BuildOptions, build
from codegen.plan import PlanOptions
from codegen.verify.session import sources_of
from codegen.verify.toolchain import optimise_flags
from tests.paths import MODELS, requires_models

SHARE = {"size": 0.15, "speed": 0.35}
PEERS = {
    ("mps2-an386", "ad01_int8"): 32_580,
    ("mps2-an386", "kws_ref_model"): 60_404,
    ("mps2-an386", "pretrainedResnet_quant"): 59_712,
    ("mps2-an386", "str_ww_ref_model"): 57_708,
    ("mps2-an386", "vww_96_int8"): 60_404,
    ("mps3-an547", "ad01_int8"): 25_348,
    ("mps3-an547", "kws_ref_model"): 52_384,
    ("mps3-an547", "pretrainedResnet_quant"): 50_888,
    ("mps3-an547", "str_ww_ref_model"): 49_008,
    ("mps3-an547", "vww_96_int8"): 52_384,
}
"""Its .text and .rodata without the model, in bytes, per board and model."""

pytestmark = [
    requires_models,
    pytest.mark.skipif(
        shutil.which("arm-none-eabi-gcc") is None, reason="the Arm compiler is not installed"
    ),
]


def code_bytes(board_name: str, model: str, optimize: str, workdir: Path) -> int:
    """Bytes of code and of constants that are no weights and no tables."""
    assert MODELS is not None
    board = load_board(board_name)
    path = MODELS / "app" / f"mlcommons-tiny__{model}.tflite"
    options = BuildOptions(plan=PlanOptions(optimize=optimize))
    built = build(load_model(path), model, board, options)
    flags = (*board.compiler.flags, *optimise_flags(optimize))
    found = link_footprint(sources_of(built), board.compiler.command, flags, workdir)
    data = sum(built.plan.constant_bytes(kind) for kind in TableKind)
    return found.text + found.rodata - data


@pytest.mark.parametrize(("board", "model"), PEERS)
def test_size_mode_takes_a_small_share(board: str, model: str, tmp_path: Path) -> None:
    assert code_bytes(board, model, "size", tmp_path) <= SHARE["size"] * PEERS[board, model]


@pytest.mark.parametrize("board", ["mps2-an386", "mps3-an547"])
def test_speed_mode_stays_within_its_share(board: str, tmp_path: Path) -> None:
    """For the model with the most layers, where the share is the largest of all."""
    model = "vww_96_int8"
    assert code_bytes(board, model, "speed", tmp_path) <= SHARE["speed"] * PEERS[board, model]
