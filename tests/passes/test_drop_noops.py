"""No-ops and dead operators: gone from the plan, the same bytes come out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from codegen.importer import parse_model
from tests.ops.equality import assert_equal
from tests.passes.layers import plan_of, planned_ops
from tests.tflite_builder import ModelBuilder

SHAPE = (1, 4, 5, 2)
QUANT: dict[str, Any] = {"scale": 0.1, "zero_point": 3}

# Operands behind x, options; every one of these repeats a map of SHAPE.
NOOPS: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "RESHAPE": ([SHAPE], {}),
    "SQUEEZE": ([], {"squeeze_dims": ()}),
    "TRANSPOSE": ([(0, 1, 2, 3)], {}),
    "SLICE": ([(0, 0, 0, 0), (1, -1, 5, 2)], {}),
    "STRIDED_SLICE": ([(0, 0, 0, 0), (1, 9, 5, -9), (3, 1, 1, 1)], {"end_mask": 8}),
    "PAD": ([[(0, 0)] * 4], {}),
    "SPLIT": ([2], {"num_splits": 1}),
    "CONCATENATION": ([], {"axis": 2}),
    "QUANTIZE": ([], {}),
    "TILE": ([(1, 1, 1, 1)], {}),
    "RESIZE_NEAREST_NEIGHBOR": ([SHAPE[1:3]], {"half_pixel_centers": True}),
    "RESIZE_BILINEAR": ([SHAPE[1:3]], {"align_corners": True}),
}


def add_noop(builder: ModelBuilder, op: str, x: int, **quant: Any) -> int:
    operands, options = NOOPS[op]
    constants = [builder.tensor(np.shape(v), "int32", data=np.array(v)) for v in operands]
    shape = (4, 5, 2) if op == "SQUEEZE" else SHAPE
    y = builder.tensor(shape, **(QUANT | quant))
    inputs = [*constants, x] if op == "SPLIT" else [x, *constants]
    builder.op(op, inputs, [y], **options)
    return y


def add_flip(builder: ModelBuilder, x: int) -> int:
    """A real operator: the rows upside down."""
    operands = [(0, -1, 0, 0), (1, -9, 5, 2), (1, -1, 1, 1)]
    constants = [builder.tensor((4,), "int32", data=v) for v in operands]
    y = builder.tensor(SHAPE, **QUANT)
    builder.op("STRIDED_SLICE", [x, *constants], [y])
    return y


def between(op: str, **quant: Any) -> bytes:
    """flip -> no-op -> flip."""
    builder = ModelBuilder()
    x = builder.tensor(SHAPE, **QUANT)
    y = add_flip(builder, add_noop(builder, op, add_flip(builder, x), **quant))
    return builder.build([x], [y])


def at_the_end(op: str) -> bytes:
    """flip -> no-op, whose input is read again by another flip."""
    builder = ModelBuilder()
    x = builder.tensor(SHAPE, **QUANT)
    middle = add_flip(builder, x)
    return builder.build([x], [add_noop(builder, op, middle), add_flip(builder, middle)])


def alone(op: str) -> bytes:
    builder = ModelBuilder()
    x = builder.tensor(SHAPE, **QUANT)
    return builder.build([x], [add_noop(builder, op, x)])


DROPPED = [op for op in NOOPS if op != "SQUEEZE"]


def test_noops_are_dropped(tmp_path: Path, rng: np.random.Generator) -> None:
    cases = {f"{op} between": between(op) for op in DROPPED}
    cases |= {f"{op} at the end": at_the_end(op) for op in DROPPED}
    for label, data in cases.items():
        assert planned_ops(data) == ["STRIDED_SLICE"] * 2, label
    assert_equal(cases, tmp_path, rng, samples=2)


def test_a_noop_between_input_and_output_stays(tmp_path: Path, rng: np.random.Generator) -> None:
    cases = {op: alone(op) for op in DROPPED if op not in ("QUANTIZE", "TILE")}
    for op, data in cases.items():
        assert planned_ops(data) == [op]
    assert_equal(cases, tmp_path, rng, samples=2)


def test_what_changes_the_meaning_stays() -> None:
    for op in ("RESHAPE", "TRANSPOSE", "SLICE", "PAD"):
        assert op in planned_ops(between(op, scale=0.2)), op


def test_what_moves_elements_stays(tmp_path: Path, rng: np.random.Generator) -> None:
    builder = ModelBuilder()
    shape = (1, 4, 4, 2)
    x = builder.tensor(shape, **QUANT)
    flipped, turned = builder.tensor(shape, **QUANT), builder.tensor(shape, **QUANT)
    operands = [(0, -1, 0, 0), (1, -9, 4, 2), (1, -1, 1, 1)]
    constants = [builder.tensor((4,), "int32", data=v) for v in operands]
    builder.op("STRIDED_SLICE", [x, *constants], [flipped])
    perm = builder.tensor((4,), "int32", data=(0, 2, 1, 3))
    builder.op("TRANSPOSE", [flipped, perm], [turned])
    data = builder.build([x], [turned])
    assert planned_ops(data) == ["STRIDED_SLICE", "TRANSPOSE"]
    assert_equal({"square": data}, tmp_path, rng)


def test_dead_operators_are_dropped(tmp_path: Path, rng: np.random.Generator) -> None:
    builder = ModelBuilder()
    x = builder.tensor(SHAPE, **QUANT)
    used = add_flip(builder, x)
    add_flip(builder, add_flip(builder, used))
    data = builder.build([x], [used])
    assert len(parse_model(data).main.nodes) == 3
    assert planned_ops(data) == ["STRIDED_SLICE"]
    assert_equal({"dead": data}, tmp_path, rng)


def test_outputs_keep_their_index() -> None:
    data = at_the_end("RESHAPE")
    assert plan_of(data).graph.outputs == parse_model(data).main.outputs
