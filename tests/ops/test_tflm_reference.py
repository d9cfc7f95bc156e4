"""`--reference tflm`: the bytes of TFLite Micro where they differ from those of LiteRT."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from codegen.boards import load_board
from codegen.errors import CodegenError
from codegen.importer import parse_model
from codegen.pipeline import BuildOptions, build
from codegen.plan import PlanOptions
from codegen.verify.program import build_host_program
from codegen.verify.session import sources_of
from tests.micro import run_micro
from tests.ops.binary import Binary, binary_model
from tests.ops.equality import input_sets
from tests.ops.unary import SYMMETRIC, Unary, random_quant, unary_model
from tests.ops.weighted import Format, Layer, weighted_model
from tests.oracle import run_reference

TFLM = PlanOptions(reference="tflm")
NARROW = Format("int8", "int8", "int32", (-3, 0, 7))
WIDE = Format("int16", "int8", "int64", scale_in=1e-3)


def assert_as_micro(data: bytes, workdir: Path, rng: np.random.Generator, differ: bool) -> None:
    """Equal to TFLite Micro; `differ`: and this model tells it from LiteRT."""
    model = parse_model(data)
    sets = input_sets(model, 6, rng)
    expected = run_micro(data, sets, len(model.main.outputs))
    built = build(model, "case", load_board("host"), BuildOptions(name="net", plan=TFLM))
    with build_host_program([sources_of(built)], workdir, sanitize=True) as program:
        for values, wanted in zip(sets, expected, strict=True):
            result = program.run(0, [v.tobytes() for v in values], reset=False)
            for raw, array in zip(result.outputs, wanted, strict=True):
                np.testing.assert_array_equal(
                    np.frombuffer(raw, array.dtype), np.asarray(array).reshape(-1)
                )
    others = run_reference(data, sets)
    same = all(
        np.array_equal(np.reshape(a, -1), np.reshape(b, -1))
        for ours, theirs in zip(expected, others, strict=True)
        for a, b in zip(ours, theirs, strict=True)
    )
    assert same is not differ


def dense(rng: np.random.Generator, form: Format, low: float) -> bytes:
    """Layers of many sizes whose outputs fill their range more or less."""
    op = "FULLY_CONNECTED"
    shapes = ((1, 4), (3, 17), (2, 3, 40), (1, 190), (30,), (2, 1, 3, 2, 8))
    scales = [float(np.float32(np.exp(rng.uniform(np.log(low), 0)))) for _ in shapes]
    cases = [
        (Layer(op, shape, 60), replace(form, scale_out=scale))
        for shape, scale in zip(shapes, scales, strict=True)
    ]
    return weighted_model(rng, *cases)


@pytest.mark.parametrize(
    ("form", "low"),
    [
        (NARROW, 0.02),
        (replace(NARROW, per_channel=False), 0.02),
        (WIDE, 1e-3),
        (replace(WIDE, per_channel=False), 1e-3),
        (replace(WIDE, bias="int32"), 1e-3),
        (replace(WIDE, bias=""), 1e-3),
    ],
)
def test_fully_connected(
    form: Format, low: float, tmp_path: Path, rng: np.random.Generator
) -> None:
    assert_as_micro(dense(rng, form, low), tmp_path, rng, differ=True)


def test_weights_with_a_zero_point_are_refused(rng: np.random.Generator) -> None:
    form = replace(NARROW, per_channel=False, zero_points=(0, 5, 0))
    data = weighted_model(rng, (Layer("FULLY_CONNECTED", (1, 8)), form))
    with pytest.raises(CodegenError, match=r"FULLY_CONNECTED .*leave out --reference tflm"):
        build(parse_model(data), "case", load_board("host"), BuildOptions(plan=TFLM))


@pytest.mark.parametrize("dtype", ["int8", "int16"])
def test_relu6(dtype: str, tmp_path: Path, rng: np.random.Generator) -> None:
    """It does not look at the output's scale."""
    cases = [
        Unary("RELU6", *(random_quant(rng, 1e-3, 0.3, dtype) for _ in "xy"), {}, (dtype, dtype))
        for _ in range(12)
    ]
    assert_as_micro(unary_model(cases), tmp_path, rng, differ=True)


def test_int16_factors_are_products_in_double(tmp_path: Path, rng: np.random.Generator) -> None:
    types = ("int16", "int16")

    def quant() -> tuple[float, int]:
        return random_quant(rng, 1e-5, 1e-2, "int16")

    unary = [
        Unary(op, quant(), quant(), options, types, (2000,))
        for op, options in (("RELU", {}), ("LEAKY_RELU", {"alpha": 0.1}))
        for _ in range(14)
    ]
    assert_as_micro(unary_model(unary), tmp_path / "unary", rng, differ=True)
    binary = [Binary("MUL", (900,), (900,), types, (quant(), quant(), quant())) for _ in range(40)]
    assert_as_micro(binary_model(binary, rng), tmp_path / "binary", rng, differ=True)


def test_int16_softmax(tmp_path: Path, rng: np.random.Generator) -> None:
    cases = [
        Unary(
            "SOFTMAX",
            random_quant(rng, 1e-5, 1e-3, "int16"),
            SYMMETRIC,
            {"beta": 1.0},
            ("int16", "int16"),
            (100, n),
        )
        for n in (2, 2, 2, 3, 3, 3, 5, 10, 50)
    ]
    assert_as_micro(unary_model(cases), tmp_path, rng, differ=True)


def test_what_does_not_differ(tmp_path: Path, rng: np.random.Generator) -> None:
    """8-bit curves and sums, and convolutions of either width."""
    curves = [
        Unary(op, random_quant(rng), y, options, shape=(10, 25))
        for op, y, options in (
            ("LOGISTIC", (1 / 256, -128), {}),
            ("TANH", (1 / 128, 0), {}),
            ("SOFTMAX", (1 / 256, -128), {"beta": 1.0}),
            ("HARD_SWISH", (0.1, 3), {}),
            ("LEAKY_RELU", (0.1, 3), {"alpha": 0.3}),
        )
        for _ in range(4)
    ]
    assert_as_micro(unary_model(curves), tmp_path / "curves", rng, differ=False)
    layers = [
        (Layer(op, (1, 6, 7, 4), 6, multiplier=2), form)
        for op in ("CONV_2D", "DEPTHWISE_CONV_2D")
        for form in (NARROW, WIDE)
    ]
    assert_as_micro(weighted_model(rng, *layers), tmp_path / "layers", rng, differ=False)
    sums = [
        Binary(op, types=(dtype, dtype), quants=((0.05, 0), (0.08, 0), (0.1, 0)))
        for op in ("ADD", "SUB")
        for dtype in ("int8", "int16")
    ]
    assert_as_micro(binary_model(sums, rng), tmp_path / "sums", rng, differ=False)
