"""Weights and scales as the kernels for Helium read them (runtime_c/kernels/cg_mve.h)."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from codegen.fixed_point import INT32_MAX, INT32_MIN, quantize_multiplier
from codegen.ops.base import Param, table, weights
from codegen.ops.requantize import folded_bias
from codegen.ops.staircase import first_reaching

LANES = 16
"""Inputs per vector."""
BLOCK = 4
"""Output channels that are computed together."""
SCALES = 2 * BLOCK
"""Words of scales per block."""
ROOM = 2**31 - 256
"""What a shifted sum may reach so that adding a zero point cannot leave int32."""


class Rounding(enum.IntEnum):
    """How sums become codes: CG_MVE_... in cg_mve.h."""

    ONCE = 0
    TWICE_POSITIVE = 1
    TWICE_RIGHT = 2
    TWICE = 3


@dataclass(frozen=True)
class Requantisation:
    """From int32 sums to codes: per channel a Q31 multiplier and a shift, negative to the right."""

    multipliers: NDArray[np.int32]
    shifts: NDArray[np.int32]
    rounding: Rounding
    output_zero: int
    act_min: int
    act_max: int


def blocks_of(values: NDArray[np.generic], size: int = BLOCK) -> NDArray[np.generic]:
    """The channels along axis 0 in blocks, missing ones as zeros.

    Shapes: values[channels, ...] -> [blocks, size, ...].
    """
    missing = -len(values) % size
    padded = np.pad(values, [(0, missing)] + [(0, 0)] * (values.ndim - 1))
    return padded.reshape(-1, size, *values.shape[1:])


def packed_weights(filters: NDArray[np.int8], bias: NDArray[np.int32]) -> NDArray[np.int32]:
    """The stream that cg_mve.h describes, as words.

    Shapes: filters[channels, depth], bias[channels] -> [words].
    """
    depth = filters.shape[1]
    whole = depth // LANES * LANES
    blocks = blocks_of(filters)
    vectors = blocks[:, :, :whole].reshape(len(blocks), BLOCK, -1, LANES).swapaxes(1, 2)
    parts = [
        blocks_of(bias.astype("<i4")).view(np.int8),
        vectors,
        blocks[:, :, whole:],
    ]
    stream = np.concatenate([part.reshape(len(blocks), -1) for part in parts], axis=1).tobytes()
    surplus = -(depth - whole) % LANES
    return np.frombuffer(stream + bytes(-(-surplus // 4) * 4), "<i4").astype(np.int32)


def packed_scales(requantisation: Requantisation, multiple: int = BLOCK) -> NDArray[np.int32]:
    """Four multipliers and four shifts per block of channels, for a multiple of so many channels.

    Shapes: -> [blocks * 8].
    """
    columns = (requantisation.multipliers, requantisation.shifts)
    padded = [blocks_of(c.astype(np.int32), multiple).reshape(-1, BLOCK) for c in columns]
    return np.concatenate(padded, axis=1).reshape(-1)


def layer_params(
    filters: NDArray[np.int8],
    bias: NDArray[np.int32] | None,
    input_zero: int,
    requantisation: Requantisation,
) -> tuple[tuple[str, Param], ...]:
    """The fields of a `cg_mve_layer` called `layer`.

    Shapes: filters[channels, depth], bias[channels] or None.
    """
    stream = packed_weights(filters, folded_bias(filters, bias, input_zero))
    same = bool(np.ptp(requantisation.multipliers) == np.ptp(requantisation.shifts) == 0)
    return (
        ("layer.depth", filters.shape[1]),
        ("layer.weights", weights(stream)),
        ("layer.scales", table(packed_scales(requantisation)[: SCALES if same else None])),
        *output_params(requantisation, one_scale=same),
    )


def output_params(
    requantisation: Requantisation, *, one_scale: bool = False
) -> tuple[tuple[str, Param], ...]:
    """The fields of a `cg_mve_layer` called `layer` that turn sums into codes, scales excepted.

    `one_scale`: all channels have the scales of the first block.
    """
    return (
        ("layer.one_scale", int(one_scale)),
        ("layer.channels", len(requantisation.shifts)),
        ("layer.rounding", int(requantisation.rounding)),
        ("layer.output_offset", requantisation.output_zero),
        ("layer.act_min", requantisation.act_min),
        ("layer.act_max", requantisation.act_max),
    )


def twice_rounded(
    factors: Sequence[float],
    largest: NDArray[np.int64],
    output_zero: int,
    clamp: tuple[int, int],
) -> Requantisation | None:
    """Two roundings by one factor per channel, in the cheapest form that is exact.

    Where the clamp cuts off all that is negative, how that rounds does not matter; where all
    shifts go to the right, negative results need one correction. None if adding the zero point
    to a sum of up to `largest` could leave int32, where the reference wraps.
    """
    pairs = np.array([quantize_multiplier(f) for f in factors], np.int64).reshape(-1, 2)
    multipliers, shifts = pairs[:, 0], pairs[:, 1]
    reached = np.minimum(largest, 2**32) << np.maximum(shifts, 0)
    if np.any((shifts >= 0) & (multipliers > 0) & (reached >= ROOM)):
        return None
    if clamp[0] >= output_zero and shifts.max() <= 0:
        rounding = Rounding.TWICE_POSITIVE
    else:
        rounding = Rounding.TWICE_RIGHT if shifts.max() < 0 else Rounding.TWICE
    shorts = (multipliers.astype(np.int32), shifts.astype(np.int32))
    return Requantisation(*shorts, rounding, output_zero, *clamp)


def once_rounded(
    factors: Sequence[float], output_zero: int, clamp: tuple[int, int]
) -> Requantisation | None:
    """One rounding of a double product, halves away from zero, as an integer product.

    The product with a Q31 multiplier, rounded upwards, is a staircase in the sum like the
    reference's, and equal to it if each of the at most 255 steps between the clamp's
    ends is at the same place. The multipliers next to the nearest one are tried for every channel.
    None if none of them is right, or a factor is from 1/4 or negligible.
    """
    distinct = {
        f: _staircase(f, clamp[0] - output_zero, clamp[1] - output_zero) for f in {*factors}
    }
    found = [distinct[f] for f in factors]
    pairs = [pair for pair in found if pair is not None]
    if len(pairs) < len(found):
        return None
    multipliers, shifts = (np.array(column, np.int32) for column in zip(*pairs, strict=True))
    return Requantisation(multipliers, shifts, Rounding.ONCE, output_zero, *clamp)


def _staircase(factor: float, low: int, high: int) -> tuple[int, int] | None:
    """(m, -n) with clamp(round(sum * factor), low, high) =
    clamp(((sum * m >> 32) + 2**(n - 1)) >> n, low, high) for every int32 sum."""
    if factor == 0:
        return 0, -1
    nearest, exponent = quantize_multiplier(factor)
    right = -exponent - 1
    if right < 1 or nearest == 0:
        return None
    steps = np.arange(low + 1, high + 1, dtype=np.int64)
    first = first_reaching(steps, factor)
    for distance in sorted(range(-8, 9), key=abs):
        multiplier = nearest + distance
        if not 0 < multiplier <= INT32_MAX:
            continue
        reached = _once(np.minimum(first, INT32_MAX), multiplier, right) >= steps
        before = _once(np.maximum(first - 1, INT32_MIN), multiplier, right) < steps
        if np.all((reached | (first > INT32_MAX)) & (before | (first <= INT32_MIN))):
            return multiplier, -right
    return None


def _once(sums: NDArray[np.int64], multiplier: int, right: int) -> NDArray[np.int64]:
    high: NDArray[np.int64] = (sums * multiplier) >> 32
    rounded: NDArray[np.int64] = (high + (1 << (right - 1))) >> right
    return rounded
