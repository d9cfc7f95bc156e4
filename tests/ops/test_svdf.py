"""SVDF against the reference, over runs that follow each other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen.boards import load_board
from codegen.errors import CodegenError
from codegen.importer import parse_model
from codegen.pipeline import build
from codegen.verify.program import build_host_program
from codegen.verify.session import sources_of
from tests.micro import run_micro
from tests.ops.equality import difference, random_input
from tests.ops.sequences import assert_sequences_equal
from tests.paths import app_models, requires_models
from tests.tflite_builder import ModelBuilder


@dataclass(frozen=True)
class Layer:
    """One operator. `state` is its type with int8 data."""

    data: str = "int8"
    weights: str = "int8"
    state: str = "int16"
    batch: int = 1
    inputs: int = 7
    units: int = 5
    rank: int = 1
    memory: int = 4
    bias: bool = True
    activation: str = "RELU"
    asymmetric: bool = False
    zero_points: tuple[int, int, int] = (-3, 5, 7)  # of input, output and int8 state
    state_scale: float = 0.004
    output_scale: float = 0.03


def svdf_model(layer: Layer, rng: np.random.Generator) -> bytes:
    builder, real = ModelBuilder(), layer.data == "float32"
    x_zero, y_zero, state_zero = layer.zero_points
    filters = layer.units * layer.rank

    def matrix(columns: int, dtype: str, scale: float) -> int:
        if dtype == "float32":
            data = rng.normal(0, 0.3, (filters, columns))
            return builder.tensor((filters, columns), dtype, data=data)
        limit = {"int8": 127, "int16": 32767}[dtype]
        data = rng.integers(-limit, limit + 1, (filters, columns))
        return builder.tensor((filters, columns), dtype, scale, data=data)

    time_type = layer.weights if real else layer.state
    x = builder.tensor((layer.batch, layer.inputs), layer.data, *(() if real else (0.03, x_zero)))
    features = matrix(layer.inputs, layer.weights, 0.01)
    time = matrix(layer.memory, time_type, 0.01 if time_type == "int8" else 5e-5)
    bias = -1
    if layer.bias:
        spread = 0.5 if real else 4e5 * (0.001 if time_type == "int8" else 1)
        time_scale = 0.01 if time_type == "int8" else 5e-5
        kind, scale = ("float32", None) if real else ("int32", layer.state_scale * time_scale)
        bias = builder.tensor((layer.units,), kind, scale, data=rng.normal(0, spread, layer.units))
    state = builder.tensor(
        (layer.batch, filters * layer.memory),
        "float32" if real else layer.state,
        None if real else layer.state_scale,
        state_zero if layer.state == "int8" else 0,
        is_variable=True,
    )
    y_quant = () if real else (layer.output_scale, y_zero)
    y = builder.tensor((layer.batch, layer.units), layer.data, *y_quant)
    builder.op(
        "SVDF",
        [x, features, time, bias, state],
        [y],
        rank=layer.rank,
        fused_activation_function=layer.activation,
        asymmetric_quantize_inputs=layer.asymmetric,
    )
    return builder.build([x], [y])


SHAPES = {
    "plain": Layer(),
    "rank 2": Layer(rank=2),
    "rank 3, batch 3": Layer(rank=3, batch=3, inputs=9, units=4),
    "no memory": Layer(memory=1, batch=2),
    "one of each": Layer(inputs=1, units=1, memory=1),
    "long memory": Layer(memory=32, inputs=40, units=3, batch=2),
    "no bias": Layer(bias=False, rank=2),
}


Sample = Callable[[Any, int], Any]
IN_A_PLAIN_RUN = 5  # of each sweep


def test_float32(tmp_path: Path, rng: np.random.Generator, sample: Sample) -> None:
    layers = {k: replace(v, data="float32", weights="float32") for k, v in SHAPES.items()}
    for activation in ("NONE", "RELU6", "RELU_N1_TO_1"):
        layers[activation] = Layer("float32", "float32", activation=activation)
    chosen = sample(list(layers.items()), IN_A_PLAIN_RUN)
    models = {name: svdf_model(layer, rng) for name, layer in chosen}
    assert_sequences_equal(models, tmp_path, rng, steps=50, sanitize=True, tolerance=1e-5)


def test_hybrid(tmp_path: Path, rng: np.random.Generator, sample: Sample) -> None:
    layers = {k: replace(v, data="float32") for k, v in SHAPES.items()}
    layers |= {f"{k}, asymmetric": replace(v, asymmetric=True) for k, v in layers.items()}
    chosen = sample(list(layers.items()), IN_A_PLAIN_RUN)
    models = {name: svdf_model(layer, rng) for name, layer in chosen}
    assert_sequences_equal(models, tmp_path, rng, steps=50, sanitize=True, tolerance=1e-5)


def test_int8_with_int16_state(tmp_path: Path, rng: np.random.Generator, sample: Sample) -> None:
    layers = dict(SHAPES)
    layers |= {f"zero points {z}": Layer(zero_points=(z, z, 0)) for z in (-128, 127, 0)}
    for scale in (1e-5, 1e-3, 0.1, 10.0):
        layers[f"state scale {scale}"] = Layer(state_scale=scale, output_scale=scale * 10)
    chosen = sample(list(layers.items()), IN_A_PLAIN_RUN)
    models = {name: svdf_model(layer, rng) for name, layer in chosen}
    assert_sequences_equal(models, tmp_path, rng, steps=50, sanitize=True)


def assert_as_micro(data: bytes, workdir: Path, rng: np.random.Generator, steps: int) -> None:
    """Equal to TFLite Micro for some steps, and again from the first one after a reset.

    It alone defines int8 state, which LiteRT takes for int16; with int16 both are equal.
    """
    model = parse_model(data)
    tensors = [model.main.tensors[t] for t in model.main.inputs]
    sets = [[random_input(t, rng) for t in tensors] for _ in range(steps)]
    expected = run_micro(data, sets, len(model.main.outputs))
    built = build(model, "case", load_board("host"))
    with build_host_program([sources_of(built)], workdir, sanitize=True) as program:
        for count in (steps // 2, steps):
            for step, (values, wanted) in enumerate(zip(sets[:count], expected, strict=False)):
                raw = [value.tobytes() for value in values]
                result = program.run(0, raw, reset=step == 0)
                assert not difference(result.status, result.outputs, wanted, 0), step


@pytest.mark.parametrize(
    "layer",
    [
        Layer(rank=2, batch=3),
        Layer(state="int8", state_scale=0.3),
        Layer(state="int8", state_scale=0.3, rank=2, batch=2, zero_points=(-128, 127, -90)),
        Layer(state="int8", state_scale=0.01, rank=3, units=2, zero_points=(127, -128, 100)),
    ],
)
def test_tflite_micro(layer: Layer, tmp_path: Path, rng: np.random.Generator) -> None:
    assert_as_micro(svdf_model(layer, rng), tmp_path, rng, steps=50)


@requires_models
def test_keyword_spotter(tmp_path: Path, rng: np.random.Generator) -> None:
    """Seven layers with int8 state behind each other."""
    (path,) = (p for p in app_models() if p.stem == "tflm__keyword_scrambled_8bit")
    assert_as_micro(path.read_bytes(), tmp_path, rng, steps=50)


@pytest.mark.parametrize(
    ("layer", "words"),
    [
        (Layer(activation="NONE"), "int8 SVDF is defined with RELU alone; use RELU"),
        (Layer("float32", "float32", activation="TANH"), "the fused activation TANH"),
    ],
)
def test_refusals(layer: Layer, words: str, rng: np.random.Generator) -> None:
    with pytest.raises(CodegenError, match=words) as caught:
        build(parse_model(svdf_model(layer, rng)), "case", load_board("host"))
    assert str(caught.value).startswith("operator 0 ") and "\n" not in str(caught.value)


def test_a_new_state_takes_the_place_of_the_old_one(rng: np.random.Generator) -> None:
    """The filters keep 5 * 3 * 40 results of 2 bytes, none of which the arena holds."""
    layer = Layer(units=5, rank=3, memory=40)
    plan = build(parse_model(svdf_model(layer, rng)), "case", load_board("host")).plan
    assert [layer.note for layer in plan.layers] == [
        "in place",
        "no code: its bytes lie where they are needed",
    ]
    assert sum(plan.state_bytes.values()) >= 1200 > 100 > plan.total_arena
