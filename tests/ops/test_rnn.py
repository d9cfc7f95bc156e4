"""RNN and UNIDIRECTIONAL_SEQUENCE_RNN against the reference, over runs that follow each other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from codegen.boards import load_board
from codegen.errors import CodegenError
from codegen.importer import parse_model
from codegen.pipeline import build
from tests.ops.sequences import assert_sequences_equal
from tests.tflite_builder import ModelBuilder


@dataclass(frozen=True)
class Rnn:
    """One layer; `steps` 0 is the operator of one step."""

    steps: int = 3
    batch: int = 1
    inputs: int = 5
    units: int = 4
    weights: str = "float32"
    time_major: bool = False
    activation: str = "TANH"
    asymmetric: bool = False


def rnn_model(net: Rnn, rng: np.random.Generator) -> bytes:
    builder = ModelBuilder()
    lead = (net.steps, net.batch) if net.time_major else (net.batch, net.steps)
    lead = lead if net.steps else (net.batch,)

    def matrix(columns: int) -> int:
        shape = (net.units, columns)
        if net.weights == "float32":
            return builder.tensor(shape, "float32", data=rng.normal(0, 0.4, shape))
        return builder.tensor(shape, "int8", 0.004, data=rng.integers(-127, 128, shape))

    x = builder.tensor((*lead, net.inputs), "float32")
    operands = [x, matrix(net.inputs), matrix(net.units)]
    operands.append(builder.tensor((net.units,), "float32", data=rng.normal(0, 1, net.units)))
    operands.append(builder.tensor((net.batch, net.units), "float32", is_variable=True))
    y = builder.tensor((*lead, net.units), "float32")
    builder.op(
        "UNIDIRECTIONAL_SEQUENCE_RNN" if net.steps else "RNN",
        operands,
        [y],
        fused_activation_function=net.activation,
        asymmetric_quantize_inputs=net.asymmetric,
        **({"time_major": net.time_major} if net.steps else {}),
    )
    return builder.build([x], [y])


FORMS = {
    "plain": Rnn(),
    "batch": Rnn(batch=3, inputs=9, units=7),
    "time major": Rnn(batch=2, time_major=True),
    "one step": Rnn(steps=0, batch=2),
    "one of each": Rnn(steps=1, inputs=1, units=1),
    "clamped": Rnn(activation="RELU6"),
}


@pytest.mark.parametrize("weights", ["float32", "int8"])
def test_equal(weights: str, tmp_path: Path, rng: np.random.Generator) -> None:
    models = {k: rnn_model(replace(v, weights=weights), rng) for k, v in FORMS.items()}
    assert_sequences_equal(models, tmp_path, rng, steps=50, sanitize=True, tolerance=1e-5)


def test_asymmetric(tmp_path: Path, rng: np.random.Generator) -> None:
    """Clamped: where tanh is near -1 and 1 its last bit decides between two zero points."""
    coded = Rnn(weights="int8", asymmetric=True, activation="RELU_N1_TO_1")
    nets = {
        "plain": coded,
        "relu": replace(coded, activation="RELU6"),
        "batch": replace(coded, batch=3, inputs=9, units=7),
        "one step": replace(coded, steps=0, batch=2),
    }
    models = {name: rnn_model(net, rng) for name, net in nets.items()}
    assert_sequences_equal(models, tmp_path, rng, steps=50, sanitize=True, tolerance=1e-5)


def test_another_activation_is_refused(rng: np.random.Generator) -> None:
    with pytest.raises(CodegenError, match=r"operator 0 UNI.*activation SIGN_BIT .*; use tanh"):
        data = rnn_model(Rnn(activation="SIGN_BIT"), rng)
        build(parse_model(data), "case", load_board("host"))
