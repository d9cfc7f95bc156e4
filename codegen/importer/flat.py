"""Bounds-checked reading of flatbuffers.

The accessors of the `tflite` package trust the file: an offset that points outside gives a
struct.error, wraps around to the file's end, or makes a loop of four billion steps. They reach
the bytes through one `flatbuffers.table.Table` each, so giving them the `CheckedTable` below
makes every access safe without a word about slots and offsets elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from flatbuffers import encode, number_types, packer
from flatbuffers.table import Table

from codegen.errors import InvalidModel

_UOFFSET = 4  # bytes of an offset, of a vector's length and of a table's link to its vtable
_VOFFSET = 2  # bytes of a vtable entry

# More tensors, operators or buffers than any network has; keeps hostile files from running long.
MAX_TABLES = 40_000


class CheckedTable(Table):  # type: ignore[misc]
    """A flatbuffers table that never reads outside of the file.

    Args:
        buf: the whole file.
        pos: where the table starts.
        where: what the table describes, for messages ("tensor 3").

    Raises:
        InvalidModel: by every method, when an offset or a length leads outside.
    """

    __slots__ = ("_inline_size", "_vtable", "_vtable_size", "where")

    def __init__(self, buf: bytes, pos: int, where: str) -> None:
        self.where = where
        _require(buf, pos, _UOFFSET, where)
        super().__init__(buf, pos)
        self._vtable = pos - self._read(packer.soffset, pos, _UOFFSET)
        self._vtable_size = self._read(packer.voffset, self._vtable, _VOFFSET)
        self._inline_size = self._read(packer.voffset, self._vtable + _VOFFSET, _VOFFSET)
        self._require(self._vtable, self._vtable_size)
        self._require(pos, self._inline_size)

    def Offset(self, vtableOffset: int) -> int:  # noqa: N802, N803 - the base class's names
        """A field's distance from the table's start, 0 for a field that is absent."""
        if vtableOffset + _VOFFSET > self._vtable_size:
            return 0
        offset = self._read(packer.voffset, self._vtable + vtableOffset, _VOFFSET)
        if offset >= self._inline_size:
            raise _damaged(self.where)
        return offset

    def Indirect(self, off: int) -> int:  # noqa: N802
        """Follow the offset that is stored at `off`."""
        target = off + self._read(packer.uoffset, off, _UOFFSET)
        self._require(target, _UOFFSET)
        return target

    def String(self, off: int) -> bytes:  # noqa: N802
        """The bytes of the string whose offset is stored at `off`."""
        start = self.Indirect(off)
        length = self._read(packer.uoffset, start, _UOFFSET)
        self._require(start + _UOFFSET, length)
        return bytes(self.Bytes[start + _UOFFSET : start + _UOFFSET + length])

    def VectorLen(self, off: int) -> int:  # noqa: N802
        """A vector's number of elements, of which each has at least one byte in the file."""
        start = self.Indirect(off + self.Pos)
        length = self._read(packer.uoffset, start, _UOFFSET)
        self._require(start + _UOFFSET, length)
        return length

    def Vector(self, off: int) -> int:  # noqa: N802
        """Where a vector's first element is."""
        return self.Indirect(off + self.Pos) + _UOFFSET

    def Union(self, t2: Table, off: int) -> None:  # noqa: N802
        """Point `t2` at the table in a union field."""
        t2.Bytes, t2.Pos = self.Bytes, self.Indirect(off + self.Pos)

    def Get(self, flags: Any, off: int) -> Any:  # noqa: N802
        """The scalar at `off`."""
        self._require(off, flags.bytewidth)
        return flags.py_type(encode.Get(flags.packer_type, self.Bytes, off))

    def GetVectorAsNumpy(self, flags: Any, off: int) -> Any:  # noqa: N802
        """The elements of a vector of scalars, as a view of the file."""
        start, length = self.Vector(off), self.VectorLen(off)
        self._require(start, length * flags.bytewidth)
        dtype = number_types.to_numpy_type(flags)
        if length == 0:
            return np.empty(0, dtype)
        return encode.GetVectorAsNumpy(dtype, self.Bytes, length, start)

    def _require(self, start: int, length: int) -> None:
        _require(self.Bytes, start, length, self.where)

    def _read(self, packer_type: Any, off: int, width: int) -> int:
        self._require(off, width)
        return int(encode.Get(packer_type, self.Bytes, off))


def _require(buf: bytes, start: int, length: int, where: str) -> None:
    if start < 0 or start + length > len(buf):
        raise _damaged(where)


def _damaged(where: str) -> InvalidModel:
    return InvalidModel(
        f"{where} points outside of the file: it is damaged or cut off; get a fresh copy"
    )


def root(accessor: Any, data: bytes, where: str) -> Any:
    """The table at the start of the file, for an accessor class of the `tflite` package."""
    table = accessor()
    position = int(encode.Get(packer.uoffset, data, 0))
    table._tab = CheckedTable(data, position, where)
    return table


def checked(accessor: Any, where: str) -> Any:
    """Make an accessor object that another one returned safe to use; None stays None."""
    if accessor is not None:
        accessor._tab = CheckedTable(accessor._tab.Bytes, accessor._tab.Pos, where)
    return accessor


def tables(parent: Any, field: str, where: str) -> Iterator[Any]:
    """The checked tables of a vector field; `where` names one of them ("tensor")."""
    count = getattr(parent, f"{field}Length")()
    if count > MAX_TABLES:
        raise InvalidModel(f"{parent._tab.where} has {count} entries of kind {where}: damaged file")
    read = getattr(parent, field)
    for index in range(count):
        yield checked(read(index), f"{where} {index}")


def numbers(parent: Any, field: str) -> tuple[Any, ...]:
    """The elements of a vector field of scalars; empty when the field is absent."""
    if getattr(parent, f"{field}IsNone")():
        return ()
    return tuple(getattr(parent, f"{field}AsNumpy")().tolist())


def text(raw: bytes | None) -> str:
    """A string of the file for messages and reports: untrusted, so unprintables become "?"."""
    decoded = (raw or b"").decode("utf-8", errors="replace")
    return "".join(c if c.isprintable() else "?" for c in decoded)
