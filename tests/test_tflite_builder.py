"""The builder's files load and run in LiteRT and mean what was asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tflite

from tests.oracle import make_interpreter, run_reference
from tests.tflite_builder import ModelBuilder


def _conv(**options: Any) -> bytes:
    builder = ModelBuilder()
    x = builder.tensor((1, 4, 4, 1), "int8", 1.0, 0)
    w = builder.tensor(
        (2, 1, 1, 1), "int8", [1.0, 0.5], data=np.array([2, 4]).reshape(2, 1, 1, 1), name="w"
    )
    b = builder.tensor((2,), "int32", [1.0, 0.5], data=[1, -2])
    y = builder.tensor((1, 2, 2, 2), "int8", 1.0, 0)
    builder.op("CONV_2D", [x, w, b], [y], 3, stride_h=2, stride_w=2, **options)
    return builder.build([x], [y])


def test_per_channel_convolution_runs() -> None:
    x = np.arange(16, dtype=np.int8).reshape(1, 4, 4, 1)
    ((y,),) = run_reference(_conv(padding="VALID"), [[x]])
    picked = x[:, ::2, ::2, 0].astype(int)
    assert np.array_equal(y[..., 0], 2 * picked + 1)
    assert np.array_equal(y[..., 1], 2 * picked - 1)


def test_fused_activation_reaches_the_kernel() -> None:
    x = np.full((1, 4, 4, 1), 100, np.int8)
    ((y,),) = run_reference(_conv(padding="SAME", fused_activation_function="RELU6"), [[x]])
    assert y.max() == 6


def test_per_channel_quantisation_is_stored() -> None:
    details = make_interpreter(_conv(padding="VALID")).get_tensor_details()
    weights = next(d for d in details if d["name"] == "w")["quantization_parameters"]
    assert weights["scales"].tolist() == [1.0, 0.5]
    assert weights["zero_points"].tolist() == [0, 0]


def test_inner_tensors_are_returned() -> None:
    builder = ModelBuilder()
    x, y, z = (builder.tensor((1, 3), "float32") for _ in range(3))
    builder.op("NEG", [x], [y])
    builder.op("ABS", [y], [z])
    values = np.array([[1, -2, 3]], np.float32)
    outputs, inner = run_reference(builder.build([x], [z]), [[values], [-values]], all_tensors=True)
    assert np.array_equal(outputs[1][0], abs(values))
    assert np.array_equal(inner[0][y], -values)
    assert np.array_equal(inner[1][y], values)


def test_absent_bias_signature_and_variable() -> None:
    builder = ModelBuilder()
    x = builder.tensor((1, 2), "float32", signature=(-1, 2))
    w = builder.tensor((3, 2), "float32", data=np.ones((3, 2)))
    y = builder.tensor((1, 3), "float32", signature=(-1, 3))
    builder.tensor((4,), "float32", is_variable=True)
    builder.op("FULLY_CONNECTED", [x, w, -1], [y])
    builder.signature(["in"], ["out"])
    data = builder.build([x], [y])
    ((out,),) = run_reference(data, [[np.array([[2, 5]], np.float32)]])
    assert out.tolist() == [[7, 7, 7]]
    interpreter = make_interpreter(data)
    assert interpreter.get_input_details()[0]["shape_signature"].tolist() == [-1, 2]
    assert interpreter.get_signature_list()["serving_default"]["outputs"] == ["out"]


def test_subgraphs_are_called() -> None:
    builder = ModelBuilder()
    condition = builder.tensor((), "bool")
    x, y = builder.tensor((2,), "float32"), builder.tensor((2,), "float32")
    builder.op("IF", [condition, x], [y], then_subgraph_index=1, else_subgraph_index=2)
    for kind in ("NEG", "ABS"):
        branch = builder.subgraph(kind)
        a, b = branch.tensor((2,), "float32"), branch.tensor((2,), "float32")
        branch.op(kind, [a], [b])
        branch.interface([a], [b])
    data = builder.build([condition, x], [y])
    values = np.array([-1, 2], np.float32)
    sets = [[np.array(flag), values] for flag in (True, False)]
    assert [out[0].tolist() for out in run_reference(data, sets)] == [[1, -2], [1, 2]]


def test_int4_constants_are_packed() -> None:
    builder = ModelBuilder()
    w = builder.tensor((3,), "int4", 1.0, 0, data=[-1, 2, -8])
    y = builder.tensor((3,), "float32")
    builder.op("DEQUANTIZE", [w], [y], 6)
    ((out,),) = run_reference(builder.build([], [y]), [[]])
    assert out.tolist() == [-1, 2, -8]


_POOL = {"padding": "SAME", "filter_height": 2, "filter_width": 2, "stride_h": 1, "stride_w": 1}

SINGLE_INPUT: list[tuple[str, int, dict[str, Any]]] = [
    ("AVERAGE_POOL_2D", 2, _POOL),
    ("MAX_POOL_2D", 2, _POOL),
    ("SOFTMAX", 2, {"beta": 1.0}),
    ("LOGISTIC", 2, {}),
    ("TANH", 2, {}),
    ("RELU", 2, {}),
    ("RELU6", 2, {}),
    ("LEAKY_RELU", 2, {"alpha": 0.25}),
    ("HARD_SWISH", 1, {}),
    ("RESHAPE", 1, {"new_shape": (1, 4, 4, 2)}),
    ("QUANTIZE", 2, {}),
    ("ABS", 2, {}),
    ("GELU", 2, {"approximate": True}),
]

_SCALES = {
    "SOFTMAX": (1 / 256, -128),
    "LOGISTIC": (1 / 256, -128),
    "TANH": (1 / 128, 0),
}


@pytest.mark.parametrize(("kind", "version", "options"), SINGLE_INPUT, ids=lambda v: str(v)[:20])
def test_one_input_operators_load(kind: str, version: int, options: dict[str, Any]) -> None:
    builder = ModelBuilder()
    x = builder.tensor((1, 4, 4, 2), "int8", 0.5, 0)
    scale, zero_point = _SCALES.get(kind, (0.5, 0))
    y = builder.tensor((1, 4, 4, 2), "int8", scale, zero_point)
    builder.op(kind, [x], [y], version, **options)
    ((out,),) = run_reference(builder.build([x], [y]), [[np.full((1, 4, 4, 2), 10, np.int8)]])
    assert out.shape == (1, 4, 4, 2)


def test_tables_of_the_second_union_are_written() -> None:
    builder = ModelBuilder()
    x, y = builder.tensor((2,), "float32"), builder.tensor((4,), "float32")
    value = builder.tensor((), "float32", data=9.0)
    padding: dict[str, Any] = {
        "edge_padding_low": (1,),
        "edge_padding_high": (1,),
        "interior_padding": (0,),
    }
    builder.op("STABLEHLO_PAD", [x, value], [y], **padding)
    ((out,),) = run_reference(builder.build([x], [y]), [[np.array([1, 2], np.float32)]])
    assert out.tolist() == [9, 1, 2, 9]


def test_options_of_an_operator_without_a_table_are_an_error() -> None:
    builder = ModelBuilder()
    x = builder.tensor((1,), "float32")
    builder.op("FLOOR", [x], [x], beta=1.0)
    with pytest.raises(ValueError, match="FLOOR has no options table"):
        builder.build([x], [x])


def test_custom_operator_keeps_its_bytes() -> None:
    builder = ModelBuilder()
    x, y = builder.tensor((1,), "float32"), builder.tensor((1,), "float32")
    builder.op("CUSTOM", [x], [y], custom_name="MyOp", custom_options=b"\x01\x02")
    model = tflite.Model.GetRootAs(builder.build([x], [y]))
    assert model.OperatorCodes(0).CustomCode() == b"MyOp"
    assert bytes(model.Subgraphs(0).Operators(0).CustomOptionsAsNumpy()) == b"\x01\x02"
