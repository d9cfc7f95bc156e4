"""Reading the options of custom operators: a FlexBuffer that holds one map of scalars.

The format is described at flatbuffers.dev ("FlexBuffers"). The bytes come from an untrusted file:
every access is checked, nothing is followed twice, and the work is bounded by the limits below.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

Scalar = int | float | bool

_NULL, _INT, _UINT, _FLOAT, _MAP, _BOOL = 0, 1, 2, 3, 9, 26
_INDIRECT = {6: _INT, 7: _UINT, 8: _FLOAT}  # an offset to the number in the place of the number
_FORMATS = {
    _INT: {1: "<b", 2: "<h", 4: "<i", 8: "<q"},
    _UINT: {1: "<B", 2: "<H", 4: "<I", 8: "<Q"},
    _FLOAT: {2: "<e", 4: "<f", 8: "<d"},
    _BOOL: {1: "<B", 2: "<H", 4: "<I", 8: "<Q"},
}
_MAX_ENTRIES = 1024
_MAX_KEY = 64  # bytes; no option has a longer name


class MalformedOptions(ValueError):
    """The bytes are no FlexBuffer with a map; the message says why in a few words."""


@dataclass(frozen=True)
class _Place:
    """A value: where it is (or its offset), in how many bytes, and how wide what it leads to is."""

    at: int
    width: int
    kind: int
    inner_width: int


def read_scalars(data: bytes) -> dict[str, Scalar]:
    """The integers, floats and truth values of the map in `data`, by key.

    Entries of other kinds (null, strings, vectors) are left out.

    Raises:
        MalformedOptions: for bytes that are no such map.
    """
    root = _root(data)
    if root.kind != _MAP:
        raise MalformedOptions("the options are no map")
    found: dict[str, Scalar] = {}
    for key, place in _entries(data, root):
        value = _scalar(data, place)
        if value is not None:
            found[key] = value
    return found


def _root(data: bytes) -> _Place:
    """The last two bytes are the type and the width of the root, which stands before them."""
    if len(data) < 3:
        raise MalformedOptions("the options are cut off")
    width, packed = data[-1], data[-2]
    return _Place(len(data) - 2 - width, width, packed >> 2, 1 << (packed & 3))


def _entries(data: bytes, map_at: _Place) -> list[tuple[str, _Place]]:
    """A map lies behind its keys: [offset of keys, their width, count] values, types."""
    start, width = _target(data, map_at), map_at.inner_width
    count = _unsigned(data, start - width, width)
    keys_width = _unsigned(data, start - 2 * width, width)
    keys = _target(data, _Place(start - 3 * width, width, _MAP, keys_width))
    if count > _MAX_ENTRIES or keys_width not in (1, 2, 4, 8):
        raise MalformedOptions("the options have a damaged map")
    types = _bytes(data, start + count * width, count)
    entries = []
    for i, packed in enumerate(types):
        key = _key(data, _Place(keys + i * keys_width, keys_width, 0, 1))
        kind, inner = packed >> 2, 1 << (packed & 3)
        at = start + i * width
        entries.append((key, _Place(at, width, kind, inner)))
    return entries


def _key(data: bytes, place: _Place) -> str:
    start = _target(data, place)
    end = data.find(0, start, start + _MAX_KEY + 1)
    if end < 0:
        raise MalformedOptions("the options have a name without an end")
    return data[start:end].decode("utf-8", errors="replace")


def _scalar(data: bytes, place: _Place) -> Scalar | None:
    kind, at, width = place.kind, place.at, place.width
    if kind in _INDIRECT:
        kind, at, width = _INDIRECT[kind], _target(data, place), place.inner_width
    if kind not in _FORMATS:
        return None
    layout = _FORMATS[kind].get(width)
    if layout is None:
        raise MalformedOptions(f"the options have a number of {width} bytes")
    (value,) = struct.unpack(layout, _bytes(data, at, width))
    return bool(value) if kind == _BOOL else value


def _target(data: bytes, place: _Place) -> int:
    """Where an offset leads, which is always towards the start."""
    return place.at - _unsigned(data, place.at, place.width)


def _unsigned(data: bytes, at: int, width: int) -> int:
    if width not in (1, 2, 4, 8):
        raise MalformedOptions(f"the options have an offset of {width} bytes")
    return int.from_bytes(_bytes(data, at, width), "little")


def _bytes(data: bytes, at: int, size: int) -> bytes:
    if at < 0 or at + size > len(data):
        raise MalformedOptions("the options point outside of themselves")
    return data[at : at + size]
