"""Numbers and types as C99 text."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from codegen.graph import DType

C_TYPES: dict[DType, str] = {
    DType.INT8: "int8_t",
    DType.UINT8: "uint8_t",
    DType.INT16: "int16_t",
    DType.UINT16: "uint16_t",
    DType.INT32: "int32_t",
    DType.UINT32: "uint32_t",
    DType.INT64: "int64_t",
    DType.UINT64: "uint64_t",
    DType.FLOAT32: "float",
    DType.FLOAT64: "double",
    DType.FLOAT16: "uint16_t",
    DType.BFLOAT16: "uint16_t",
    DType.BOOL: "uint8_t",
}


def float_literal(value: float) -> str:
    """The shortest decimal that reads back as the same float32.

    >>> float_literal(0.5), float_literal(1e-05), float_literal(3)
    ('0.5f', '1e-05f', '3.0f')
    """
    if math.isnan(value):
        return "(0.0f / 0.0f)"
    if math.isinf(value):
        return "(1.0f / 0.0f)" if value > 0 else "(-1.0f / 0.0f)"
    text = str(np.float32(value))
    return f"{text}f" if any(c in text for c in ".e") else f"{text}.0f"


def double_literal(value: float) -> str:
    """The shortest decimal that reads back as the same double.

    >>> double_literal(0.1), double_literal(-math.inf)
    ('0.1', '(-1.0 / 0.0)')
    """
    if math.isnan(value):
        return "(0.0 / 0.0)"
    if math.isinf(value):
        return "(1.0 / 0.0)" if value > 0 else "(-1.0 / 0.0)"
    return repr(value)


def int_literal(value: int) -> str:
    """An integer constant that fits its type; the smallest ones have no literal of their own."""
    if value == -(2**31):
        return "INT32_MIN"
    if value == -(2**63):
        return "INT64_MIN"
    if value > 2**63 - 1:
        return f"UINT64_C({value})"
    if not -(2**31) <= value < 2**31:
        return f"INT64_C({value})"
    return str(value)


def array_type(values: NDArray[np.generic]) -> str:
    """The C element type of a table."""
    name = values.dtype.name
    return C_TYPES[DType(name)]


def array_lines(values: NDArray[np.generic]) -> Iterator[str]:
    """The elements as lines of an initialiser, the same text for the same values."""
    flat = values.reshape(-1)
    if flat.dtype in (np.float16, np.bool_):
        flat = flat.view(f"u{flat.dtype.itemsize}")
    items: list[str]
    if flat.dtype == np.float32:
        items = [float_literal(value) for value in flat.tolist()]
    elif flat.dtype == np.float64:
        items = [double_literal(value) for value in flat.tolist()]
    elif flat.dtype.itemsize < 4:
        items = list(map(str, flat.tolist()))
    elif flat.dtype == np.uint32:
        items = [f"{value}u" for value in flat.tolist()]
    else:
        items = [int_literal(int(value)) for value in flat.tolist()]
    per_line = _PER_LINE.get(flat.dtype.itemsize, 4)
    for start in range(0, len(items), per_line):
        yield ", ".join(items[start : start + per_line]) + ","
    if not items:
        yield "0,"


_PER_LINE = {1: 18, 2: 14, 4: 8}
"""Elements per line by their size in bytes, so that lines stay below 100 columns."""
