"""Banks of the scratchpad: what meets in one is counted, by the model as by the simulator."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from codegen.boards import load_board
from codegen.importer import parse_model
from codegen.npu.banks import meeting_cycles, transfer_banks
from codegen.npu.planning import plan_figures
from codegen.npu.program import Block, Copy, Transfer, Way
from codegen.pipeline import Build, build
from codegen.resources import data_dir
from tests.npu.test_simulator import simulated
from tests.ops.test_conv_2d import conv_model

COMMANDS = [(0, 100, 0b01), (100, 150, 0b10), (200, 300, 0b11)]


@pytest.mark.parametrize(
    ("transfer", "cycles"),
    [
        ((0, 50, 0b10), 0),
        ((0, 50, 0b01), 50),
        ((90, 130, 0b10), 30),
        ((90, 130, 0b11), 40),
        ((150, 200, 0b11), 0),
        ((90, 1000, 0b10), 150),
        ((300, 400, 0b11), 0),
    ],
)
def test_cycles_in_one_bank(transfer: tuple[int, int, int], cycles: int) -> None:
    assert meeting_cycles(COMMANDS, transfer) == cycles


def banked(banks: int, folder: Path, data: bytes) -> Build:
    """A model for npu-32k with so many banks."""
    text = (data_dir("boards") / "npu-32k.toml").read_text(encoding="utf-8")
    assert "banks = 2" in text
    path = folder / f"banks{banks}.toml"
    path.write_text(text.replace("banks = 2", f"banks = {banks}"), encoding="utf-8")
    return build(parse_model(data), "net", load_board(str(path)))


def test_rows_touch_the_banks_that_they_lie_in(rng: np.random.Generator) -> None:
    board = load_board("npu-32k")
    plan = build(
        parse_model(conv_model(rng, in_shape=(1, 8, 8, 8), filters=(8, 3, 3, 8))), "net", board
    ).plan
    assert plan.npu is not None
    work = plan.npu.network.steps[0].work
    assert work is not None

    def banks(offset: int, copy: Copy) -> int:
        transfer = Transfer(Way.LOAD, 0, work, 0, Block(0, "map", 9000), 0, copy, 0)
        return transfer_banks(board, transfer, [offset])

    assert banks(0, Copy(16384)) == 0b01
    assert banks(16384, Copy(16384)) == 0b10
    assert banks(16383, Copy(2)) == 0b11
    assert banks(16000, Copy(8, 3, 1, 8, 0, 100, 0)) == 0b01
    assert banks(16000, Copy(8, 5, 1, 8, 0, 100, 0)) == 0b11


def test_model_and_simulator_agree(tmp_path: Path, rng: np.random.Generator) -> None:
    """Events with their banks are equal; smaller banks meet less."""
    data = conv_model(rng, in_shape=(1, 40, 40, 16), filters=(24, 3, 3, 16), stride=(2, 1))
    counted = []
    for banks in (1, 4):
        folder = tmp_path / str(banks)
        folder.mkdir()
        result = banked(banks, folder, data)
        assert result.plan.npu is not None
        found = simulated(result, folder)
        assert set(found.events) == set(result.plan.npu.timeline.events)
        counted.append(found.figures.meeting)
        assert found.figures.meeting == plan_figures(result.plan.npu).meeting
    assert 0 < counted[1] < counted[0]
