"""--io int8: the float border goes, and the codes inside are those of the file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from codegen.boards import load_board
from codegen.importer import parse_model
from codegen.passes.io_int8 import io_int8
from codegen.pipeline import BuildOptions, build
from codegen.verify.inputs import edge_sets, random_set
from codegen.verify.session import make_session, verify_host
from tests.passes.layers import plan_of, planned_ops
from tests.tflite_builder import ModelBuilder

QUANT: dict[str, Any] = {"scale": 0.1, "zero_point": -5}


def add_pad(builder: ModelBuilder, x: int, out: Sequence[int]) -> int:
    pads = builder.tensor((2, 2), "int32", data=[[0, 0], [1, 1]])
    y = builder.tensor(out, **QUANT)
    builder.op("PAD", [x, pads], [y])
    return y


def float_model(quantizes: int = 1, zero_points: Sequence[int] = (-5, -5)) -> bytes:
    """float -> QUANTIZE (some of them) -> PAD each -> CONCATENATION -> DEQUANTIZE -> float."""
    builder = ModelBuilder()
    x = builder.tensor((2, 3), "float32")
    padded = []
    for zero in zero_points[:quantizes]:
        codes = builder.tensor((2, 3), scale=0.1, zero_point=zero)
        builder.op("QUANTIZE", [x], [codes])
        padded.append(add_pad(builder, codes, (2, 5)))
    joined = builder.tensor((2, 5 * quantizes), **QUANT)
    builder.op("CONCATENATION", padded, [joined], axis=1)
    y = builder.tensor((2, 5 * quantizes), "float32")
    builder.op("DEQUANTIZE", [joined], [y])
    return builder.build([x], [y])


def assert_verified(data: bytes) -> None:
    """The C code with int8 borders gives the codes that the file's interpreter computes."""
    model = parse_model(data)
    built = build(model, "case", load_board("host"), BuildOptions(io="int8"))
    tensors = [built.plan.graph.tensors[t] for t in built.plan.graph.inputs]
    rng = np.random.default_rng(1)
    sets = [*(random_set(tensors, rng) for _ in range(4)), *edge_sets(tensors)]
    result = verify_host(make_session(model, data, built, sets), lambda _: None)
    assert result.equal, result
    assert result.bytes_compared


def test_the_border_becomes_int8() -> None:
    data = float_model(2)
    plan = plan_of(data, "int8")
    assert [layer.node.op for layer in plan.layers] == ["PAD", "PAD", "CONCATENATION"]
    borders = [plan.graph.tensors[t] for t in (*plan.graph.inputs, *plan.graph.outputs)]
    assert [t.describe() for t in borders] == ["int8[2,3]", "int8[2,10]"]
    assert all(t.quant and t.quant.scale == np.float32(0.1) for t in borders)
    assert_verified(data)


def test_one_quantize() -> None:
    data = float_model()
    assert planned_ops(data, "int8") == ["PAD"]
    assert_verified(data)


def test_an_input_quantised_in_two_ways_stays_float() -> None:
    graph = parse_model(float_model(2, (-5, 7))).main
    border = io_int8(graph)
    assert border.inputs == graph.inputs
    assert border.outputs != graph.outputs


def test_an_output_that_is_read_inside_stays_float() -> None:
    builder = ModelBuilder()
    x = builder.tensor((2, 3), **QUANT)
    codes = add_pad(builder, x, (2, 5))
    y, again = builder.tensor((2, 5), "float32"), builder.tensor((2, 5), scale=0.3)
    builder.op("DEQUANTIZE", [codes], [y])
    builder.op("QUANTIZE", [y], [again])
    graph = parse_model(builder.build([x], [y, again])).main
    assert io_int8(graph) == graph


def test_a_model_that_is_int8_already_is_left_alone() -> None:
    builder = ModelBuilder()
    x = builder.tensor((2, 3), **QUANT)
    data = builder.build([x], [add_pad(builder, x, (2, 5))])
    assert planned_ops(data, "int8") == planned_ops(data, "model") == ["PAD"]
    assert_verified(data)
