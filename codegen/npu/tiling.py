"""How one operator may be split into commands, what each way takes, and what it costs at least.

The space of an operator: rows, columns, output channels and input channels per tile, whether rows
or channels form the outer loop, and for each operand that comes from or goes to memory whether
it is kept whole or has one or two buffers. `tilings` lists it as numpy columns, so that memory and
bounds of thousands of ways are computed at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from codegen.board_schema import Board, Dma, Npu
from codegen.npu.program import ALIGNMENT
from codegen.npu.weights import block_bytes
from codegen.targets.npu import Axis, Kind, Work

Column = NDArray[np.int64]

WHOLE = 0
"""Of buffers: the operand is kept whole instead of being streamed."""

MOST_SINGLE_BLOCKS = 8
"""Up to so many blocks of weights each get a place of their own, freed as soon as they are used."""


@dataclass(frozen=True)
class Tiling:
    """One way to split an operator.

    Attributes:
        rows, cols, channels: of the output, per tile.
        depth: input channels per slice, whose partial sums are added up.
        channels_outer: whether each tile of channels goes over all rows before the next one, so
            that its weights stay; else each tile of rows goes over all channels.
        inputs, weights, outputs: buffers of each streamed operand, or `WHOLE`.
    """

    rows: int
    cols: int
    channels: int
    depth: int
    channels_outer: bool = False
    inputs: int = WHOLE
    weights: int = WHOLE
    outputs: int = 1

    def words(self, work: Work) -> str:
        """For comments: `8 of 48 rows, 16 of 64 channels`."""
        size = work.result
        parts = (
            (self.rows, size.h, "rows"),
            (self.cols, size.w, "columns"),
            (self.channels, size.c, "channels"),
            (self.depth, work.source.c, "input channels"),
        )
        split = [f"{part} of {whole} {word}" for part, whole, word in parts if part < whole]
        return ", ".join(split) or "one tile"


@dataclass(frozen=True)
class Residence:
    """Where an operator's maps are: which inputs lie in the scratchpad, and where results go."""

    inputs: tuple[bool, ...]
    kept: bool
    stored: bool


@dataclass(frozen=True, eq=False)
class Tilings:
    """Columns of equal length: the space, its memory and its costs.

    `bytes` of the scratchpad, `compute` cycles with starts, `moved` bytes, `dma` cycles, `first`:
    bytes that have to arrive before the first command, and `least`: cycles that no timeline of the
    operator alone can beat.
    """

    options: tuple[Tiling, ...]
    bytes: Column
    compute: Column
    moved: Column
    dma: Column
    first: Column
    least: NDArray[np.float64]


