"""Element-wise kernels, pools and look-ups for Helium, on an emulated Cortex-M55."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen.importer import parse_model
from codegen.ops import lower
from codegen.ops.base import OpContext
from codegen.plan import PlanOptions
from codegen.target import Kernels, Target
from tests.ops import test_mean
from tests.ops.binary import Binary, binary_model, quant_cases, shape_cases
from tests.ops.emulated import assert_equal_emulated
from tests.ops.equality import assert_equal
from tests.ops.test_mean import mean_model
from tests.ops.test_pool_2d import CORNERS, GRID, KINDS, pool_model, pools_model
from tests.ops.unary import Unary, unary_model

MVE = PlanOptions(kernels="mve")
BOARD = "mps3-an547"


def kernels_of(model: bytes) -> list[str]:
    graph = parse_model(model).main
    lowered = lower(OpContext(graph, graph.nodes[0], Target(Kernels.MVE)))
    return [call.kernel for call in lowered.calls]


@pytest.mark.emulator
def test_sums_and_products(tmp_path: Path, rng: np.random.Generator) -> None:
    models = {}
    for op in ("ADD", "SUB", "MUL"):
        case = Binary(op)
        fused = [replace(case, activation=activation) for activation in ("RELU", "RELU6")]
        models[f"{op} shapes"] = binary_model(shape_cases(case)[::2], rng)
        models[f"{op} values"] = binary_model(fused + quant_cases(case, rng)[::2], rng)
    assert_equal_emulated(models, tmp_path, rng, BOARD, plan=MVE)


@pytest.mark.emulator
def test_pools(tmp_path: Path, rng: np.random.Generator, sample: Callable[[Any, int], Any]) -> None:
    wide = [{"in_shape": (1, 5, 6, c), "kernel": (3, 2), "stride": (2, 1)} for c in (16, 24, 37)]
    chosen = [*wide, *CORNERS, *sample(GRID, 12)]
    models = {kind: pools_model([(kind, config) for config in chosen]) for kind in KINDS}
    assert_equal_emulated(models, tmp_path, rng, BOARD, plan=MVE)


@pytest.mark.emulator
def test_means(tmp_path: Path, rng: np.random.Generator) -> None:
    cases = [
        {"in_shape": (1, 7, 7, 40), "axes": (1, 2)},
        {"in_shape": (2, 5, 3, 13), "axes": (1, 2), "keep_dims": True},
        {"in_shape": (1, 4, 6, 8), "axes": (1,)},
        {"in_shape": (1, 4, 6, 8), "axes": (2,)},
    ]
    models = {str(c): mean_model(**c) for c in [*cases, *test_mean.CORNERS]}
    assert_equal_emulated(models, tmp_path, rng, BOARD, plan=MVE)


@pytest.mark.emulator
def test_look_ups(tmp_path: Path, rng: np.random.Generator) -> None:
    shapes = ((3, 5, 7), (1, 4, 4, 32), (9,))
    cases = [Unary("TANH", (0.05, 3), (1 / 128, 0), shape=shape) for shape in shapes]
    assert_equal_emulated({"all": unary_model(cases)}, tmp_path, rng, BOARD, plan=MVE)


def test_on_the_host(tmp_path: Path, rng: np.random.Generator) -> None:
    models = {op: binary_model(quant_cases(Binary(op), rng)[:6], rng) for op in ("SUB", "MUL")}
    models["pools"] = pools_model([(kind, c) for kind in KINDS for c in CORNERS[:6]])
    models["tanh"] = unary_model([Unary("TANH", (0.05, 3), (1 / 128, 0))])
    assert_equal(models, tmp_path, rng, samples=1, plan=MVE, sanitize=True)


def test_where_the_faster_kernel_is_taken(rng: np.random.Generator) -> None:
    assert kernels_of(binary_model([Binary("ADD")], rng)) == ["cg_add_mve_s8"]
    assert kernels_of(pool_model("MAX_POOL_2D")) == ["cg_max_pool_2d_mve_s8"]
    large = pool_model("AVERAGE_POOL_2D", in_shape=(1, 20, 20, 4), kernel=(16, 16))
    assert kernels_of(large) == ["cg_average_pool_2d_s8"]
    steep = Binary("MUL", quants=((1.0, 0), (1.0, 0), (1e-6, 0)))
    assert kernels_of(binary_model([steep], rng)) == ["cg_mul_s8"]


def test_division_by_multiplication_is_exact() -> None:
    """The averages' arithmetic (cg_pool_2d_mve_mean) for every count and every sum."""
    for count in range(2, 256):
        size = np.arange(128 * count + count // 2 + 1)
        low = (count - 1).bit_length() - 1
        factor = -(-(1 << (16 + low)) // count)
        assert factor < 1 << 16 and size[-1] < 1 << 16
        np.testing.assert_array_equal((size * factor >> 16) >> low, size // count)
