"""The kernels for the DSP extension: in plain C on the host, in assembly on emulated cores."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen.importer import parse_model
from codegen.ops import conv_2d, conv_2d_dsp, lower
from codegen.ops.base import Call, OpContext
from codegen.plan import PlanOptions
from codegen.target import Kernels, Target
from tests.kernels.test_mve import RUNS
from tests.ops import test_conv_2d, test_depthwise_conv_2d, test_fully_connected
from tests.ops.binary import Binary, binary_model, quant_cases, shape_cases
from tests.ops.emulated import assert_equal_emulated
from tests.ops.equality import assert_equal
from tests.ops.test_conv_2d import conv_model
from tests.ops.test_depthwise_conv_2d import depthwise_model
from tests.ops.test_fully_connected import dense_model

CONVOLUTIONS: list[dict[str, Any]] = [
    {"in_shape": (1, 1, 1, 40), "filters": (6, 1, 1, 40)},
    {"in_shape": (1, 1, 2, 8), "filters": (5, 1, 1, 8), "activation": "RELU"},
    {"in_shape": (1, 1, 5, 9), "filters": (2, 1, 1, 9), "activation": "RELU6"},
    {"in_shape": (1, 6, 7, 12), "filters": (9, 3, 3, 12), "zero_points": (4, -128)},
    {"in_shape": (1, 6, 7, 12), "filters": (8, 3, 3, 12), "activation": "RELU", "scale_out": 9.0},
    {"in_shape": (1, 9, 8, 3), "filters": (8, 3, 3, 3), "stride": (2, 2), "activation": "RELU"},
    {"in_shape": (1, 20, 10, 1), "filters": (6, 10, 4, 1), "zero_points": (83, -128)},
    {"in_shape": (2, 5, 4, 72), "filters": (4, 1, 1, 72), "activation": "RELU"},
    {"in_shape": (1, 5, 5, 8), "filters": (4, 3, 3, 8), "weights": -127, "zero_points": (-128, 0)},
    {"in_shape": (1, 8, 8, 8), "filters": (5, 3, 3, 8), "dilation": (2, 1), "padding": "VALID"},
    {"in_shape": (1, 8, 9, 8), "filters": (4, 3, 3, 8), "dilation": (2, 2)},
    {"in_shape": (1, 7, 11, 2), "filters": (4, 4, 5, 2), "stride": (3, 2), "dilation": (2, 1)},
]
"""What decides between the ways through the kernel: channels, groups, pixels, borders, clamps."""

APART: list[dict[str, Any]] = [
    {"in_shape": (1, 3, 3, 4), "filters": (3, 1, 1, 4), "weights": -128, "activation": "RELU"},
    {"in_shape": (1, 5, 4, 12), "filters": (5, 3, 3, 12), "least_weight": -128},
    {"in_shape": (1, 4, 5, 20), "filters": (4, 1, 1, 20), "least_weight": -128},
    {"in_shape": (1, 6, 5, 8), "filters": (6, 3, 3, 8), "least_weight": -128, "activation": "RELU"},
    {"in_shape": (1, 1, 4, 600), "filters": (3, 1, 1, 600), "weights": 127, "scale_out": 9.0},
]
"""Convolutions whose weights are kept apart."""

DEPTHWISE: list[dict[str, Any]] = [
    {"in_shape": (1, 5, 2, 8), "activation": "RELU", "zero_points": (-128, -128)},
    {"in_shape": (2, 6, 9, 4), "zero_points": (9, -128), "activation": "RELU"},
    {"in_shape": (1, 7, 12, 12), "activation": "RELU6", "scale_out": 0.02},
    {"in_shape": (1, 8, 8, 4), "padding": "VALID"},
    {"in_shape": (1, 1, 6, 4)},
    {"in_shape": (1, 6, 7, 8), "activation": "RELU"},
    {"in_shape": (1, 6, 7, 9), "activation": "RELU6"},
    {"in_shape": (2, 9, 8, 4), "stride": (2, 2), "zero_points": (5, -128), "activation": "RELU"},
    {"in_shape": (1, 1, 1, 12)},
    {"in_shape": (1, 30, 1, 40), "kernel": (3, 1), "padding": "VALID", "activation": "RELU"},
    {"in_shape": (1, 24, 1, 8), "kernel": (10, 1), "padding": "VALID"},
    {"in_shape": (1, 1, 20, 8), "kernel": (1, 7), "activation": "RELU"},
    {"in_shape": (1, 9, 9, 4), "kernel": (5, 5), "stride": (2, 1)},
    {"in_shape": (1, 11, 9, 4), "kernel": (5, 5), "dilation": (2, 1)},
    {"in_shape": (1, 20, 9, 1), "kernel": (10, 8), "multiplier": 8, "stride": (2, 2)},
    {"activation": "RELU", "zero_points": (3, -128), "scale_out": 4e-4},
    {"activation": "RELU6", "zero_points": (3, -128), "scale_out": 4e-4, "stride": (2, 2)},
]

DENSE: list[dict[str, Any]] = [
    {"in_shape": (1, 640), "units": 12, "activation": "RELU", "zero_points": (89, -128)},
    {"in_shape": (1, 128), "units": 8, "scale_out": 0.5},
    {"in_shape": (1, 8), "units": 33},
    {"in_shape": (3, 50), "units": 6, "per_channel": True},
    {"in_shape": (4, 33), "units": 3, "activation": "RELU6"},
    {"in_shape": (2, 36), "units": 10, "per_channel": True, "activation": "RELU"},
    {"in_shape": (2, 36), "units": 7, "weights": -128},
    {"in_shape": (1, 1200), "units": 5, "least_weight": -128, "scale_out": 4.0},
    {"in_shape": (2, 1100), "units": 6, "per_channel": True, "weights": -128, "scale_out": 9.0},
]


def with_dsp(
    cases: Mapping[str, bytes],
    board: str,
    workdir: Path,
    rng: np.random.Generator,
    memory: str = "max",
    weights_growth: float = 1.1,
) -> None:
    """By default in the fastest forms, whatever memory they take."""
    plan = PlanOptions(kernels="dsp", memory=memory, weights_growth=weights_growth)
    if board == "host":
        assert_equal(cases, workdir, rng, samples=1, sanitize=True, plan=plan)
    else:
        assert_equal_emulated(cases, workdir, rng, board, plan=plan)


def kernels_of(model: bytes, weights_growth: float = 1.1) -> set[str]:
    """The kernels that the only operator of a model may become."""
    graph = parse_model(model).main
    target = Target(Kernels.DSP, weights_growth=weights_growth)
    lowered = lower(OpContext(graph, graph.nodes[0], target))
    return {call.kernel for form in lowered.forms for call in form}


BOARDS = ["host", pytest.param("mps2-an386", marks=pytest.mark.emulator)]


@pytest.mark.parametrize("board", BOARDS)
def test_convolutions(
    board: str, tmp_path: Path, rng: np.random.Generator, sample: Callable[[Any, int], Any]
) -> None:
    others = [*test_conv_2d.CORNERS, *test_conv_2d.GRID]
    chosen = [*CONVOLUTIONS, *APART, *sample(others, 3)]
    cases = {f"{i} {c}": conv_model(rng, **c) for i, c in enumerate(chosen)}
    with_dsp(cases, board, tmp_path, rng)


def take_only(monkeypatch: pytest.MonkeyPatch, word: str) -> None:
    """Let convolutions have those forms alone whose names have a word in them."""

    def chosen(*given: Any) -> tuple[Call, ...]:
        return tuple(f for f in conv_2d_dsp.convolution_forms(*given) if word in f.kernel)

    monkeypatch.setitem(conv_2d.FAST_FORMS, Kernels.DSP, chosen)


@pytest.mark.parametrize("board", BOARDS)
def test_convolutions_without_a_column(
    board: str, tmp_path: Path, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    take_only(monkeypatch, "_lean_")
    chosen = [*CONVOLUTIONS[1::2], *APART]
    cases = {f"{i} {c}": conv_model(rng, **c) for i, c in enumerate(chosen)}
    assert all(any("_lean_" in kernel for kernel in kernels_of(case)) for case in cases.values())
    with_dsp(cases, board, tmp_path, rng)


@pytest.mark.parametrize("board", BOARDS)
def test_convolutions_in_runs(board: str, tmp_path: Path, rng: np.random.Generator) -> None:
    cases = {f"{i} {c}": conv_model(rng, **c) for i, c in enumerate([*RUNS, *CONVOLUTIONS[1::4]])}
    with_dsp(cases, board, tmp_path, rng, memory="min")


WINOGRAD: list[dict[str, Any]] = [
    {"in_shape": (1, 5, 9, 8), "filters": (5, 3, 3, 8), "zero_points": (4, -128)},
    {"in_shape": (2, 4, 11, 16), "filters": (4, 3, 3, 16), "activation": "RELU", "scale_out": 5.0},
    {"in_shape": (1, 6, 19, 24), "filters": (2, 3, 3, 24), "padding": "VALID", "weights": -128},
    {"in_shape": (1, 1, 2, 8), "filters": (3, 3, 3, 8), "activation": "RELU6"},
    {"in_shape": (1, 3, 3, 8), "filters": (1, 3, 3, 8), "padding": "VALID"},
]


@pytest.mark.parametrize("board", BOARDS)
def test_convolutions_by_winograds_algorithm(
    board: str, tmp_path: Path, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    take_only(monkeypatch, "_winograd_")
    cases = {f"{i} {c}": conv_model(rng, **c) for i, c in enumerate(WINOGRAD)}
    with_dsp(cases, board, tmp_path, rng, weights_growth=4)


def test_winograds_algorithm_needs_room_for_weights(rng: np.random.Generator) -> None:
    winograd = "cg_conv_2d_winograd_dsp_s8"
    for config in WINOGRAD:
        model = conv_model(rng, **{**config, "filters": (4, *config["filters"][1:])})
        assert winograd in kernels_of(model, 3.6) and winograd not in kernels_of(model, 3.5)
    for other in ({"in_shape": (1, 5, 9, 12), "filters": (4, 3, 3, 12)}, {"stride": (2, 2)}):
        assert winograd not in kernels_of(conv_model(rng, **{**WINOGRAD[0], **other}), 9)


@pytest.mark.parametrize("board", BOARDS)
def test_depthwise_convolutions(
    board: str, tmp_path: Path, rng: np.random.Generator, sample: Callable[[Any, int], Any]
) -> None:
    others = [*test_depthwise_conv_2d.CORNERS, *test_depthwise_conv_2d.GRID]
    chosen = [*DEPTHWISE, *sample(others, 3)]
    cases = {f"{i} {c}": depthwise_model(rng, **c) for i, c in enumerate(chosen)}
    with_dsp(cases, board, tmp_path, rng)


@pytest.mark.parametrize("memory", ["min", "max"])
@pytest.mark.parametrize("board", BOARDS)
def test_dense_layers(
    board: str,
    memory: str,
    tmp_path: Path,
    rng: np.random.Generator,
    sample: Callable[[Any, int], Any],
) -> None:
    chosen = [*DENSE, *sample(test_fully_connected.CONFIGS, 3)]
    cases = {
        f"{i} {c}": dense_model(rng, **{"least_weight": -127, **c}) for i, c in enumerate(chosen)
    }
    with_dsp(cases, board, tmp_path, rng, memory)


def test_convolutions_without_a_packed_form(rng: np.random.Generator) -> None:
    left: list[dict[str, Any]] = [
        {"in_shape": (1, 6, 6, 8), "filters": (6, 3, 3, 4)},
        {"bias": 2**31 - 1, "zero_points": (5, -128)},
        {"scale_out": 1e-3},
    ]
    for config in (*CONVOLUTIONS, *APART, *left):
        kernels = kernels_of(conv_model(rng, **config))
        packed = any("_dsp_" in kernel and "_runs_" not in kernel for kernel in kernels)
        assert packed == (config not in left), config
        assert any("_apart_dsp_" in kernel for kernel in kernels) == (config in APART), config


def test_depthwise_convolutions_without_a_packed_form(rng: np.random.Generator) -> None:
    left: list[dict[str, Any]] = [{"multiplier": 2}, {"bias": -(2**31)}, {"scale_out": 1e-3}]
    for config in (*DEPTHWISE, *left):
        packed = any("_dsp_" in kernel for kernel in kernels_of(depthwise_model(rng, **config)))
        assert packed == (config not in left), config


def test_dense_layers_without_a_packed_form(rng: np.random.Generator) -> None:
    left: list[dict[str, Any]] = [
        {"weight_zero": 5},
        {"bias": 2**27},
        {"scale_out": 1e-6},
    ]
    for config in (*DENSE, *left):
        model = dense_model(rng, **{"least_weight": -127, **config})
        packed = any("_dsp_" in kernel for kernel in kernels_of(model))
        assert packed == (config not in left), config


@pytest.mark.parametrize("board", BOARDS)
def test_additions(board: str, tmp_path: Path, rng: np.random.Generator) -> None:
    models = {}
    for op in ("ADD", "SUB"):
        case = Binary(op)
        quants = ((0.02, -128), (0.05, 7), (0.04, -128))
        fused = [replace(case, activation="RELU", quants=q) for q in (quants, case.quants)]
        models[f"{op} shapes"] = binary_model(shape_cases(case)[::6], rng)
        models[f"{op} values"] = binary_model([*fused, *quant_cases(case, rng)], rng)
    with_dsp(models, board, tmp_path, rng)


def test_additions_take_a_table(rng: np.random.Generator) -> None:
    assert kernels_of(binary_model([Binary("ADD")], rng)) == {"cg_add_table_s8"}
