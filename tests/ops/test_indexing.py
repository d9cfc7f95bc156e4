"""Operators that read or write at places given by indices, against the reference.

GATHER, GATHER_ND, EMBEDDING_LOOKUP, SCATTER_ND, DYNAMIC_UPDATE_SLICE, ONE_HOT.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codegen.boards import load_board
from codegen.graph import DType, Quantization, Tensor
from codegen.importer import parse_model
from codegen.pipeline import build
from codegen.verify.program import build_host_program
from codegen.verify.session import sources_of
from tests.ops.equality import assert_equal, random_input
from tests.ops.movement import TYPES, assert_refused, quant
from tests.tflite_builder import ModelBuilder, OptionValue

Array = NDArray[Any]
Sets = list[list[Array]]


def values_like(shape: Sequence[int], dtype: str, rng: np.random.Generator) -> Array:
    """Random data for an input of that shape and type."""
    return random_input(Tensor(0, "", tuple(shape), DType(dtype), Quantization((1.0,), (0,))), rng)


class Cases:
    """Models with indices, each with sets of inputs whose indices exist."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.models: dict[str, bytes] = {}
        self.sets: dict[str, Sets] = {}

    def add(
        self,
        op: str,
        operands: Sequence[tuple[Sequence[int], str, Sequence[int] | None]],
        y: tuple[Sequence[int], str],
        constants: Sequence[Any] = (),
        *,
        version: int = 1,
        **options: OptionValue,
    ) -> None:
        """`operands`: shape, type and, for indices, the axis size of each entry of a vector."""
        builder = ModelBuilder()
        inputs = [builder.tensor(shape, t, **quant(t)) for shape, t, _ in operands]
        fixed = [builder.tensor(np.shape(v), t, data=v, **quant(t)) for v, t in constants]
        out = builder.tensor(*y, **quant(y[1]))
        builder.op(op, [*inputs, *fixed], [out], version=version, **options)
        label = f"{op} {operands} {options}"
        self.models[label] = builder.build(inputs, [out])
        self.sets[label] = [[self._draw(*operand) for operand in operands] for _ in range(3)]

    def _draw(self, shape: Sequence[int], dtype: str, limits: Sequence[int] | None) -> Array:
        if limits is None:
            return values_like(shape, dtype, self.rng)
        return self.rng.integers(0, np.array(limits), tuple(shape)).astype(dtype)

    def assert_equal(self, workdir: Path, *, sanitize: bool = False) -> None:
        assert_equal(self.models, workdir, self.rng, inputs=self.sets, sanitize=sanitize)


def add_gather(
    cases: Cases, x: Sequence[int], indices: Sequence[int], axis: int, batch: int, *types: str
) -> None:
    at = axis % len(x)
    dtype, index = types or ("int8", "int32")
    y = (*x[:at], *indices[batch:], *x[at + 1 :])
    operands = [(x, dtype, None), (indices, index, [x[at]])]
    cases.add("GATHER", operands, (y, dtype), axis=axis, batch_dims=batch)


def add_nd(
    cases: Cases, op: str, x: Sequence[int], lead: Sequence[int], depth: int, *t: str
) -> None:
    """GATHER_ND of x, or SCATTER_ND into x."""
    dtype, index = t or ("int8", "int32")
    slices = (*lead, *x[depth:])
    indices = ((*lead, depth), index, x[:depth])
    if op == "GATHER_ND":
        cases.add(op, [(x, dtype, None), indices], (slices, dtype))
    else:
        shape = [(np.array(x, index), index)]
        cases.add(op, [indices, (slices, dtype, None)], (x, dtype), shape)


def add_update(cases: Cases, x: Sequence[int], u: Sequence[int], *types: str) -> None:
    dtype, index = types or ("int8", "int32")
    # Starts beyond the last place are allowed.
    operands = [(x, dtype, None), (u, dtype, None), ((len(x),), index, [n + 3 for n in x])]
    version = 2 if index == "int64" else 1
    cases.add("DYNAMIC_UPDATE_SLICE", operands, (x, dtype), version=version)


def add_one_hot(cases: Cases, shape: Sequence[int], axis: int, *types: str) -> None:
    dtype, index = types or ("float32", "int32")
    at = axis % (len(shape) + 1)
    y = (*shape[:at], 4, *shape[at:])
    constants = [(4, "int32"), (3, dtype), (1, dtype)]
    cases.add("ONE_HOT", [(shape, index, [6])], (y, dtype), constants, axis=axis)


