"""Two buffers are never slower than one: over a sweep of tiles, and for whole models.

The search takes two buffers only where the timeline says that it pays: on their own they may take
the room that prefetching needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from codegen.boards import load_board
from codegen.importer import load_model
from codegen.npu import search
from codegen.npu.planning import schedule_of
from codegen.npu.schedule import STORED, Schedule, judge
from codegen.npu.tiling import Tilings, tilings
from codegen.pipeline import BuildOptions, prepare_graph
from codegen.plan import PlanOptions
from tests.npu.test_models import BOARDS, MODELS, NAMES, npu_plan
from tests.npu.test_tiling import ALONE, board_with, models, net_of
from tests.paths import requires_models

SIZES = (2048, 3072, 4096, 6144, 8192)


@contextmanager
def single_buffers() -> Iterator[None]:
    """Without tilings that have two buffers for an operand."""

    def few(*arguments: Any) -> Tilings:
        found = tilings(*arguments)
        keep = [i for i, o in enumerate(found.options) if 2 not in (o.inputs, o.weights, o.outputs)]
        columns = {f.name: getattr(found, f.name) for f in fields(Tilings) if f.name != "options"}
        return replace(
            found,
            options=tuple(found.options[i] for i in keep),
            **{name: column[keep] for name, column in columns.items()},
        )

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "tilings", few)
        yield


def test_sweep_of_tiles(
    rng: np.random.Generator, sample: Callable[[Sequence[Any], int], list[Any]]
) -> None:
    """Every tile of every operator and scratchpad: what the search finds among all its buffers."""
    data = models(rng)
    gains = tried = 0
    for name, size in sample([(name, size) for name in data for size in SIZES], 4):
        net = net_of(data[name], board_with(size))
        work = net.steps[0].work
        found = search.best_alone(net, search.Tables(net, size))
        if work is None or found is None:
            continue
        single = [
            judge(net, Schedule({0: option}, {}, {work.output: STORED}))
            for option in tilings(net.board, work, ALONE, size).options
            if 2 not in (option.inputs, option.weights, option.outputs)
        ]
        least = min(judged.score for judged in single)
        assert found.score <= least, (name, size)
        gains += found.score < least
        tried += 1
    assert tried >= 3 and gains >= 1


@requires_models
def test_whole_models(sample: Callable[[Sequence[Any], int], list[Any]]) -> None:
    assert MODELS is not None
    small = [(name, board) for name in ("ad", "kws", "ic", "sww") for board in BOARDS]
    large = [(name, board) for name in ("vww", "person") for board in BOARDS]
    for name, board in [*sample(small, 2), *sample(large, 0)]:
        graph = prepare_graph(load_model(MODELS / "app" / f"{NAMES[name]}.tflite"), BuildOptions())
        with single_buffers():
            single = schedule_of(graph, load_board(board), PlanOptions()).timeline
        assert npu_plan(name, board).timeline.total <= single.total, (name, board)
