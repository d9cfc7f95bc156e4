"""Damaged copies of valid models: cut off, flipped, and with fields set to what they must not be.

Each mutation takes a valid file and a random generator and returns a damaged copy. The damaged
copy may still be valid; nobody may crash on it.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Mapping
from typing import Any

import tflite

Mutation = Callable[[bytes, random.Random], bytes]

_WORDS = (0, 1, -1, -2, 127, 255, 65535, 65536, 2**31 - 1, -(2**31), 2**24, 2**30)

# Byte positions of the fields' entries in the vtables, as the schema numbers them.
_MODEL_CODES, _MODEL_SUBGRAPHS, _MODEL_BUFFERS = 6, 8, 12
_GRAPH_TENSORS, _GRAPH_INPUTS, _GRAPH_OUTPUTS, _GRAPH_OPERATORS = 4, 6, 8, 10
_TENSOR_SHAPE, _TENSOR_TYPE, _TENSOR_BUFFER, _TENSOR_QUANTIZATION = 4, 6, 8, 12
_NODE_CODE, _NODE_INPUTS, _NODE_OUTPUTS, _NODE_OPTIONS = 4, 6, 8, 12
_QUANT_SCALE, _QUANT_ZERO_POINT, _QUANT_AXIS = 8, 10, 16


class _Site:
    """Where things are in a valid file."""

    def __init__(self, data: bytes, rng: random.Random) -> None:
        self.data, self.rng = bytearray(data), rng
        self.model = tflite.Model.GetRootAs(data)
        graphs = map(self.model.Subgraphs, range(self.model.SubgraphsLength()))
        self.graph = rng.choice([graph for graph in graphs if graph.OperatorsLength()])

    def tensor(self) -> Any:
        return self.graph.Tensors(self.rng.randrange(self.graph.TensorsLength()))

    def operator(self) -> Any:
        return self.graph.Operators(self.rng.randrange(self.graph.OperatorsLength()))

    def field(self, table: Any, slot: int) -> int | None:
        """Position of a field, None if the table leaves it out."""
        offset = table._tab.Offset(slot)
        return table._tab.Pos + offset if offset else None

    def element(self, table: Any, slot: int, width: int = 4) -> int | None:
        """Position of a random element of a vector field, None if there is none."""
        offset = table._tab.Offset(slot)
        length = table._tab.VectorLen(offset) if offset else 0
        if not length:
            return None
        return int(table._tab.Vector(offset)) + width * self.rng.randrange(length)

    def length(self, table: Any, slot: int) -> int | None:
        """Position of the number of elements of a vector field."""
        offset = table._tab.Offset(slot)
        return int(table._tab.Vector(offset)) - 4 if offset else None

    def write(self, position: int | None, value: int) -> bytes:
        """The file with a 32-bit word replaced, or a random one if there is no position."""
        if position is None:
            position = self.rng.randrange(len(self.data) - 4)
        struct.pack_into("<I", self.data, position, value & 0xFFFFFFFF)
        return bytes(self.data)

    def word(self) -> int:
        """A value that is rarely right."""
        near = self.rng.randrange(-4, 200)
        return self.rng.choice([*_WORDS, near, len(self.data), self.rng.getrandbits(32)])


def _truncate(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.randrange(len(data))]


def _flip_bits(data: bytes, rng: random.Random) -> bytes:
    damaged = bytearray(data)
    for _ in range(rng.randrange(1, 9)):
        damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
    return bytes(damaged)


def _random_bytes(data: bytes, rng: random.Random) -> bytes:
    damaged = bytearray(data)
    for _ in range(rng.randrange(1, 17)):
        damaged[rng.randrange(len(damaged))] = rng.randrange(256)
    return bytes(damaged)


def _random_word(data: bytes, rng: random.Random) -> bytes:
    site = _Site(data, rng)
    return site.write(4 * rng.randrange(len(data) // 4), site.word())


def _copy_block(data: bytes, rng: random.Random) -> bytes:
    """A stretch of the file written over another one: valid structures in wrong places."""
    damaged = bytearray(data)
    size = 4 * rng.randrange(1, 17)
    source, target = (4 * rng.randrange(len(data) // 4) for _ in range(2))
    damaged[target : target + size] = data[source : source + size]
    return bytes(damaged)


def _insert_or_remove(data: bytes, rng: random.Random) -> bytes:
    position, size = rng.randrange(len(data)), rng.randrange(1, 9)
    if rng.random() < 0.5:
        return data[:position] + rng.randbytes(size) + data[position:]
    return data[:position] + data[position + size :]


def _dimension(data: bytes, rng: random.Random) -> bytes:
    site = _Site(data, rng)
    return site.write(site.element(site.tensor(), _TENSOR_SHAPE), site.word())


def _tensor_type(data: bytes, rng: random.Random) -> bytes:
    site = _Site(data, rng)
    position = site.field(site.tensor(), _TENSOR_TYPE)
    if position is None:  # float32, the default
        return _random_bytes(data, rng)
    site.data[position] = rng.choice([*range(24), 100, 255])
    return bytes(site.data)


def _buffer_index(data: bytes, rng: random.Random) -> bytes:
    site = _Site(data, rng)
    return site.write(site.field(site.tensor(), _TENSOR_BUFFER), site.word())


def _quantization(data: bytes, rng: random.Random) -> bytes:
    site = _Site(data, rng)
    table = site.tensor().Quantization()
    if table is None:
        return _random_word(data, rng)
    places = [
        site.element(table, _QUANT_SCALE),
        site.element(table, _QUANT_ZERO_POINT, width=8),
        site.length(table, _QUANT_SCALE),
        site.length(table, _QUANT_ZERO_POINT),
        site.field(table, _QUANT_AXIS),
    ]
    return site.write(rng.choice(places), site.word())


def _operand(data: bytes, rng: random.Random) -> bytes:
    site = _Site(data, rng)
    slot = rng.choice([_NODE_INPUTS, _NODE_OUTPUTS])
    index = rng.randrange(-2, site.graph.TensorsLength() + 2)
    value = rng.choice([index, site.word()])
    return site.write(site.element(site.operator(), slot), value)


def _operator_code(data: bytes, rng: random.Random) -> bytes:
    site = _Site(data, rng)
    return site.write(site.field(site.operator(), _NODE_CODE), rng.choice([1, 2, site.word()]))


def _option(data: bytes, rng: random.Random) -> bytes:
    """A word of an operator's options, or of whatever lies next to them."""
    site = _Site(data, rng)
    union = site.operator().BuiltinOptions()
    if union is None:
        return _random_word(data, rng)
    return site.write(min(union.Pos + 4 * rng.randrange(6), len(data) - 4), site.word())


