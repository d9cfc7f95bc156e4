"""The kernels for Helium: in plain C on the host, and as they are on an emulated Cortex-M55."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen.importer import parse_model
from codegen.ops import lower
from codegen.ops.base import OpContext
from codegen.plan import PlanOptions
from codegen.target import Kernels, Target
from tests.ops import test_conv_2d, test_depthwise_conv_2d, test_fully_connected
from tests.ops.emulated import assert_equal_emulated
from tests.ops.equality import assert_equal
from tests.ops.test_conv_2d import conv_model
from tests.ops.test_depthwise_conv_2d import depthwise_model
from tests.ops.test_fully_connected import dense_model

Config = dict[str, Any]

MVE = PlanOptions(kernels="mve", memory="max")
"""The fastest forms, whatever memory they take."""

CONVOLUTIONS: list[Config] = [
    *(
        {"in_shape": (1, 3, w, depth), "filters": (channels, 1, 1, depth), "activation": act}
        for w, depth, channels, act in (
            (4, 8, 16, "RELU"),
            (5, 16, 5, "NONE"),
            (3, 24, 12, "RELU"),
            (2, 32, 7, "NONE"),
            (1, 40, 9, "RELU6"),
            (3, 64, 8, "NONE"),
            (5, 67, 4, "RELU"),
            (2, 128, 4, "NONE"),
            (1, 144, 1, "RELU"),
            (1, 400, 3, "NONE"),
        )
    ),
    {"in_shape": (2, 5, 7, 24), "filters": (6, 1, 1, 24), "stride": (2, 3)},
    {"in_shape": (1, 6, 5, 16), "filters": (8, 3, 3, 16), "scale_out": 5.0},
    {"in_shape": (1, 5, 6, 20), "filters": (5, 3, 3, 20), "stride": (2, 2), "scale_out": 5.0},
    {"in_shape": (2, 5, 7, 32), "filters": (4, 3, 2, 32), "stride": (1, 3), "scale_out": 5.0},
    {"in_shape": (1, 9, 4, 16), "filters": (6, 3, 3, 16), "dilation": (2, 1), "scale_out": 5.0},
    {"in_shape": (1, 5, 6, 16), "filters": (5, 2, 3, 16), "padding": "VALID", "activation": "RELU"},
    {"in_shape": (1, 8, 8, 3), "filters": (8, 3, 3, 3), "stride": (2, 2), "activation": "RELU6"},
    {"in_shape": (1, 12, 9, 1), "filters": (8, 10, 4, 1), "stride": (2, 2), "activation": "RELU"},
]

RUNS: list[Config] = [
    {"in_shape": (1, 6, 6, 8), "filters": (6, 3, 3, 4)},
    {"in_shape": (2, 5, 7, 40), "filters": (10, 3, 2, 20), "stride": (1, 2), "activation": "RELU"},
    {"in_shape": (1, 9, 8, 3), "filters": (7, 3, 3, 3), "zero_points": (-128, -128)},
    {"in_shape": (1, 6, 5, 18), "filters": (5, 3, 3, 18), "scale_out": 1e-3, "dilation": (2, 2)},
]
"""Groups, and what goes without scratch."""

DENSE: list[Config] = [
    {"in_shape": (1, 640), "units": 12, "activation": "RELU", "zero_points": (89, -128)},
    {"in_shape": (1, 128), "units": 8, "scale_out": 0.5},
    {"in_shape": (1, 8), "units": 33},
    {"in_shape": (3, 50), "units": 6, "per_channel": True},
    {"in_shape": (4, 33), "units": 3, "activation": "RELU6"},
]


def with_mve(
    cases: Mapping[str, bytes], board: str, workdir: Path, rng: np.random.Generator
) -> None:
    if board == "host":
        assert_equal(cases, workdir, rng, samples=2, plan=MVE)
    else:
        assert_equal_emulated(cases, workdir, rng, board, plan=MVE)


def chosen_for(
    board: str, own: list[Config], others: list[Config], sample: Callable[[Any, int], Any]
) -> list[Config]:
    """On the emulator most of what the kernels tell apart; on the host, whose C does not, less."""
    taken = [config for config in others if config.get("bias") not in ("short", "minus one")]
    if board != "host":
        return [*sample(own, 10), *sample(taken, 2)]
    return [*sample(own, 3), *sample(taken, 4)]


def kernels_of(model: bytes) -> list[str]:
    """The kernels that the only operator of a model may become."""
    graph = parse_model(model).main
    lowered = lower(OpContext(graph, graph.nodes[0], Target(Kernels.MVE)))
    return [call.kernel for form in lowered.forms for call in form]


DEPTHWISE: list[Config] = [
    {"in_shape": (1, 7, 5, 64), "activation": "RELU", "zero_points": (-128, -128)},
    {"in_shape": (1, 6, 7, 16), "zero_points": (3, 4)},
    {"in_shape": (1, 5, 8, 8), "activation": "RELU6", "scale_out": 0.05},
    {"in_shape": (1, 8, 9, 24), "stride": (2, 2)},
    {"in_shape": (1, 5, 4, 20), "kernel": (2, 3), "padding": "VALID"},
    {"in_shape": (2, 6, 3, 33), "stride": (2, 2), "activation": "RELU"},
    {"in_shape": (1, 9, 1, 40), "kernel": (3, 1), "padding": "VALID"},
    {"in_shape": (1, 3, 3, 17), "scale_out": 1e-3},
    {"in_shape": (1, 9, 1, 12), "kernel": (5, 1), "padding": "VALID"},
    {"in_shape": (1, 6, 7, 5), "kernel": (5, 5)},
    {"in_shape": (1, 2, 1100, 60), "kernel": (3, 3)},  # rows wider than 16 bits can address
    {"in_shape": (1, 9, 8, 1), "kernel": (5, 4), "multiplier": 8, "stride": (2, 2)},
]

BOARDS = [
    "host",
    pytest.param("mps3-an547", marks=pytest.mark.emulator),
]


@pytest.mark.parametrize("board", BOARDS)
def test_convolutions(
    board: str, tmp_path: Path, rng: np.random.Generator, sample: Callable[[Any, int], Any]
) -> None:
    chosen = chosen_for(board, CONVOLUTIONS, test_conv_2d.CORNERS + test_conv_2d.GRID, sample)
    cases = {f"{i} {c}": conv_model(rng, **c) for i, c in enumerate(chosen)}
    with_mve(cases, board, tmp_path, rng)


@pytest.mark.parametrize("board", BOARDS)
def test_convolutions_in_runs(board: str, tmp_path: Path, rng: np.random.Generator) -> None:
    cases = {f"{i} {c}": conv_model(rng, **c) for i, c in enumerate([*RUNS, *CONVOLUTIONS[1::4]])}
    lean = PlanOptions(kernels="mve", memory="min")
    if board == "host":
        assert_equal(cases, tmp_path, rng, samples=1, plan=lean)
    else:
        assert_equal_emulated(cases, tmp_path, rng, board, plan=lean)


@pytest.mark.parametrize("board", BOARDS)
def test_fully_connected_layers(
    board: str, tmp_path: Path, rng: np.random.Generator, sample: Callable[[Any, int], Any]
) -> None:
    chosen = chosen_for(board, DENSE, test_fully_connected.CONFIGS, sample)
    cases = {f"{i} {c}": dense_model(rng, **c) for i, c in enumerate(chosen)}
    with_mve(cases, board, tmp_path, rng)


@pytest.mark.parametrize("board", BOARDS)
def test_depthwise_convolutions(
    board: str, tmp_path: Path, rng: np.random.Generator, sample: Callable[[Any, int], Any]
) -> None:
    others = test_depthwise_conv_2d.CORNERS + test_depthwise_conv_2d.GRID
    chosen = chosen_for(board, DEPTHWISE, others, sample)
    cases = {f"{i} {c}": depthwise_model(rng, **c) for i, c in enumerate(chosen)}
    with_mve(cases, board, tmp_path, rng)


@pytest.mark.emulator
@pytest.mark.parametrize("flags", ["-O0", "-O3 -fno-omit-frame-pointer", "-Os"])
def test_other_ways_to_compile(flags: str, tmp_path: Path, rng: np.random.Generator) -> None:
    """Without optimisation the plain C runs; a frame pointer takes one register more."""
    cases = {f"{i} {c}": conv_model(rng, **c) for i, c in enumerate(CONVOLUTIONS[1::6])}
    cases |= {f"{i} {c}": depthwise_model(rng, **c) for i, c in enumerate(DEPTHWISE[:8:3])}
    cases |= {f"{i} {c}": dense_model(rng, **c) for i, c in enumerate(DENSE[:1])}
    assert_equal_emulated(
        cases, tmp_path, rng, "mps3-an547", samples=1, plan=MVE, flags=flags.split()
    )


def test_sanitized(tmp_path: Path, rng: np.random.Generator) -> None:
    cases = {f"{i} {c}": conv_model(rng, **c) for i, c in enumerate(CONVOLUTIONS[3::4])}
    cases |= {f"{i} {c}": dense_model(rng, **c) for i, c in enumerate(DENSE[3:4])}
    cases |= {f"{i} {c}": depthwise_model(rng, **c) for i, c in enumerate(DEPTHWISE[3:9:2])}
    assert_equal(cases, tmp_path, rng, samples=1, sanitize=True, plan=MVE)


def test_forms(rng: np.random.Generator) -> None:
    """A form that takes no memory replaces the portable one; others stand beside it."""
    point = conv_model(rng, filters=(5, 1, 1, 4))
    assert kernels_of(point) == ["cg_conv_2d_1x1_mve_s8"]
    assert kernels_of(conv_model(rng)) == [
        "cg_conv_2d_runs_mve_s8",
        "cg_conv_2d_mve_s8",
    ]
    assert kernels_of(dense_model(rng)) == ["cg_fully_connected_mve_s8"]
    assert kernels_of(conv_model(rng, in_shape=(1, 3, 5, 4), filters=(5, 1, 1, 4))) == [
        "cg_conv_2d_1x1_mve_s8",  # as it is, and with two rows of five pixels as one
        "cg_conv_2d_1x1_mve_s8",
    ]
    lanes, taps = "cg_depthwise_conv_2d_mve_s8", "cg_depthwise_taps_mve_s8"
    assert {*kernels_of(depthwise_model(rng))} == {lanes, taps, "cg_depthwise_window_mve_s8"}
    assert kernels_of(depthwise_model(rng, kernel=(5, 1))) == [lanes, taps]
    assert kernels_of(depthwise_model(rng, kernel=(5, 5))) == [lanes]
    one_channel = depthwise_model(rng, in_shape=(1, 8, 8, 1), multiplier=4)
    assert kernels_of(one_channel) == ["cg_depthwise_conv_2d_s8", "cg_conv_2d_mve_s8"]


def test_what_the_packed_forms_cannot_do(rng: np.random.Generator) -> None:
    groups = conv_model(rng, in_shape=(1, 6, 6, 8), filters=(6, 3, 3, 4))
    assert kernels_of(groups) == ["cg_conv_2d_runs_mve_s8"]
    wrapping = conv_model(rng, bias=-(2**31), scale_out=1e-3)
    assert kernels_of(wrapping) == ["cg_conv_2d_runs_mve_s8", "cg_conv_2d_blocked_s8"]
    assert kernels_of(dense_model(rng, weight_zero=5)) == ["cg_fully_connected_s8"]
    steep = dense_model(rng, scale_out=1e-3)
    assert kernels_of(steep) == ["cg_fully_connected_s8"]
