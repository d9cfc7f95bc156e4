"""Other people's int8 models, on simulated NPUs: whatever the CPU path takes comes out the same.

A plain run takes two small models; `--full` takes every one on every board with an NPU.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen.boards import load_board
from codegen.errors import OverBudget
from codegen.importer import load_model
from codegen.pipeline import build
from codegen.verify.inputs import random_set
from codegen.verify.session import make_session, verify_host
from tests.models.shared_lists import verified_models
from tests.npu.test_models import BOARDS, NAMES
from tests.paths import requires_models

SMALL = 60_000
IN_A_PLAIN_RUN = 2

pytestmark = requires_models


def convolutional() -> list[Path]:
    """Models with int8 convolutions, but those that have a test of their own."""
    found = []
    for name, path in sorted(verified_models().items()):
        graph = load_model(path).main
        kinds = {
            graph.tensors[node.inputs[0]].dtype.value
            for node in graph.nodes
            if node.op in ("CONV_2D", "DEPTHWISE_CONV_2D")
        }
        if "int8" in kinds and name not in NAMES.values():
            found.append(path)
    return found


def check(path: Path, board: str) -> None:
    model = load_model(path)
    try:
        result = build(model, path.stem, load_board(board))
    except OverBudget:
        return  # too large for the board's memory, which the error says
    tensors = [result.plan.graph.tensors[t] for t in result.plan.graph.inputs]
    rng = np.random.default_rng(zlib.crc32(path.stem.encode()))
    session = make_session(model, path.read_bytes(), result, [random_set(tensors, rng)])
    found = verify_host(session, lambda text: None)
    assert found.equal, (path.stem, board, found)


def test_a_view_inside_of_a_cascade() -> None:
    """A RESHAPE between operators that could run row by row: its input is complete before it."""
    check(verified_models()["SiliconLabs-mltk__image_example1"], "npu-64k")


def test_sample(sample: Callable[[Sequence[Any], int], list[Any]]) -> None:
    small = [path for path in convolutional() if path.stat().st_size < SMALL]
    for path in sample(small, IN_A_PLAIN_RUN)[:IN_A_PLAIN_RUN]:
        check(path, "npu-32k")


@pytest.mark.full
@pytest.mark.parametrize("board", BOARDS)
def test_all(board: str) -> None:
    for path in convolutional():
        check(path, board)
