"""Tensors and constant buffers: shapes, types, quantisation and data, each checked."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import tflite

from codegen.errors import InvalidModel
from codegen.graph import DType, Quantization, Tensor
from codegen.importer.flat import checked, numbers, text
from codegen.importer.sparsity import MAX_EXPANDED, expanded

_MAX_RANK = 32
_MAX_BYTES = 2**31 - 1  # no 32-bit controller can hold, or even address, a larger tensor

# Types that the schema has and the `tflite` package does not know yet.
_NEWER_TYPES = {19: DType.INT2, 20: DType.UINT4, 21: DType.FLOAT8_E4M3FN, 22: DType.FLOAT8_E5M2}

_DTYPES: Mapping[int, DType] = {
    value: DType(name.lower())
    for name, value in vars(tflite.TensorType).items()
    if isinstance(value, int)
} | _NEWER_TYPES

_ZERO_POINT_RANGES: Mapping[DType, tuple[int, int]] = {
    DType.INT4: (-8, 7),
    DType.INT8: (-128, 127),
    DType.UINT8: (0, 255),
    DType.INT16: (-32768, 32767),
}


@dataclass(frozen=True)
class Buffers:
    """The bytes of every buffer; empty for those that only name a tensor to be computed."""

    data: tuple[bytes, ...]

    def of(self, index: int, where: str) -> bytes:
        """The bytes of the buffer of a tensor, given its index.

        Raises:
            InvalidModel: if there is no such buffer.
        """
        if index == 0:  # the schema's convention for "none"
            return b""
        if index >= len(self.data):
            raise InvalidModel(f"{where} names buffer {index} of {len(self.data)}")
        return self.data[index]


def read_buffers(tables: Sequence[Any], data: bytes) -> Buffers:
    """The model's buffers, inside the flatbuffer or behind it (fields offset and size).

    Raises:
        InvalidModel: for data outside of the file, or buffers that overlap.
    """
    contents: list[bytes] = []
    total = 0
    for table in tables:
        view = _buffer_view(table, data)
        total += len(view)
        if total > len(data):
            raise InvalidModel(f"{table._tab.where} overlaps other buffers: the file is damaged")
        contents.append(bytes(view))
    return Buffers(tuple(contents))


def _buffer_view(table: Any, data: bytes) -> memoryview:
    if not table.DataIsNone():
        return memoryview(table.DataAsNumpy())
    return outside_view(data, table.Offset(), table.Size(), table._tab.where)


def outside_view(data: bytes, offset: int, size: int, where: str) -> memoryview:
    """Bytes that lie behind the flatbuffer; offsets 0 and 1 are the schema's "nothing there".

    Raises:
        InvalidModel: if they would reach over the file's end.
    """
    if offset <= 1:
        return memoryview(b"")
    if offset + size > len(data):
        raise InvalidModel(
            f"{where} needs {size} bytes at {offset} of a file of {len(data)}: it is cut off"
        )
    return memoryview(data)[offset : offset + size]


def read_tensor(index: int, table: Any, buffers: Buffers) -> Tensor:
    """One tensor as the file states it; `free_dims` names what its signature leaves open.

    Raises:
        InvalidModel: for absurd shapes, unknown types, contradicting quantisation, or constant
            data whose length is not that of the shape.
    """
    name = text(table.Name())
    table._tab.where = where = f'{table._tab.where} "{name[:60]}"'
    dtype = _DTYPES.get(table.Type())
    if dtype is None:
        raise InvalidModel(f"{where} has the unknown type {table.Type()}")
    shape = _read_shape(table, where)
    if is_too_large(shape, dtype):
        raise InvalidModel(f"{where} of shape {list(shape)} is larger than 2 GiB")
    raw = buffers.of(table.Buffer(), where) or None
    sparsity = table.Sparsity()
    if sparsity is not None and raw is not None:
        raw = _expanded(sparsity, raw, shape, dtype, where)
    tensor = Tensor(
        index=index,
        name=name,
        shape=shape,
        dtype=dtype,
        quant=_read_quantization(table.Quantization(), shape, dtype, where),
        raw=raw,
        is_variable=bool(table.IsVariable()),
        sparse=sparsity is not None,
        free_dims=() if raw else _read_free_dims(table, shape),
        buffer=table.Buffer() if raw else 0,
    )
    _check_data(tensor, where)
    return tensor


def _expanded(sparsity: Any, raw: bytes, shape: tuple[int, ...], dtype: DType, where: str) -> bytes:
    """The elements of a sparse constant with its zeros; of numbers that numpy knows."""
    if dtype.numpy is None:
        raise InvalidModel(f"{where} is {dtype.value} and sparse, which is not defined")
    if math.prod(shape) * dtype.size > MAX_EXPANDED:
        raise InvalidModel(f"{where} of shape {list(shape)} is too large for sparse data")
    return expanded(sparsity, raw, shape, dtype.numpy, where)


def is_too_large(shape: tuple[int, ...], dtype: DType) -> bool:
    """Whether a tensor passes 2 GiB, dimensions of 0 not counted, so that products stay sane."""
    return math.prod(max(d, 1) for d in shape) * max(dtype.bits, 8) > 8 * _MAX_BYTES


def _read_shape(table: Any, where: str) -> tuple[int, ...]:
    shape = numbers(table, "Shape")
    if len(shape) > _MAX_RANK:
        raise InvalidModel(f"{where} has {len(shape)} dimensions; at most {_MAX_RANK} make sense")
    if any(d < 0 for d in shape):
        raise InvalidModel(f"{where} has a negative dimension: {list(shape)}")
    return shape


def _read_free_dims(table: Any, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Dimensions that are -1 in the signature; one of another rank says nothing."""
    signature = numbers(table, "ShapeSignature")
    if len(signature) != len(shape):
        return ()
    return tuple(axis for axis, size in enumerate(signature) if size < 0)


