"""Constants that a file stores sparsely: only the elements that are not 0, and where they stand.

A tree of levels leads to the stored elements, in their order. Each level is one dimension of the
tensor or of the blocks into which some dimensions are cut. A DENSE level has all its indices below
every node of the level before; a SPARSE_CSR level lists indices, those below node k in the segment
[segments[k], segments[k + 1]). The nodes of the last level are the stored elements.

The bytes come from an untrusted file: the levels may not have more nodes than the tensor has
elements, and all sparse tensors of a file together not more than `MAX_EXPANDED` bytes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import tflite
from numpy.typing import NDArray

from codegen.errors import InvalidModel
from codegen.importer.flat import checked, numbers, tables

MAX_EXPANDED = 64 << 20
"""Bytes that all sparse tensors of a file may take once expanded."""
_MAX_LEVELS = 32

Indices = NDArray[np.int64]

_VECTORS = {
    tflite.SparseIndexVector.Int32Vector: tflite.Int32Vector,
    tflite.SparseIndexVector.Uint16Vector: tflite.Uint16Vector,
    tflite.SparseIndexVector.Uint8Vector: tflite.Uint8Vector,
}


@dataclass(frozen=True, eq=False)
class _Level:
    """One level: `size` where it is dense, else segments and indices."""

    size: int
    segments: Indices | None
    indices: Indices | None


def expanded(
    table: Any, raw: bytes, shape: tuple[int, ...], dtype: np.dtype[Any], where: str
) -> bytes:
    """The bytes of the whole tensor, in the order of its axes.

    Args:
        table: the tensor's SparsityParameters.
        raw: the stored elements.
        shape: of the tensor, which has at most `MAX_EXPANDED` bytes.
        dtype: of its elements.
        where: the tensor's name in messages.

    Raises:
        InvalidModel: if the levels do not fit the shape or the stored elements.
    """
    checked(table, where)
    order, blocked = numbers(table, "TraversalOrder"), numbers(table, "BlockMap")
    levels = [_level(t, where) for t in tables(table, "DimMetadata", f"{where}: level")]
    rank = len(shape)
    if (
        len(levels) > _MAX_LEVELS
        or sorted(order) != list(range(rank + len(blocked)))
        or len(order) != len(levels)
        or len(set(blocked)) != len(blocked)
        or any(not 0 <= axis < rank for axis in blocked)
    ):
        raise _damaged(where)
    paths = _paths(levels, math.prod(shape), where)
    sizes, inner = [1] * rank, [np.zeros(1, np.int64)] * rank
    outer = list(inner)
    for dimension, level, indices in zip(order, levels, paths, strict=True):
        if dimension < rank:
            outer[dimension] = indices
        else:
            axis = blocked[dimension - rank]
            sizes[axis], inner[axis] = _block_size(level, where), indices
    places = [
        outside * size + inside for outside, size, inside in zip(outer, sizes, inner, strict=True)
    ]
    return _scattered(places, raw, shape, dtype, where)


def _scattered(
    places: list[Indices], raw: bytes, shape: tuple[int, ...], dtype: np.dtype[Any], where: str
) -> bytes:
    """Zeros with the stored elements at their places."""
    count = max((len(p) for p in places), default=1)
    if count * dtype.itemsize != len(raw) or any(
        np.any((p < 0) | (p >= size)) for p, size in zip(places, shape, strict=True)
    ):
        raise _damaged(where)
    values = np.zeros(shape, dtype)
    values[tuple(places)] = np.frombuffer(raw, dtype)
    return values.tobytes()


def _block_size(level: _Level, where: str) -> int:
    if level.indices is not None:
        raise _damaged(where)
    return level.size


def _paths(levels: list[_Level], most: int, where: str) -> list[Indices]:
    """For every level its index on the way to each stored element."""
    paths: list[Indices] = []
    nodes = 1
    for level in levels:
        if level.indices is None or level.segments is None:
            counts = np.full(nodes, level.size, np.int64)
            _require(nodes * level.size <= most, where)
            own = np.tile(np.arange(level.size), nodes)
        else:
            ends = level.segments
            counts = np.diff(ends)
            _require(len(ends) == nodes + 1 and ends[0] == 0 and bool(np.all(counts >= 0)), where)
            _require(len(level.indices) == ends[-1] <= most, where)
            own = level.indices
        paths = [np.repeat(path, counts) for path in paths] + [own]
        nodes = len(own)
    return paths


def _level(table: Any, where: str) -> _Level:
    if table.Format() == tflite.DimensionType.DENSE:
        _require(table.DenseSize() > 0, where)
        return _Level(table.DenseSize(), None, None)
    _require(table.Format() == tflite.DimensionType.SPARSE_CSR, where)
    segments = _vector(table.ArraySegmentsType(), table.ArraySegments(), where)
    return _Level(0, segments, _vector(table.ArrayIndicesType(), table.ArrayIndices(), where))


def _vector(kind: int, union: Any, where: str) -> Indices:
    if kind not in _VECTORS or union is None:
        raise _damaged(where)
    vector = _VECTORS[kind]()
    vector.Init(union.Bytes, union.Pos)
    return np.array(numbers(checked(vector, where), "Values"), np.int64)


def _require(sane: bool, where: str) -> None:
    if not sane:
        raise _damaged(where)


def _damaged(where: str) -> InvalidModel:
    return InvalidModel(f"{where} has sparse data that do not fit its shape; convert it again")
