"""UNIDIRECTIONAL_SEQUENCE_LSTM and LSTM against the reference, over runs that follow each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen.boards import load_board
from codegen.errors import CodegenError
from codegen.importer import parse_model
from codegen.pipeline import BuildOptions, build
from codegen.plan import PlanOptions
from tests.ops.sequences import assert_sequences_equal
from tests.tflite_builder import ModelBuilder


@dataclass(frozen=True)
class Net:
    """One layer; `outputs` differs from `units` by a projection.

    `hybrid`: int8 matrices with float data.
    """

    dtype: str = "int8"
    hybrid: bool = False
    asymmetric: bool = False
    steps: int = 3
    batch: int = 1
    inputs: int = 5
    units: int = 4
    outputs: int | None = None
    one_step: bool = False
    time_major: bool = False
    coupled: bool = False
    peepholes: bool = False
    norms: bool = False
    cell_clip: float = 0.0
    proj_clip: float = 0.0
    cell_exponent: int = -11
    activation: str = "TANH"
    zero_points: tuple[int, int, int] = (-3, 7, -5)  # of input, output and units


class _Writer:
    """Writes a `Net` as a model."""

    def __init__(self, net: Net, rng: np.random.Generator) -> None:
        self.net, self.rng, self.builder = net, rng, ModelBuilder()
        self.real = net.dtype == "float32"

    def constant(self, shape: Sequence[int], dtype: str, scale: float) -> int:
        if self.real and not (self.net.hybrid and dtype == "int8"):
            return self.builder.tensor(shape, "float32", data=self.rng.normal(0, 0.5, shape))
        limit = {"int8": 128, "int16": 20000, "int32": 3000}[dtype]
        data = self.rng.integers(-limit + 1, limit, shape)
        return self.builder.tensor(shape, dtype, scale, data=data)

    def matrices(self, columns: int) -> list[int]:
        scales = self.rng.uniform(0.004, 0.02, 4)
        found = [self.constant((self.net.units, columns), "int8", s) for s in scales]
        return [-1, *found[1:]] if self.net.coupled else found

    def vectors(self, count: int, dtype: str, scale: float) -> list[int]:
        return [self.constant((self.net.units,), dtype, scale) for _ in range(count)]

    def model(self) -> bytes:
        net, builder = self.net, self.builder
        outputs = net.outputs or net.units
        x_zero, y_zero, unit_zero = net.zero_points
        lead = (net.steps, net.batch) if net.time_major else (net.batch, net.steps)
        lead = (net.batch,) if net.one_step else lead
        q_x = {} if self.real else {"scale": 0.03, "zero_point": x_zero}
        q_y = {} if self.real else {"scale": 0.008, "zero_point": y_zero}
        x = builder.tensor((*lead, net.inputs), net.dtype, **q_x)
        weights = [*self.matrices(net.inputs), *self.matrices(outputs)]
        look_type, look_scale = ("int8", 0.008) if net.hybrid else ("int16", 2.0**-13)
        looks = self.vectors(3, look_type, look_scale) if net.peepholes else [-1] * 3
        looks = [-1, *looks[1:]] if net.coupled else looks
        biases = self.vectors(4, "int32", 1e-4)
        biases = [-1, *biases[1:]] if net.coupled else biases
        projection = [-1, -1]
        if net.outputs:
            projection[0] = self.constant((outputs, net.units), "int8", 0.01)
            projection[1] = self.constant((outputs,), "int32", 1e-4)
        state = builder.tensor((net.batch, outputs), net.dtype, **q_y, is_variable=True)
        cell_type, cell_scale = (
            ("float32", None) if self.real else ("int16", 2.0**net.cell_exponent)
        )
        cell = builder.tensor((net.batch, net.units), cell_type, cell_scale, is_variable=True)
        norms = self.vectors(4, "int16", 1e-4) if net.norms else [-1] * 4
        norms = [-1, *norms[1:]] if net.coupled else norms
        scales = self.rng.uniform(1e-5, 4e-4, 4) if net.norms else [None] * 4
        inner = [builder.tensor((0,), "int16", scale) for scale in scales]
        inner.append(builder.tensor((0,), "int8", 0.007, unit_zero))
        y = builder.tensor((*lead, outputs), net.dtype, **q_y)
        builder.op(
            "LSTM" if net.one_step else "UNIDIRECTIONAL_SEQUENCE_LSTM",
            [x, *weights, *looks, *biases, *projection, state, cell, *norms],
            [y],
            intermediates=() if self.real else inner,
            fused_activation_function=net.activation,
            cell_clip=net.cell_clip,
            proj_clip=net.proj_clip,
            asymmetric_quantize_inputs=net.asymmetric,
            **({} if net.one_step else {"time_major": net.time_major}),
        )
        return builder.build([x], [y])


def lstm_model(net: Net, rng: np.random.Generator) -> bytes:
    return _Writer(net, rng).model()


FORMS = {
    "plain": Net(),
    "one step": Net(one_step=True, batch=2),
    "time major": Net(time_major=True, batch=3),
    "batch": Net(batch=3, steps=4),
    "coupled": Net(coupled=True),
    "peepholes": Net(peepholes=True),
    "clipped": Net(cell_clip=0.4),
    "projected": Net(outputs=3),
    "projected and clipped": Net(outputs=6, proj_clip=0.3, batch=2),
    "coupled, projected": Net(outputs=3, coupled=True, cell_clip=2.0, one_step=True),
    "coupled, peepholes": Net(coupled=True, peepholes=True, cell_clip=2.0, one_step=True),
    "peepholes, projected": Net(peepholes=True, outputs=3, batch=2),
    "peepholes, projected, time major": Net(peepholes=True, outputs=3, batch=3, time_major=True),
    "one unit": Net(inputs=1, units=1, steps=7),
    "normalised": Net(norms=True, units=7, inputs=3),
    "normalised, coupled": Net(norms=True, coupled=True, outputs=2, batch=2),
    "normalised, peepholes": Net(norms=True, peepholes=True, units=8, time_major=True),
    "everything": Net(outputs=3, coupled=True, peepholes=True, norms=True, one_step=True, batch=2),
}


Sample = Callable[[Any, int], Any]
IN_A_PLAIN_RUN = 7  # of each sweep


def test_int8(tmp_path: Path, rng: np.random.Generator, sample: Sample) -> None:
    nets = dict(FORMS)
    nets |= {f"cell 2^{e}": Net(cell_exponent=e) for e in (-17, -15, -13, -9, -8)}
    nets |= {f"zero points {z}": Net(zero_points=(z, z, z)) for z in (-128, 127, 0)}
    chosen = sample(list(nets.items()), IN_A_PLAIN_RUN)
    models = {name: lstm_model(net, rng) for name, net in chosen}
    assert_sequences_equal(models, tmp_path, rng, steps=50, sanitize=True)


def test_float32(tmp_path: Path, rng: np.random.Generator, sample: Sample) -> None:
    nets = {name: replace(net, dtype="float32") for name, net in FORMS.items()}
    nets["relu"] = Net("float32", activation="RELU6", cell_clip=3.0)
    chosen = sample(list(nets.items()), IN_A_PLAIN_RUN)
    models = {name: lstm_model(net, rng) for name, net in chosen}
    assert_sequences_equal(models, tmp_path, rng, steps=50, sanitize=True, tolerance=1e-5)


def test_hybrid(tmp_path: Path, rng: np.random.Generator, sample: Sample) -> None:
    """A bit of difference in a float can become one of a code, which is what is allowed here."""
    nets = {name: replace(net, dtype="float32", hybrid=True) for name, net in FORMS.items()}
    nets |= {f"{k}, asymmetric": replace(v, asymmetric=True) for k, v in nets.items()}
    chosen = sample(list(nets.items()), IN_A_PLAIN_RUN)
    models = {name: lstm_model(net, rng) for name, net in chosen}
    assert_sequences_equal(models, tmp_path, rng, steps=50, sanitize=True, tolerance=1e-5)


@pytest.mark.parametrize(
    ("net", "words"),
    [
        (Net(cell_exponent=-31), r"has the scale 4.6.*e-10; use a power of two from 2\^-30"),
        (Net(cell_exponent=-17, coupled=True), r"coupled gates are undefined; .* from 2\^-15"),
        (Net(peepholes=True, outputs=6), "int8 peepholes of fewer units than outputs"),
        (Net(activation="RELU"), "another activation than TANH; use tanh"),
        (Net("float32", activation="SIGN_BIT"), "the activation SIGN_BIT is not supported"),
    ],
)
def test_refusals(net: Net, words: str, rng: np.random.Generator) -> None:
    with pytest.raises(CodegenError, match=words) as caught:
        build(parse_model(lstm_model(net, rng)), "case", load_board("host"))
    assert str(caught.value).startswith("operator 0 ") and "\n" not in str(caught.value)


def test_codes_of_tflite_micro_are_refused(rng: np.random.Generator) -> None:
    model = parse_model(lstm_model(Net(), rng))
    options = BuildOptions(plan=PlanOptions(reference="tflm"))
    with pytest.raises(CodegenError, match="in other steps; leave out --reference tflm"):
        build(model, "case", load_board("host"), options)
