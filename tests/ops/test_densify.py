"""DENSIFY: sparse constants in every kind of storage, and storage that contradicts itself."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen.errors import InvalidModel
from codegen.importer import parse_model
from tests.ops.equality import assert_equal
from tests.ops.movement import assert_refused
from tests.tflite_builder import Level, ModelBuilder, Sparsity

TYPES = ("float32", "float16", "int8")
Stored = tuple[Any, Sparsity]


def rows_of(values: Any, index_type: str = "int32") -> Stored:
    """A matrix, each row of which lists its elements that are not 0."""
    found = [np.flatnonzero(row) for row in values]
    segments = np.cumsum([0, *map(len, found)])
    indices = np.concatenate(found)
    levels = [Level(len(values)), Level(0, segments, indices, index_type)]
    return values[np.nonzero(values)], Sparsity([0, 1], [], levels)


def blocks_of(values: Any, height: int, width: int) -> Stored:
    """A matrix cut into blocks, of which those are kept that are not all 0."""
    rows, columns = values.shape[0] // height, values.shape[1] // width
    blocks = values.reshape(rows, height, columns, width).swapaxes(1, 2)
    kept = blocks.any(axis=(2, 3))
    segments = np.cumsum([0, *kept.sum(axis=1)])
    levels = [Level(rows), Level(0, segments, np.nonzero(kept)[1]), Level(height), Level(width)]
    return blocks[kept].reshape(-1), Sparsity([0, 1, 2, 3], [0, 1], levels)


def columns_of_maps(values: Any) -> Stored:
    """[a, b, c] with the last axis outermost and the first one listed."""
    turned = values.transpose(2, 1, 0)
    found = [np.flatnonzero(line) for line in turned.reshape(-1, turned.shape[2])]
    segments = np.cumsum([0, *map(len, found)])
    levels = [
        Level(turned.shape[0]),
        Level(turned.shape[1]),
        Level(0, segments, np.concatenate(found), "uint8"),
    ]
    return turned[np.nonzero(turned)], Sparsity([2, 1, 0], [], levels)


def listed_twice(values: Any) -> Stored:
    """A matrix, whose rows that are not all 0 are listed, too."""
    kept = np.flatnonzero(values.any(axis=1))
    found = [np.flatnonzero(values[row]) for row in kept]
    levels = [
        Level(0, [0, len(kept)], kept, "uint16"),
        Level(0, np.cumsum([0, *map(len, found)]), np.concatenate(found)),
    ]
    return values[np.nonzero(values)], Sparsity([0, 1], [], levels)


def dense_model(shape: Sequence[int], dtype: str, stored: Stored) -> bytes:
    """float32 x plus the constant, which is dequantised where it is not float32."""
    builder = ModelBuilder()
    data, sparsity = stored
    quant = {"scale": 0.25, "zero_point": 3} if dtype == "int8" else {}
    x = builder.tensor(shape, "float32")
    w = builder.tensor(shape, dtype, **quant, data=data, sparsity=sparsity)
    values = builder.tensor(shape, dtype, **quant)
    builder.op("DENSIFY", [w], [values])
    if dtype != "float32":
        real = builder.tensor(shape, "float32")
        builder.op("DEQUANTIZE", [values], [real], version=3 if dtype == "float16" else 1)
        values = real
    y = builder.tensor(shape, "float32")
    builder.op("ADD", [x, values], [y])
    return builder.build([x], [y])


def test_every_storage(tmp_path: Path, rng: np.random.Generator) -> None:
    cases = {}
    for dtype in TYPES:
        values = rng.integers(-9, 9, (8, 12)) * (rng.random((8, 12)) < 0.4)
        values[[2, 5]] = 0
        maps = rng.integers(1, 9, (5, 4, 3)) * (rng.random((5, 4, 3)) < 0.5)
        stored = {
            "rows": rows_of(values),
            "rows, uint8": rows_of(values, "uint8"),
            "rows, uint16": rows_of(values, "uint16"),
            "blocks 1x4": blocks_of(values, 1, 4),
            "blocks 4x3": blocks_of(values, 4, 3),
            "rows listed": listed_twice(values),
            "all there": (values, Sparsity([0, 1], [], [Level(8), Level(12)])),
        }
        cases |= {f"{k}, {dtype}": dense_model((8, 12), dtype, s) for k, s in stored.items()}
        cases[f"maps, {dtype}"] = dense_model((5, 4, 3), dtype, columns_of_maps(maps))
    assert_equal(cases, tmp_path, rng, samples=1)


def layer_model(types: tuple[str, str], stored: Stored) -> bytes:
    """FULLY_CONNECTED from 32 to 8, `types` being those of the data and of the sparse weights."""
    builder = ModelBuilder()
    quant = [{"scale": 0.1} if dtype == "int8" else {} for dtype in types]
    x = builder.tensor((3, 32), types[0], **quant[0])
    w = builder.tensor((8, 32), types[1], **quant[1], data=stored[0], sparsity=stored[1])
    y = builder.tensor((3, 8), types[0], **({"scale": 3.0} if quant[0] else {}))
    builder.op("FULLY_CONNECTED", [x, w, -1], [y], version=8)
    return builder.build([x], [y])


def test_layers_with_sparse_weights(tmp_path: Path, rng: np.random.Generator) -> None:
    """Integers in the blocks for which the reference has a kernel, floats in all."""
    values = rng.integers(-99, 99, (8, 32)) * np.repeat(rng.random((8, 2)) < 0.5, 16, axis=1)
    wide = blocks_of(values, 1, 16)
    narrow = blocks_of(values * (rng.random(values.shape) < 0.2), 1, 4)
    cases = {
        "rows": layer_model(("float32", "float32"), rows_of(values)),
        "blocks 1x4": layer_model(("float32", "float32"), (narrow[0], _columns_cut(narrow[1]))),
    }
    for types in (("int8", "int8"), ("float32", "int8")):
        cases[f"{types}"] = layer_model(types, (wide[0], _columns_cut(wide[1])))
    assert_equal(cases, tmp_path, rng, tolerance=1e-6)


def _columns_cut(sparsity: Sparsity) -> Sparsity:
    """Of blocks one row high, the same with the columns alone cut, as the reference wants it."""
    rows, listed, _, width = sparsity.levels
    return Sparsity([0, 1, 2], [1], [rows, listed, width])


GOOD = rows_of(np.eye(4))[1]
CONTRADICTIONS = {
    "no level": Sparsity([0, 1], [], []),
    "an order that is none": Sparsity([0, 0], [], GOOD.levels),
    "a block of an axis that is not there": Sparsity([0, 1, 2], [2], [*GOOD.levels, Level(1)]),
    "a listed block": Sparsity([0, 1, 2], [1], [Level(4), Level(1), GOOD.levels[1]]),
    "too many nodes": Sparsity([0, 1], [], [Level(2**31 - 1), Level(2**31 - 1)]),
    "segments that fall": Sparsity([0, 1], [], [Level(4), Level(0, [0, 3, 1, 2, 4], range(4))]),
    "too few segments": Sparsity([0, 1], [], [Level(4), Level(0, [0, 4], range(4))]),
    "no segments": Sparsity([0, 1], [], [Level(4), Level(0, [], [])]),
    "an index outside": Sparsity([0, 1], [], [Level(4), Level(0, range(5), [0, 1, 2, 4])]),
    "a negative index": Sparsity([0, 1], [], [Level(4), Level(0, range(5), [0, 1, 2, -1])]),
    "fewer elements than data": Sparsity([0, 1], [], [Level(3), Level(0, range(4), range(3))]),
}


@pytest.mark.parametrize("sparsity", CONTRADICTIONS.values(), ids=CONTRADICTIONS.keys())
def test_contradictions(sparsity: Sparsity) -> None:
    data = dense_model((4, 4), "float32", (np.ones(4), sparsity))
    with pytest.raises(InvalidModel, match=r"^tensor 1 .* has sparse data that do not fit"):
        parse_model(data)


def test_a_small_file_cannot_ask_for_much_memory() -> None:
    stored = (np.ones(4), GOOD)
    with pytest.raises(InvalidModel, match="is too large for sparse data"):
        parse_model(dense_model((4, 2**26), "float32", stored))
    builder = ModelBuilder()
    x = builder.tensor((1,), "float32")
    for _ in range(3):
        builder.tensor((2**23, 4), "int8", 0.1, data=np.ones(4), sparsity=GOOD)
    with pytest.raises(InvalidModel, match="take more than 67,108,864 bytes together"):
        parse_model(builder.build([x], [x]))


def test_other_operators_refuse_sparse_constants() -> None:
    builder = ModelBuilder()
    x, y = (builder.tensor((4, 4), "float32") for _ in range(2))
    w = builder.tensor((4, 4), "float32", data=np.ones(4), sparsity=GOOD)
    builder.op("ADD", [x, w], [y])
    assert_refused(builder.build([x], [y]), "is stored sparsely; convert the model without")
