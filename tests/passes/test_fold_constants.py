"""Constant folding: fewer layers, the same bytes, and nothing folded that is not exact."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from codegen.importer import parse_model
from codegen.passes.fold_constants import fold_constants
from tests import oracle
from tests.ops.equality import assert_equal
from tests.passes.layers import planned_ops
from tests.tflite_builder import ModelBuilder

QUANT: dict[str, Any] = {"scale": 0.1, "zero_point": -5}
CODES = np.arange(-60, 60, dtype=np.int8).reshape(2, 3, 4, 5)

# Shape of the result of the operator on CODES, operands behind it, options.
MOVES: dict[str, tuple[tuple[int, ...], list[Any], dict[str, Any]]] = {
    "RESHAPE": ((6, 20), [(6, -1)], {}),
    "EXPAND_DIMS": ((2, 1, 3, 4, 5), [1], {}),
    "SQUEEZE": ((2, 3, 4, 5), [], {}),
    "TRANSPOSE": ((5, 2, 4, 3), [(3, 0, 2, 1)], {}),
    "SLICE": ((1, 2, 4, 3), [(1, 0, 0, 2), (1, 2, -1, 3)], {}),
    "STRIDED_SLICE": (
        (3, 2, 5),
        [(1, 0, 4, 0), (2, 3, -9, 0), (1, 1, -2, -1)],
        {"shrink_axis_mask": 1, "begin_mask": 8, "end_mask": 8},
    ),
    "PAD": ((3, 3, 6, 5), [[(1, 0), (0, 0), (1, 1), (0, 0)]], {}),
    "TILE": ((2, 3, 8, 15), [(1, 1, 2, 3)], {}),
    "SPLIT": ((2, 3, 2, 5), [2], {"num_splits": 2}),
}


def folded_and_read(op: str) -> bytes:
    """CODES -> op -> CONCATENATION with the model's input."""
    shape, operands, options = MOVES[op]
    builder = ModelBuilder()
    codes = builder.tensor(CODES.shape, data=CODES, **QUANT)
    constants = [builder.tensor(np.shape(v), "int32", data=np.array(v)) for v in operands]
    results = [builder.tensor(shape, **QUANT) for _ in range(options.get("num_splits", 1))]
    builder.op(
        op, [*constants, codes] if op == "SPLIT" else [codes, *constants], results, **options
    )
    x = builder.tensor(shape, **QUANT)
    y = builder.tensor((*shape[:-1], 2 * shape[-1]), **QUANT)
    builder.op("CONCATENATION", [x, results[-1]], [y], axis=-1)
    return builder.build([x], [y])


def test_moves_of_constants(tmp_path: Path, rng: np.random.Generator) -> None:
    cases = {op: folded_and_read(op) for op in MOVES}
    for op, data in cases.items():
        assert planned_ops(data) == ["CONCATENATION"], op
    assert_equal(cases, tmp_path, rng, samples=2)


def test_a_chain_and_a_constant_output(tmp_path: Path, rng: np.random.Generator) -> None:
    builder = ModelBuilder()
    codes = builder.tensor(CODES.shape, data=CODES, **QUANT)
    shape = builder.tensor((2,), "int32", data=(6, 20))
    perm = builder.tensor((2,), "int32", data=(1, 0))
    flat, turned = builder.tensor((6, 20), **QUANT), builder.tensor((20, 6), **QUANT)
    builder.op("RESHAPE", [codes, shape], [flat])
    builder.op("TRANSPOSE", [flat, perm], [turned])
    x, y = builder.tensor((20, 1), **QUANT), builder.tensor((20, 7), **QUANT)
    builder.op("CONCATENATION", [x, turned], [y], axis=1)
    data = builder.build([x], [y, flat])
    assert planned_ops(data) == ["CONCATENATION"]
    assert_equal({"chain": data}, tmp_path, rng, samples=2)


