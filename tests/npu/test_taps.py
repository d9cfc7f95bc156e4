"""Inner tensors of the NPU: compared tile by tile, so that a wrong command is found where it is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from codegen.boards import load_board
from codegen.importer import parse_model
from codegen.pipeline import Build, build
from codegen.verify.inputs import random_set
from codegen.verify.result import TargetResult
from codegen.verify.session import make_session, verify_host
from tests.tflite_builder import ModelBuilder


def chain(rng: np.random.Generator) -> bytes:
    """RELU, two convolutions with a depthwise one between them, and SOFTMAX; nothing is stored."""
    builder = ModelBuilder()
    x, a, b, c, d, y = (
        builder.tensor((1, 12, 10, n), "int8", scale, zero)
        for n, scale, zero in (
            (8, 0.05, 3),
            (8, 0.05, 3),
            (16, 0.4, -7),
            (16, 0.9, 5),
            (6, 2.0, 1),
            (6, 1 / 256, -128),
        )
    )
    builder.op("RELU", [x], [a])
    for op, source, result, shape, scale, out in (
        ("CONV_2D", a, b, (16, 3, 3, 8), 0.05, 16),
        ("DEPTHWISE_CONV_2D", b, c, (1, 3, 3, 16), 0.4, 16),
        ("CONV_2D", c, d, (6, 1, 1, 16), 0.9, 6),
    ):
        filters = builder.tensor(shape, "int8", 0.02, 0, data=rng.integers(-127, 128, shape))
        bias = builder.tensor((out,), "int32", 0.02 * scale, 0, data=rng.integers(-99, 100, out))
        window = {"padding": "SAME", "stride_h": 1, "stride_w": 1}
        window |= {"depth_multiplier": 1} if op.startswith("DEPTH") else {}
        builder.op(op, [source, filters, bias], [result], **window)
    builder.op("SOFTMAX", [d], [y], beta=1.0)
    return builder.build([x], [y])


def verified(data: bytes, built: Build, rng: np.random.Generator) -> TargetResult:
    """The result on the simulator with one random input."""
    graph = built.plan.graph
    sets = [random_set([graph.tensors[t] for t in graph.inputs], rng)]
    return verify_host(make_session(parse_model(data), data, built, sets), lambda text: None)


@pytest.mark.parametrize("board", ["npu-32k", "npu-64k"])
def test_every_operator_is_compared(board: str, rng: np.random.Generator) -> None:
    data = chain(rng)
    built = build(parse_model(data), "net", load_board(board))
    found = verified(data, built, rng)
    assert found.equal, found
    assert found.inner_tensors == 5


@pytest.mark.parametrize(
    ("operation", "operator", "layer"),
    [("CG_NPU_DEPTHWISE_CONV_2D", "DEPTHWISE_CONV_2D", 2), ("CG_NPU_CONV_2D", "CONV_2D", 1)],
)
def test_the_first_wrong_operator_is_named(
    operation: str, operator: str, layer: int, rng: np.random.Generator
) -> None:
    """Though its result never leaves the scratchpad and all that follow are wrong too."""
    data = chain(rng)
    built = build(parse_model(data), "net", load_board("npu-64k"))
    right = "int32_t v = cg_add32(acc, b->bias[channel]);"
    wrong = f"int32_t v = b->bias[channel] + (c->operation == {operation} ? -acc : acc);"
    text = built.files["cg/cg_npu_tiles.h"]
    assert right in text
    files = {**built.files, "cg/cg_npu_tiles.h": text.replace(right, wrong)}
    found = verified(data, replace(built, files=files), rng)
    assert found.difference is not None
    assert found.difference.operator is not None and operator in found.difference.operator
    assert found.difference.layer == layer