def parts(size: int, granule: int = 1, most: int = 1 << 30) -> list[int]:
    """The distinct tile sizes that split `size` evenly into 1, 2, ... pieces, largest first."""
    sizes: list[int] = []
    pieces = 1
    while pieces <= -(-size // granule):
        even = -(-size // pieces)
        part = min(size, -(-even // granule) * granule)
        count = -(-size // part)
        if part <= most and (not sizes or part < sizes[-1]):
            sizes.append(part)
        pieces = max(pieces, count) + 1
    return sizes


def thinned(sizes: list[int], most: int) -> list[int]:
    """At most about `most` of the sizes, the ends among them, evenly in between."""
    if len(sizes) <= most:
        return sizes
    picks = np.unique(np.linspace(0, len(sizes) - 1, most).round().astype(int))
    return [sizes[i] for i in picks]


def tilings(board: Board, work: Work, at: Residence, capacity: int) -> Tilings:
    """Every way that fits; columns and input channels are split only where nothing else fits."""
    npu, dma = engine(board)
    for level in range(3):
        found = _costed(board, npu, dma, work, at, list(_space(npu, work, at, level)))
        fits = found.bytes <= capacity
        if fits.any():
            return _select(found, fits)
    return _select(found, fits)


def engine(board: Board) -> tuple[Npu, Dma]:
    """The NPU and DMA of a board that has them."""
    if board.npu is None or board.dma is None:
        raise ValueError(f"board {board.name} has no NPU")
    return board.npu, board.dma


def least_bytes(board: Board, work: Work, at: Residence) -> int:
    """Bytes that the smallest tile takes."""
    npu, dma = engine(board)
    found = _costed(board, npu, dma, work, at, list(_space(npu, work, at, 2)))
    return int(found.bytes.min())


def _select(all_: Tilings, chosen: NDArray[np.bool_]) -> Tilings:
    options = tuple(o for o, keep in zip(all_.options, chosen.tolist(), strict=True) if keep)
    return Tilings(
        options,
        all_.bytes[chosen],
        all_.compute[chosen],
        all_.moved[chosen],
        all_.dma[chosen],
        all_.first[chosen],
        all_.least[chosen],
    )


def channel_granule(npu: Npu, work: Work) -> int:
    """Channel tiles are multiples of this, so that no rounding is paid twice."""
    if work.kind is Kind.DENSE:
        return max(npu.channel_alignment, npu.output_channel_multiple)
    return max(npu.channel_alignment, work.multiplier)


def depth_granule(npu: Npu) -> int:
    """Slices of input channels are multiples of this."""
    return max(npu.channel_alignment, npu.input_channel_multiple)


def _space(npu: Npu, work: Work, at: Residence, level: int) -> Iterator[Tiling]:
    size = work.result
    by_channel = work.kind not in (Kind.ELEMENT, Kind.SOFTMAX)
    sliced = level == 2 and work.kind is Kind.DENSE and npu.partial_sums
    rows = thinned(parts(size.h), 16)
    cols = thinned(parts(size.w), 10) if level else [size.w]
    channels = parts(size.c, channel_granule(npu, work)) if by_channel else [size.c]
    depths = thinned(parts(work.source.c, depth_granule(npu)), 8) if sliced else [work.source.c]
    streamed = not all(at.inputs)
    has_weights = block_bytes(work, size.c, work.source.c) > 0
    for r in rows if level < 2 else sorted({1, 2, size.h}):
        for w in cols:
            for c in thinned(channels, 12):
                for k in depths:
                    yield from _buffered(work, at, Tiling(r, w, c, k), streamed, has_weights, level)


def _buffered(
    work: Work, at: Residence, tile: Tiling, streamed: bool, has_weights: bool, level: int
) -> Iterator[Tiling]:
    """The loop orders and buffers of a tile."""
    size = work.result
    many_rows = tile.rows < size.h or tile.cols < size.w
    many_channels = tile.channels < size.c
    blocks = -(-size.c // tile.channels) * -(-work.source.c // tile.depth)
    apart = work.kind in (Kind.DEPTHWISE, Kind.POOL)
    orders = [True] if apart else [False, True] if many_rows and many_channels else [False]
    inputs = [1, 2] if streamed and (many_rows or (apart and many_channels)) else [1]
    inputs = ([WHOLE, *inputs] if level < 2 else inputs) if streamed else [WHOLE]
    if tile.depth < work.source.c and streamed:
        inputs = [1, 2]
    weights = ([WHOLE, 1, 2] if blocks > 1 else [WHOLE]) if has_weights else [WHOLE]
    outputs = [1, 2] if not at.kept and (many_rows or many_channels) else [1]
    for order in orders:
        for i in inputs:
            for w in weights:
                for o in outputs:
                    yield Tiling(tile.rows, tile.cols, tile.channels, tile.depth, order, i, w, o)


def tile_span(axis: Axis, outputs: int, size: int) -> int:
    """Most rows or columns of the input that so many outputs in a row need."""
    return min(size, (outputs - 1) * axis.stride + axis.span)


def ring_rows(work: Work, tile: Tiling) -> int:
    """Lines of the ring of a streamed input: the rows of a tile, and of the next one's new rows.

    More than two tiles have a ring of a whole number of steps, so that loads never wrap.
    """
    need = tile_span(work.rows, tile.rows, work.source.h)
    step = tile.rows * work.rows.stride
    lines = need + (tile.inputs - 1) * step
    if work.result.h > 2 * tile.rows:
        lines = -(-lines // step) * step
    return min(work.source.h, lines)


def _align(column: Column) -> Column:
    return -(-column // ALIGNMENT) * ALIGNMENT


@dataclass(frozen=True, eq=False)
class _Columns:
    """The fields of many tilings, and how many tiles there are along each dimension."""

    rows: Column
    cols: Column
    channels: Column
    depth: Column
    outer: Column
    inputs: Column
    weights: Column
    outputs: Column
    row_tiles: Column
    col_tiles: Column
    channel_tiles: Column
    slices: Column

    @staticmethod
    def of(work: Work, options: Sequence[Tiling]) -> _Columns:
        fields = np.array(
            [
                (
                    o.rows,
                    o.cols,
                    o.channels,
                    o.depth,
                    o.channels_outer,
                    o.inputs,
                    o.weights,
                    o.outputs,
                )
                for o in options
            ],
            np.int64,
        ).T
        sizes = (work.result.h, work.result.w, work.result.c, work.source.c)
        counts = [-(-size // column) for size, column in zip(sizes, fields, strict=False)]
        return _Columns(*fields, *counts)


def _costed(
    board: Board, npu: Npu, dma: Dma, work: Work, at: Residence, options: list[Tiling]
) -> Tilings:
    t = _Columns.of(work, options)
    weight_blocks = np.array([block_bytes(work, o.channels, o.depth) for o in options], np.int64)
    all_weights = _all_weights(work, options)
    spaces = t.row_tiles * t.col_tiles
    passes = np.where(t.outer == 1, 1, spaces)
    weight_loads = np.where(t.weights == WHOLE, 1, t.channel_tiles * t.slices * passes)
    single = (t.weights > 0) & (weight_loads <= MOST_SINGLE_BLOCKS)
    slots = np.where(single, 1, t.weights)
    weight_bytes = np.where(t.weights == WHOLE, _align(all_weights), slots * _align(weight_blocks))
    weights_moved = all_weights * np.where(t.weights == WHOLE, 1, passes)

    input_bytes, input_moved, input_loads, input_first = _inputs(work, at, t, options)
    resident = sum(map(int, at.inputs)) * int(_align(np.array(work.source.bytes)))
    tile_bytes = t.rows * t.cols * t.channels
    sums = np.where(t.slices > 1, _align(4 * tile_bytes), 0)
    outputs = _align(np.array(work.result.bytes)) if at.kept else t.outputs * _align(tile_bytes)
    stores = spaces * t.channel_tiles if at.stored else np.zeros_like(spaces)
    stored = work.result.bytes if at.stored else 0

    commands = spaces * t.channel_tiles * t.slices
    compute = _compute(npu, work, t) + commands * npu.start_cycles
    has_weights = all_weights > 0
    loads = np.where(has_weights, weight_loads, 0) + input_loads
    to_scratch, from_scratch, weight_rate = rates(board)
    thin_in, thin_out = _thin(work, t, to_scratch), _thin_results(work, t, from_scratch)
    busy = weights_moved / weight_rate + input_moved * thin_in + stored * thin_out
    setups = (loads + stores) * dma.setup_cycles
    dma_cycles = np.ceil(busy + (setups if dma.channels == 1 else 0)).astype(np.int64)
    first_weights = np.where(t.weights == WHOLE, all_weights, weight_blocks)
    return Tilings(
        tuple(options),
        weight_bytes + input_bytes + resident + sums + outputs,
        compute,
        weights_moved + input_moved + stored,
        dma_cycles,
        first_weights + input_first,
        _least(board, work, at, t, compute, np.where(has_weights, first_weights, 0)),
    )


def _least(
    board: Board, work: Work, at: Residence, t: _Columns, compute: Column, first_weights: Column
) -> NDArray[np.float64]:
    """All that is computed, between the loads of the first tile and the store of the last one."""
    _, dma = engine(board)
    load, store, weight_rate = rates(board)
    rows, columns = (
        np.clip((count - 1) * axis.stride - axis.pad + axis.span, 1, size)
        for count, axis, size in (
            (t.rows, work.rows, work.source.h),
            (t.cols, work.columns, work.source.w),
        )
    )
    channels = np.where(t.slices > 1, t.depth, work.source.c)
    if work.kind in (Kind.DEPTHWISE, Kind.POOL):
        channels = np.minimum(work.source.c, -(-t.channels // work.multiplier))
    count = sum(not kept for kept in at.inputs)
    before = count * rows * columns * channels / load + first_weights / weight_rate
    before += dma.setup_cycles * ((count > 0) | (first_weights > 0))
    last = [
        np.where(size % part == 0, part, size % part)
        for size, part in (
            (work.result.h, t.rows),
            (work.result.w, t.cols),
            (work.result.c, t.channels),
        )
    ]
    after = np.prod(last, axis=0) / store + dma.setup_cycles if at.stored else 0.0
    return np.asarray(before + compute + after, np.float64)


def rates(board: Board) -> tuple[float, float, float]:
    """Bytes per cycle of loads of maps, stores of maps and loads of weights."""
    if board.dma is None:
        raise ValueError(f"board {board.name} has no DMA")
    paths = {(p.source, p.destination): p.bytes_per_cycle for p in board.dma.paths}
    ram, flash = board.placement.arena[0], board.placement.weights[0]
    cap = board.dma.bytes_per_cycle or float("inf")
    pairs = ((ram, "scratchpad"), ("scratchpad", ram), (flash, "scratchpad"))
    load, store, weights = (min(cap, paths.get(pair, 1.0)) for pair in pairs)
    return load, store, weights


def _all_weights(work: Work, options: Sequence[Tiling]) -> Column:
    """Bytes of all blocks of an operator, by tiling."""
    known: dict[tuple[int, int], int] = {}
    for o in options:
        if (o.channels, o.depth) not in known:
            known[o.channels, o.depth] = sum(
                block_bytes(work, c1 - c0, k1 - k0, k1 == work.source.c)
                for c0, c1 in spans(work.result.c, o.channels)
                for k0, k1 in spans(work.source.c, o.depth)
            )
    return np.array([known[o.channels, o.depth] for o in options], np.int64)


def spans(size: int, part: int) -> list[tuple[int, int]]:
    """[first, end) of every tile of a dimension."""
    return [(a, min(size, a + part)) for a in range(0, size, part)]


def _inputs(
    work: Work, at: Residence, t: _Columns, options: Sequence[Tiling]
) -> tuple[Column, Column, Column, Column]:
    """Scratchpad bytes, bytes moved, transfers and first bytes of the inputs in memory."""
    source = work.source
    lines = np.array([ring_rows(work, o) if o.inputs else source.h for o in options], np.int64)
    need = np.minimum(source.h, (t.rows - 1) * work.rows.stride + work.rows.span)
    width = np.minimum(source.w, (t.cols - 1) * work.columns.stride + work.columns.span)
    sliced = t.slices > 1
    apart = work.kind in (Kind.DEPTHWISE, Kind.POOL)
    channels = np.where(sliced, t.depth, source.c)
    if apart:
        channels = np.minimum(source.c, -(-t.channels // work.multiplier))
    streamed = t.inputs > 0
    ring = np.where(sliced, need, lines)
    line_bytes = width * channels
    buffers = np.where(sliced, t.inputs, 1)
    size = np.where(streamed, buffers * _align(ring * line_bytes), _align(np.array(source.bytes)))
    passes = np.where(streamed & (t.outer == 1) & (not apart), t.channel_tiles, 1)
    again = np.where(sliced & (t.outer == 0), t.channel_tiles, passes)
    strips = np.where(streamed & (t.col_tiles > 1), t.col_tiles * width / source.w, 1.0)
    halo = np.where(sliced, np.maximum(1.0, t.row_tiles * need / source.h), 1.0)
    rounds = (again * strips * halo).clip(min=1)
    moved = np.floor(source.bytes * np.where(streamed, rounds, 1)).astype(np.int64)
    loads = np.where(
        streamed,
        t.row_tiles * t.col_tiles * again * t.slices * (t.channel_tiles if apart else 1),
        t.row_tiles,
    )
    first = need * np.where(streamed, line_bytes, source.row)
    count = sum(not kept for kept in at.inputs)
    return size * count, moved * count, loads * count, first * count


def _thin(work: Work, t: _Columns, rate: float) -> NDArray[np.float64]:
    """Cycles per byte of input: runs of few channels take a whole number of cycles each."""
    channels = np.where(t.slices > 1, t.depth, work.source.c)
    if work.kind in (Kind.DEPTHWISE, Kind.POOL):
        channels = np.minimum(work.source.c, -(-t.channels // work.multiplier))
    whole = (channels == work.source.c) | (t.inputs == WHOLE)
    return np.where(whole, 1 / rate, np.ceil(channels / rate) / channels)


def _thin_results(work: Work, t: _Columns, rate: float) -> NDArray[np.float64]:
    """Cycles per byte of output, likewise."""
    whole = t.channels == work.result.c
    return np.where(whole, 1 / rate, np.ceil(t.channels / rate) / t.channels)


def _compute(npu: Npu, work: Work, t: _Columns) -> Column:
    """Cycles of all commands without their starts, rounded up once."""
    size = work.result
    pixels = size.h * size.w
    if work.kind is Kind.DENSE:
        channels = _rounded(size.c, t.channels, npu.output_channel_multiple)
        depth = _rounded(work.source.c, t.depth, npu.input_channel_multiple)
        cycles = pixels * work.taps * channels * depth / npu.macs_per_cycle
    elif work.kind in (Kind.DEPTHWISE, Kind.POOL):
        taps = -(-work.taps // npu.depthwise_tap_multiple) * npu.depthwise_tap_multiple
        cycles = np.full_like(t.rows, pixels * size.c * taps) / npu.depthwise_macs_per_cycle
    else:
        cycles = np.full_like(t.rows, pixels * size.c) / npu.elements_per_cycle
    return np.ceil(cycles).astype(np.int64)


def _rounded(size: int, part: Column, multiple: int) -> Column:
    """The sum of all tiles of a dimension, each rounded up."""
    full, rest = size // part, size % part
    up = -(-part // multiple) * multiple
    return full * up + -(-rest // multiple) * multiple