def _check_data(tensor: Tensor, where: str) -> None:
    if tensor.raw is None or tensor.dtype.bits == 0:
        return
    if len(tensor.raw) != tensor.nbytes:
        raise InvalidModel(
            f"{where} {tensor.describe()} needs {tensor.nbytes} bytes of data, "
            f"its buffer has {len(tensor.raw)}"
        )
    if tensor.is_variable:
        raise InvalidModel(f"{where} is both a variable and a constant")


def _read_quantization(
    table: Any, shape: tuple[int, ...], dtype: DType, where: str
) -> Quantization | None:
    """None unless there are scales: ranges alone (min, max) are left-overs of training."""
    if table is None:
        return None
    checked(table, where)
    scales, points = numbers(table, "Scale"), numbers(table, "ZeroPoint")
    if not scales:
        return None
    axis = _check_quantization(scales, points, table.QuantizedDimension(), shape, where)
    low, high = _ZERO_POINT_RANGES.get(dtype, (-(2**31), 2**31 - 1))
    for point in points:
        if not low <= point <= high:
            raise InvalidModel(f"{where} has a zero point outside of {dtype.value}: {point}")
    return Quantization(scales, points, axis)


def _check_quantization(
    scales: tuple[float, ...],
    points: tuple[int, ...],
    axis: int,
    shape: tuple[int, ...],
    where: str,
) -> int:
    """The quantised axis; where there is no choice files carry any number, and it becomes 0."""
    if len(points) != len(scales):
        raise InvalidModel(f"{where} has {len(scales)} scales but {len(points)} zero points")
    bad = [s for s in scales if not (math.isfinite(s) and s >= 0)]
    if bad:
        raise InvalidModel(f"{where} has a scale that is not a positive number: {bad[0]}")
    if len(scales) == 1 or shape == (len(scales),):
        return 0
    if not 0 <= axis < len(shape):
        raise InvalidModel(f"{where} is quantised along axis {axis} of shape {list(shape)}")
    if len(scales) != shape[axis]:
        raise InvalidModel(
            f"{where} has {len(scales)} scales for axis {axis} of shape {list(shape)}"
        )
    return axis