def test_gather(tmp_path: Path, rng: np.random.Generator) -> None:
    cases = Cases(rng)
    for x in [(5,), (3, 4), (2, 3, 4), (2, 3, 2, 3)]:
        for axis in range(-len(x), len(x)):
            add_gather(cases, x, (3,), axis, 0)
    for indices in [(), (1,), (2, 2), (2, 1, 3)]:
        add_gather(cases, (4, 3), indices, 0, 0)
        add_gather(cases, (2, 4, 3), indices, 1, 0)
    for x, indices, axis, batch in [
        ((2, 4, 3), (2, 5), 1, 1),
        ((2, 4, 3), (2, 5), 2, 1),
        ((2, 3, 4), (2, 3, 2), 2, 2),
        ((2, 3, 4), (2, 3), 2, 1),
    ]:
        add_gather(cases, x, indices, axis, batch)
    for dtype in TYPES:
        add_gather(cases, (4, 3), (2,), 0, 0, dtype, "int64")
    add_gather(cases, (4, 3), (2,), 0, 0, "int8", "int16")
    cases.assert_equal(tmp_path)


def test_gather_nd_and_scatter_nd(tmp_path: Path, rng: np.random.Generator) -> None:
    cases = Cases(rng)
    for op in ("GATHER_ND", "SCATTER_ND"):
        for x in [(5,), (3, 4), (2, 3, 4), (2, 3, 2, 3)]:
            for depth in range(1, len(x) + 1):
                add_nd(cases, op, x, (4,), depth)
        add_nd(cases, op, (3, 4), (2, 3), 1)
        for dtype in TYPES:
            if (op, dtype) != ("SCATTER_ND", "int16"):
                add_nd(cases, op, (3, 4), (5,), 1, dtype, "int32")
    add_nd(cases, "GATHER_ND", (3, 4), (5,), 2, "float32", "int64")
    cases.assert_equal(tmp_path)


def test_update_slice(tmp_path: Path, rng: np.random.Generator) -> None:
    cases = Cases(rng)
    for x, u in [
        ((5,), (2,)),
        ((3, 4), (1, 4)),
        ((3, 4), (3, 1)),
        ((3, 4), (3, 4)),
        ((1, 6, 2, 3), (1, 1, 2, 3)),
        ((2, 3, 2, 3, 2), (1, 2, 2, 1, 1)),
    ]:
        add_update(cases, x, u)
    for dtype in TYPES:
        add_update(cases, (4, 3), (2, 2), dtype, "int64")
    cases.assert_equal(tmp_path)


def test_one_hot(tmp_path: Path, rng: np.random.Generator) -> None:
    cases = Cases(rng)
    for shape in [(), (3,), (2, 3), (2, 2, 3)]:
        for axis in range(-1, len(shape) + 1):
            add_one_hot(cases, shape, axis)
    for dtype in ("int8", "uint8", "int32", "int64", "float32", "bool"):
        add_one_hot(cases, (3,), -1, dtype, "int64")
    cases.assert_equal(tmp_path)


def test_embedding_lookup(tmp_path: Path, rng: np.random.Generator) -> None:
    cases = Cases(rng)
    for dtype in TYPES:
        for x in [(5, 3), (4, 2, 3), (3, 1, 2, 2)]:
            if dtype == "int8" or len(x) == 2:
                operands = [((4,), "int32", x[:1]), (x, dtype, None)]
                cases.add("EMBEDDING_LOOKUP", operands, ((4, *x[1:]), dtype))
    cases.assert_equal(tmp_path)


def test_embedding_lookup_in_codes(tmp_path: Path, rng: np.random.Generator) -> None:
    models, sets = {}, {}
    for dtype, shape, per_row in (
        ("int8", (5, 3), False),
        ("int8", (4, 2, 3), True),
        ("int4", (5, 6), False),
        ("int4", (7, 1, 4), True),
    ):
        builder = ModelBuilder()
        ids, low = builder.tensor((6,), "int32"), -128 if dtype == "int8" else -8
        scale = rng.uniform(1e-3, 1, shape[0]) if per_row else 0.0371
        data = rng.integers(low, -low, shape)
        table = builder.tensor(shape, dtype, scale, data=data)
        y = builder.tensor((6, *shape[1:]), "float32")
        builder.op("EMBEDDING_LOOKUP", [ids, table], [y], version=4)
        label = f"{dtype} {shape}"
        models[label] = builder.build([ids], [y])
        sets[label] = [[rng.integers(0, shape[0], 6, np.int32)] for _ in range(3)]
    assert_equal(models, tmp_path, rng, inputs=sets, sanitize=True)