def _interface(data: bytes, rng: random.Random) -> bytes:
    site = _Site(data, rng)
    slot = rng.choice([_GRAPH_INPUTS, _GRAPH_OUTPUTS])
    return site.write(site.element(site.graph, slot), site.word())


def _vector_length(data: bytes, rng: random.Random) -> bytes:
    site = _Site(data, rng)
    table, slot = rng.choice(
        [
            (site.model, _MODEL_CODES),
            (site.model, _MODEL_SUBGRAPHS),
            (site.model, _MODEL_BUFFERS),
            (site.graph, _GRAPH_TENSORS),
            (site.graph, _GRAPH_INPUTS),
            (site.graph, _GRAPH_OPERATORS),
            (site.tensor(), _TENSOR_SHAPE),
            (site.operator(), _NODE_INPUTS),
            (site.operator(), _NODE_OUTPUTS),
        ]
    )
    return site.write(site.length(table, slot), site.word())


def _table_offset(data: bytes, rng: random.Random) -> bytes:
    """An offset that leads to a table or vector, bent."""
    site = _Site(data, rng)
    table, slot = rng.choice(
        [
            (site.model, _MODEL_BUFFERS),
            (site.model, _MODEL_SUBGRAPHS),
            (site.graph, _GRAPH_TENSORS),
            (site.tensor(), _TENSOR_QUANTIZATION),
            (site.tensor(), _TENSOR_SHAPE),
            (site.operator(), _NODE_INPUTS),
            (site.operator(), _NODE_OPTIONS),
        ]
    )
    return site.write(site.field(table, slot), site.word())


MUTATIONS: Mapping[str, Mutation] = {
    "truncate": _truncate,
    "flip_bits": _flip_bits,
    "random_bytes": _random_bytes,
    "random_word": _random_word,
    "copy_block": _copy_block,
    "insert_or_remove": _insert_or_remove,
    "dimension": _dimension,
    "tensor_type": _tensor_type,
    "buffer_index": _buffer_index,
    "quantization": _quantization,
    "operand": _operand,
    "operator_code": _operator_code,
    "option": _option,
    "interface": _interface,
    "vector_length": _vector_length,
    "table_offset": _table_offset,
}
