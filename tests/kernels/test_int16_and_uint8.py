"""int16 and uint8 data in the kernels for the DSP extension and for Helium."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen.importer import parse_model
from codegen.ops import lower
from codegen.ops.base import OpContext
from codegen.plan import PlanOptions
from codegen.target import Kernels, Target
from tests.ops import test_uint8_weights
from tests.ops.emulated import assert_equal_emulated
from tests.ops.equality import assert_equal
from tests.ops.test_int16_weights import KINDS, WIDE, formats_of
from tests.ops.weighted import Layer, layers_of, paired, weighted_model

LONG = [
    Layer("FULLY_CONNECTED", (2, 1100), 9),
    Layer("CONV_2D", (1, 4, 5, 130), 6, (3, 3)),
    Layer("DEPTHWISE_CONV_2D", (1, 9, 30, 6), kernel=(3, 20)),
]
"""Sums of more products than one run has."""


def models_of(
    rng: np.random.Generator, sample: Callable[[Any, int], Any], layers: int
) -> dict[str, bytes]:
    models = {}
    for op in KINDS:
        chosen = [*sample(layers_of(op, sample), layers), *(x for x in LONG if x.op == op)]
        models[op] = weighted_model(rng, *paired(chosen, formats_of(op)))
    for op in KINDS[:2]:
        chosen = sample(layers_of(op, sample), layers)
        models[f"{op} bytes"] = weighted_model(rng, *paired(chosen, test_uint8_weights.FORMATS))
    return models


@pytest.mark.emulator
@pytest.mark.parametrize(("board", "kernels"), [("mps2-an386", "dsp"), ("mps3-an547", "mve")])
def test_on_boards(
    board: str,
    kernels: str,
    tmp_path: Path,
    rng: np.random.Generator,
    sample: Callable[[Any, int], Any],
) -> None:
    models = models_of(rng, sample, layers=7)
    assert_equal_emulated(models, tmp_path, rng, board, plan=PlanOptions(kernels=kernels))


def test_on_the_host(
    tmp_path: Path, rng: np.random.Generator, sample: Callable[[Any, int], Any]
) -> None:
    models = models_of(rng, sample, layers=1)
    plan = PlanOptions(kernels="dsp")
    assert_equal(models, tmp_path, rng, samples=1, sanitize=True, plan=plan)


@pytest.mark.parametrize("kernels", [Kernels.DSP, Kernels.MVE])
@pytest.mark.parametrize("op", KINDS)
def test_where_the_faster_kernel_is_taken(
    op: str, kernels: Kernels, rng: np.random.Generator
) -> None:
    graph = parse_model(weighted_model(rng, (Layer(op), WIDE))).main
    (call,) = lower(OpContext(graph, graph.nodes[0], Target(kernels))).calls
    assert call.kernel == f"cg_{op.lower()}_{kernels.value}_s16"


@pytest.mark.parametrize("kernels", [Kernels.DSP, Kernels.MVE])
@pytest.mark.parametrize("op", KINDS[:2])
def test_where_the_faster_kernel_of_bytes_is_taken(
    op: str, kernels: Kernels, rng: np.random.Generator
) -> None:
    graph = parse_model(weighted_model(rng, (Layer(op), test_uint8_weights.BYTES))).main
    (call,) = lower(OpContext(graph, graph.nodes[0], Target(kernels))).calls
    assert call.kernel == f"cg_{op.lower()}_{kernels.value}_u8"