def shape_chain(batch_signature: bool) -> bytes:
    """RESHAPE by PACK(SHAPE(x)[0], 12), as exporters write a flatten."""
    builder = ModelBuilder()
    signature = (-1, 3, 4) if batch_signature else None
    x = builder.tensor((1, 3, 4), signature=signature, **QUANT)
    shape, first = builder.tensor((3,), "int32"), builder.tensor((), "int32")
    operands = [builder.tensor((1,), "int32", data=[v]) for v in (0, 1, 1)]
    twelve = builder.tensor((), "int32", data=12)
    packed = builder.tensor((2,), "int32")
    y = builder.tensor((1, 12), signature=(-1, 12) if batch_signature else None, **QUANT)
    builder.op("SHAPE", [x], [shape], out_type="INT32")
    builder.op("STRIDED_SLICE", [shape, *operands], [first], shrink_axis_mask=1)
    builder.op("PACK", [first, twelve], [packed], values_count=2, axis=0)
    builder.op("RESHAPE", [x, packed], [y])
    return builder.build([x], [y])


def test_arithmetic_on_shapes(tmp_path: Path, rng: np.random.Generator) -> None:
    cases = {"fixed": shape_chain(False), "open batch": shape_chain(True)}
    for data in cases.values():
        assert planned_ops(data) == ["RESHAPE"]
    assert_equal(cases, tmp_path, rng)


def test_a_shape_follows_the_batch() -> None:
    graph = fold_constants(parse_model(shape_chain(True), batch=3).main)
    assert [node.op for node in graph.nodes] == ["RESHAPE"]
    assert graph.tensors[graph.nodes[0].inputs[1]].array.tolist() == [3, 12]


def test_conversions_are_the_references(rng: np.random.Generator) -> None:
    """Constants that the reference computes at run time, byte for byte."""
    builder = ModelBuilder()
    reals = np.concatenate([rng.normal(0, 9, 200), np.arange(-8, 8) * 0.05, [1e6, -1e6]])
    floats = builder.tensor(reals.shape, "float32", data=reals)
    wide = builder.tensor(
        (4, 3),
        scale=[0.1, 0.02, 3e-4],
        zero_point=[0, 0, 0],
        axis=1,
        data=rng.integers(-128, 128, (4, 3)),
    )
    short = builder.tensor((9,), "int16", scale=0.0173, data=rng.integers(-32768, 32768, 9))
    half = builder.tensor((9,), "float16", data=rng.normal(0, 9, 9))
    outputs = []
    for dtype, zero in (("int8", -5), ("uint8", 100), ("int16", 0)):
        outputs.append(builder.tensor(reals.shape, dtype, scale=0.1, zero_point=zero))
        builder.op("QUANTIZE", [floats], outputs[-1:])
    for source, shape in ((wide, (4, 3)), (short, (9,)), (half, (9,))):
        outputs.append(builder.tensor(shape, "float32"))
        builder.op("DEQUANTIZE", [source], outputs[-1:], version=5 if source == wide else 3)
    x = builder.tensor((1,), **QUANT)
    data = builder.build([x], [x, *outputs])
    graph = fold_constants(parse_model(data).main)
    assert not graph.nodes
    expected = oracle.run_reference(data, [[np.zeros(1, np.int8)]])[0][1:]
    for index, wanted in zip(outputs, expected, strict=True):
        np.testing.assert_array_equal(graph.tensors[index].array, wanted, strict=True)


def test_undefined_conversions_are_left_alone() -> None:
    builder = ModelBuilder()
    floats = builder.tensor((2,), "float32", data=[np.nan, 3e38])
    y = builder.tensor((2,), **QUANT)
    builder.op("QUANTIZE", [floats], [y])
    x = builder.tensor((1,), **QUANT)
    graph = fold_constants(parse_model(builder.build([x], [x, y])).main)
    assert [node.op for node in graph.nodes] == ["QUANTIZE"]
