"""The inputs that are measured: the same bytes on every machine and for every tool compared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codegen.graph import DType, Tensor

_MULTIPLIER, _INCREMENT = 1664525, 1013904223


def bench_inputs(tensors: Sequence[Tensor]) -> tuple[bytes, ...]:
    """Raw bytes for every input from one generator.

    x = 1, then x = x * 1664525 + 1013904223 modulo 2^32 for every element, whose value is the top
    byte of x as a signed number: as it is for integers, divided by 64 for real numbers. Booleans
    take its lowest bit; wider integers may be indices and are 0.
    """
    stream = _signed_bytes()
    return tuple(_fill(tensor, stream).tobytes() for tensor in tensors)


def _signed_bytes() -> Iterator[int]:
    x = 1
    while True:
        x = (x * _MULTIPLIER + _INCREMENT) & 0xFFFFFFFF
        yield (x >> 24) - 256 * (x >> 31)


def _fill(tensor: Tensor, stream: Iterator[int]) -> NDArray[Any]:
    values = np.fromiter(stream, np.int16, tensor.elements)
    dtype = tensor.dtype.numpy
    assert dtype is not None  # a build refuses inputs that C has no type for
    if tensor.dtype is DType.BOOL:
        return (values & 1).astype(dtype)
    if dtype.kind == "f":
        return (values / 64).astype(dtype)
    if dtype.itemsize > 2:
        return np.zeros(tensor.elements, dtype)
    return values.astype(dtype)