def test_codes_that_are_no_table_of_floats_are_refused() -> None:
    for dtype, shape, data, words in (
        ("int4", (4, 3), np.zeros((4, 3)), "rows of 3 elements of 4 bits; make their number even"),
        ("int8", (4, 2), None, "is computed at run time; only a constant is supported here"),
    ):
        builder = ModelBuilder()
        ids = builder.tensor((2,), "int32")
        table = builder.tensor(shape, dtype, 0.1, data=data)
        y = builder.tensor((2, shape[1]), "float32")
        builder.op("EMBEDDING_LOOKUP", [ids, table], [y], version=4)
        assert_refused(builder.build([ids] if data is not None else [ids, table], [y]), words)


def test_broadcast_args(tmp_path: Path, rng: np.random.Generator) -> None:
    builder = ModelBuilder()
    a, b = builder.tensor((2,), "int32"), builder.tensor((3,), "int32")
    y = builder.tensor((3,), "int32")
    builder.op("BROADCAST_ARGS", [a, b], [y])
    data = builder.build([a, b], [y])
    sets = [
        [np.array(p, np.int32), np.array(q, np.int32)]
        for p, q in (
            ((1, 4), (2, 3, 1)),
            ((3, 1), (1, 3, 5)),
            ((2, 2), (7, 2, 2)),
        )
    ]
    assert_equal({"shapes": data}, tmp_path, rng, inputs={"shapes": sets})


def test_sanitized(tmp_path: Path, rng: np.random.Generator) -> None:
    cases = Cases(rng)
    add_gather(cases, (2, 4, 3), (2, 5), 1, 1, "int16", "int64")
    add_nd(cases, "GATHER_ND", (3, 4, 2), (5,), 2, "int32", "int32")
    for dtype in ("int8", "int64", "float32", "bool"):
        add_nd(cases, "SCATTER_ND", (3, 4), (9,), 1, dtype, "int32")
    add_update(cases, (4, 3, 2), (2, 2, 1), "int32", "int64")
    add_one_hot(cases, (2, 3), 1)
    cases.assert_equal(tmp_path, sanitize=True)


def test_indices_that_do_not_exist_stay_inside(tmp_path: Path, rng: np.random.Generator) -> None:
    """The reference stops there; the C code takes the nearest entry and harms nothing."""
    cases = Cases(rng)
    add_gather(cases, (4,), (5,), 0, 0, "int8", "int64")
    (data,) = cases.models.values()
    built = build(parse_model(data), "case", load_board("host"))
    x = np.arange(4, dtype=np.int8)
    far = np.array([-(2**40), -1, 2, 4, 2**40])
    with build_host_program([sources_of(built)], tmp_path, sanitize=True) as program:
        result = program.run(0, [x.tobytes(), far.tobytes()], reset=False)
    assert list(result.outputs[0]) == [0, 0, 2, 3, 3]


def test_update_in_place() -> None:
    """A dying operand is updated where it lies."""
    builder = ModelBuilder()
    x, u = builder.tensor((2, 4), scale=0.1), builder.tensor((1, 4), scale=0.1)
    at, y = builder.tensor((2,), "int32"), builder.tensor((2, 4), scale=0.1)
    builder.op("DYNAMIC_UPDATE_SLICE", [x, u, at], [y])
    plan = build(parse_model(builder.build([x, u, at], [y])), "m", load_board("host")).plan
    assert plan.layers[0].note == "in place"


def test_refusals() -> None:
    builder = ModelBuilder()
    x, i = builder.tensor((2, 4), scale=0.1), builder.tensor((3, 3), "int32")
    y = builder.tensor((3, 4), scale=0.1)
    builder.op("GATHER", [x, i], [y], axis=1, batch_dims=1)
    assert_refused(builder.build([x, i], [y]), "have no 1 axes in common before 1")
    builder = ModelBuilder()
    x, i = builder.tensor((2, 4), scale=0.1), builder.tensor((3,), "float32")
    y = builder.tensor((3, 4), scale=0.1)
    builder.op("GATHER", [x, i], [y])
    assert_refused(builder.build([x, i], [y]), "is float32; only int16 or int32 or int64")
    builder = ModelBuilder()
    x, i = builder.tensor((2, 4), scale=0.1), builder.tensor((3, 3), "int32")
    y = builder.tensor((3,), scale=0.1)
    builder.op("GATHER_ND", [x, i], [y])
    assert_refused(builder.build([x, i], [y]), r"int32\[3,3\] indexes 2 axes")
