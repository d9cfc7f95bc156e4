"""The search over tilings of one operator: exact over its space, and honest about what fits."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from codegen import ops
from codegen.board_schema import Board
from codegen.boards import load_board
from codegen.errors import OverBudget
from codegen.importer import parse_model
from codegen.npu.network import Network, network
from codegen.npu.schedule import STORED, Schedule, judge
from codegen.npu.search import Tables, best_alone, best_schedule
from codegen.npu.tiling import Residence, parts, tilings
from codegen.target import PORTABLE
from tests.ops.test_conv_2d import conv_model
from tests.ops.test_depthwise_conv_2d import depthwise_model
from tests.ops.test_fully_connected import dense_model

ALONE = Residence((False,), False, True)


def board_with(size: int, **npu: Any) -> Board:
    board = load_board("npu-32k")
    assert board.scratchpad is not None and board.npu is not None
    pad = board.scratchpad.model_copy(update={"size": size, "banks": 1})
    return board.model_copy(update={"scratchpad": pad, "npu": board.npu.model_copy(update=npu)})


def net_of(data: bytes, board: Board) -> Network:
    graph = parse_model(data).main
    lowered = ops.lower_all(graph, graph.nodes, PORTABLE)
    return network(graph, board, graph.nodes, lowered)


def models(rng: np.random.Generator) -> dict[str, bytes]:
    return {
        "rows": conv_model(rng, in_shape=(1, 24, 12, 8), filters=(16, 3, 3, 8)),
        "stride": conv_model(
            rng, in_shape=(1, 21, 9, 4), filters=(24, 2, 2, 4), stride=(3, 2), padding="VALID"
        ),
        "depth": conv_model(rng, in_shape=(1, 4, 4, 64), filters=(4, 5, 5, 64)),
        "apart": depthwise_model(rng, in_shape=(1, 16, 10, 24)),
        "dense": dense_model(rng, in_shape=(1, 300), units=40, scale_out=2.0),
    }


@pytest.mark.parametrize("name", ["rows", "stride", "depth", "apart", "dense"])
def test_search_agrees_with_brute_force(name: str, rng: np.random.Generator) -> None:
    """Every tiling of the space, played on the clock: none is better than what the search finds."""
    board = board_with(4096)
    net = net_of(models(rng)[name], board)
    found = best_alone(net, Tables(net, 4096))
    assert found is not None
    work = net.steps[0].work
    assert work is not None
    space = tilings(board, work, ALONE, 4096)
    assert len(space.options) > 5
    scores = []
    for option, least, size in zip(space.options, space.least, space.bytes, strict=True):
        judged = judge(net, Schedule({0: option}, {}, {work.output: STORED}))
        assert judged.builder.program.peak <= size, option
        assert least <= judged.total, option
        scores.append(judged.score)
    assert found.score == min(scores)


def test_nothing_fits(rng: np.random.Generator) -> None:
    net = net_of(models(rng)["depth"], board_with(256))
    with pytest.raises(OverBudget, match=r"CONV_2D fits no tile .* needs .* bytes, available are"):
        best_schedule(net)


def test_without_partial_sums_depth_is_not_split(rng: np.random.Generator) -> None:
    net = net_of(models(rng)["depth"], board_with(4096, partial_sums=False))
    with pytest.raises(OverBudget, match="fits no tile"):
        best_schedule(net)


@pytest.mark.parametrize("size", [1, 7, 48, 97])
@pytest.mark.parametrize("granule", [1, 4, 16])
def test_parts(size: int, granule: int) -> None:
    """From the whole to a granule, each smaller than the one before."""
    found = parts(size, granule)
    assert found[0] == size and found[-1] == min(size, granule)
    assert all(a > b for a, b in pairwise(found))
    assert all(part % granule == 0 or part == size for part in found)
