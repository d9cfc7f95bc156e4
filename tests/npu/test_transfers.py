"""Transfers as the DMA can do them: merged, cut to its ranks and lengths, and still exact."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from codegen.npu.builder import cut
from codegen.npu.program import Copy, copy_of
from codegen.resources import data_dir
from tests.ops.equality import assert_equal
from tests.ops.test_conv_2d import conv_model
from tests.ops.test_depthwise_conv_2d import depthwise_model


def positions(copy: Copy, memory: int = 0, scratch: int = 0) -> list[tuple[int, int]]:
    """Every byte as (offset in memory, offset in the scratchpad)."""
    return [
        (
            memory + p * copy.memory_plane + r * copy.memory_row + b,
            scratch + p * copy.scratch_plane + r * copy.scratch_row + b,
        )
        for p in range(copy.planes)
        for r in range(copy.rows)
        for b in range(copy.length)
    ]


def test_runs_that_touch_are_one() -> None:
    assert copy_of(8, (5, 8, 8), (3, 40, 40)) == Copy(120)
    assert copy_of(8, (5, 8, 8), (3, 64, 40)) == Copy(40, 3, 1, 64, 0, 40, 0)
    assert copy_of(4, (5, 16, 4), (3, 80, 20)) == Copy(4, 15, 1, 16, 0, 4, 0)
    assert copy_of(4, (5, 16, 4), (3, 100, 20)).rank == 3
    assert copy_of(4, (1, 9, 9), (3, 100, 20)) == Copy(4, 3, 1, 100, 0, 20, 0)


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("longest", [3, 4, 100])
def test_cut_moves_the_same_bytes(ranks: int, longest: int) -> None:
    for copy in (Copy(10), Copy(5, 4, 1, 20, 0, 5, 0), Copy(7, 3, 2, 10, 50, 7, 21)):
        pieces = cut(copy, ranks, longest)
        assert all(piece.rank <= ranks and piece.length <= longest for _, _, piece in pieces)
        found = sorted(p for m, s, piece in pieces for p in positions(piece, m, s))
        assert found == sorted(positions(copy))


@pytest.mark.parametrize(
    "limits",
    [
        {"ranks = 3": "ranks = 1", '"64KiB"': '"256B"', "channels = 1": "channels = 3"},
        {"ranks = 3": "ranks = 2\nqueue = 2", "partial_sums = true": "partial_sums = false"},
    ],
)
def test_poor_controllers(limits: dict[str, str], tmp_path: Path, rng: np.random.Generator) -> None:
    """One dimension and short rows, or hardly a queue: the simulator holds the model to it."""
    text = (data_dir("boards") / "npu-32k.toml").read_text(encoding="utf-8")
    for old, new in limits.items():
        assert old in text
        text = text.replace(old, new)
    board = tmp_path / "poor.toml"
    board.write_text(text, encoding="utf-8")
    cases = {
        "conv": conv_model(rng, in_shape=(1, 30, 40, 16), filters=(16, 3, 3, 16)),
        "depthwise": depthwise_model(rng, in_shape=(1, 24, 20, 40), stride=(2, 1)),
    }
    assert_equal(cases, tmp_path, rng, samples=1, board=str(board))


def test_strips_of_different_widths(tmp_path: Path, rng: np.random.Generator) -> None:
    """Columns in strips: those at the edges are narrower, the lines of the ring stay in place."""
    cases = {
        "columns": conv_model(rng, in_shape=(1, 7, 115, 71), filters=(5, 5, 3, 71)),
        "channels too": depthwise_model(rng, in_shape=(1, 9, 190, 70), kernel=(5, 5)),
    }
    assert_equal(cases, tmp_path, rng, samples=1, board="npu-32k")
