"""Weights as the NPU's commands read them: one contiguous block per tile, parameters in front.

A block holds, for the output channels of a tile and a slice of the input channels, what
runtime_c/hal/cg_npu.h says: biases and requantisation parameters (with the last slice only), then
the weights. All blocks of an operator stand one after the other in one constant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from codegen.targets.npu import Kind, Work

Bytes = NDArray[np.uint8]


@dataclass(frozen=True)
class Slice:
    """Output channels [c0, c1) and input channels [k0, k1); `last`: parameters are needed."""

    c0: int
    c1: int
    k0: int
    k1: int
    last: bool


def block_bytes(work: Work, channels: int, depth: int, last: bool = True) -> int:
    """Bytes of a block for so many output channels and input channels; a multiple of 4."""
    if work.kind is Kind.DENSE:
        size = channels * work.taps * depth
    elif work.kind is Kind.DEPTHWISE:
        size = channels * work.taps
    else:
        return sum(_up(_values(work, name).nbytes) for name in _tables(work))
    return _up(size) + (_parameter_bytes(work, channels) if last else 0)


def _tables(work: Work) -> tuple[str, ...]:
    """The whole tables of operators without channels of weights."""
    return tuple(name for name in ("table", "exponentials") if work.table(name))


def _up(size: int) -> int:
    return -(-size // 4) * 4


def _scales(work: Work) -> tuple[str, ...]:
    """The parameter tables besides the bias, 32-bit ones first."""
    return (
        ("scale_high", "scale_low", "scale_shift")
        if work.table("scale_high")
        else ("multiplier", "shift")
    )


def _parameter_bytes(work: Work, channels: int) -> int:
    def size(name: str) -> int:
        values = _values(work, name)
        count = channels if values.size == work.result.c else 1
        return _up(count * values.dtype.itemsize)

    return 4 * channels + sum(size(name) for name in _scales(work))


def _values(work: Work, name: str) -> NDArray[np.generic]:
    table = work.table(name)
    if table is None:
        raise ValueError(f"{work.node.label} has no table {name}")
    return table.values


def pack(work: Work, slices: Sequence[Slice]) -> tuple[Bytes, dict[Slice, int]]:
    """All blocks one after the other, and where each of them starts."""
    parts: list[Bytes] = []
    offsets: dict[Slice, int] = {}
    end = 0
    for part in slices:
        offsets[part] = end
        block = _block(work, part)
        parts.append(block)
        end += block.size
    return np.concatenate(parts), offsets


def _block(work: Work, part: Slice) -> Bytes:
    if work.kind not in (Kind.DENSE, Kind.DEPTHWISE):
        return np.concatenate([_raw(_values(work, name)) for name in _tables(work)])
    pieces = []
    if part.last:
        bias = work.table("bias")
        zeros = np.zeros(work.result.c, np.int32)
        pieces.append(_raw(_channels(bias.values if bias else zeros, part)))
        for name in _scales(work):
            values = _values(work, name)
            pieces.append(_raw(_channels(values, part) if values.size == work.result.c else values))
    pieces.append(_raw(_filter(work, part)))
    return np.concatenate(pieces)


def _channels(values: NDArray[np.generic], part: Slice) -> NDArray[np.generic]:
    return values.reshape(-1)[part.c0 : part.c1]


def _filter(work: Work, part: Slice) -> NDArray[np.generic]:
    values = _values(work, "weights")
    if work.kind is Kind.DEPTHWISE:
        return values.reshape(work.taps, work.result.c)[:, part.c0 : part.c1]
    by_tap = values.reshape(work.result.c, work.taps, work.source.c)
    return by_tap[part.c0 : part.c1, :, part.k0 : part.k1]


def _raw(values: NDArray[np.generic]) -> Bytes:
    """Little-endian bytes, filled up to a multiple of 4."""
    little = values.astype(values.dtype.newbyteorder("<"))
    raw = np.frombuffer(little.tobytes(), np.uint8)
    return np.pad(raw, (0, -raw.size % 4))


def whole_bytes(work: Work) -> int:
    """Bytes of the weights and parameters of an operator that is not split."""
    return block_bytes(work, work.result.c, work.source.c)
