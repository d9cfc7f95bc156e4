"""Products, pools and means for the DSP extension: in plain C, and on an emulated Cortex-M4."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.kernels.test_dsp import BOARDS, kernels_of, with_dsp
from tests.ops.binary import Binary, binary_model, quant_cases, shape_cases
from tests.ops.test_mean import mean_model
from tests.ops.test_pool_2d import CORNERS, GRID, KINDS, pool_model, pools_model

MEANS: list[dict[str, Any]] = [
    {"in_shape": (1, 7, 7, 40), "axes": (1, 2)},
    {"in_shape": (2, 5, 3, 13), "axes": (1, 2), "keep_dims": True},
    {"in_shape": (1, 4, 256, 6), "axes": (1, 2)},
    {"in_shape": (1, 4, 6, 8), "axes": (2,)},
]


@pytest.mark.parametrize("board", BOARDS)
def test_products(board: str, tmp_path: Path, rng: np.random.Generator) -> None:
    case = Binary("MUL")
    fused = [replace(case, activation=activation) for activation in ("RELU", "RELU6")]
    models = {
        "shapes": binary_model(shape_cases(case)[::6], rng),
        "values": binary_model([*fused, *quant_cases(case, rng)], rng),
    }
    with_dsp(models, board, tmp_path, rng)


@pytest.mark.parametrize("board", BOARDS)
def test_pools_and_means(
    board: str, tmp_path: Path, rng: np.random.Generator, sample: Callable[[Any, int], Any]
) -> None:
    wide = [{"in_shape": (1, 5, 6, c), "kernel": (3, 2), "stride": (2, 1)} for c in (16, 12, 7)]
    chosen = [*wide, *sample(CORNERS, 4), *sample(GRID, 3)]
    models = {kind: pools_model([(kind, config) for config in chosen]) for kind in KINDS}
    models |= {str(config): mean_model(**config) for config in MEANS}
    with_dsp(models, board, tmp_path, rng)


def test_where_the_faster_kernel_is_taken(rng: np.random.Generator) -> None:
    assert kernels_of(pool_model("MAX_POOL_2D")) == {"cg_max_pool_2d_dsp_s8"}
    assert kernels_of(pool_model("AVERAGE_POOL_2D")) == {"cg_average_pool_2d_dsp_s8"}
    wide = pool_model("AVERAGE_POOL_2D", in_shape=(1, 2, 300, 4), kernel=(1, 257))
    assert kernels_of(wide) == {"cg_average_pool_2d_s8"}
    assert all(kernels_of(mean_model(**config)) == {"cg_mean_dsp_s8"} for config in MEANS)
    assert kernels_of(mean_model(in_shape=(1, 1, 257, 4), axes=(2,))) == {"cg_mean_s8"}
    assert kernels_of(binary_model([Binary("MUL")], rng)) == {"cg_mul_dsp_s8"}
    steep = Binary("MUL", quants=((1.0, 0), (1.0, 0), (0.9, 0)))
    assert kernels_of(binary_model([steep], rng)) == {"cg_mul_s8"}
