"""One operator as commands: its tiles, what each of them loads, and what it stores."""

from __future__ import annotations

from collections.abc import Iterator

from codegen.npu.builder import Builder, memory_offset
from codegen.npu.program import NEVER, Block, Place, Tile, copy_of
from codegen.npu.tiling import (
    MOST_SINGLE_BLOCKS,
    WHOLE,
    Residence,
    Tiling,
    ring_rows,
    spans,
    tile_span,
)
from codegen.npu.weights import Slice, block_bytes
from codegen.targets.npu import Kind, Size, Work


def add_operator(builder: Builder, work: Work, tiling: Tiling, at: Residence) -> None:
    """Append the commands and transfers of an operator, split as `tiling` says."""
    feeds = [
        _Resident(builder, work, t) if kept else _feed(builder, work, tiling, t)
        for t, kept in zip(work.inputs, at.inputs, strict=True)
    ]
    weights = _Weights(builder, work, tiling)
    results = _Results(builder, work, tiling, at)
    for tile in tiles(work, tiling):
        loads: list[int] = []
        inputs = [feed.place(tile, loads) for feed in feeds]
        packed = weights.place(tile, loads)
        output, sums = results.place(tile)
        command = builder.command(work, tile, inputs, output, packed, sums, loads)
        for feed in feeds:
            feed.used(tile, command)
        weights.used(command)
        results.store(tile, output, command)


def tiles(work: Work, tiling: Tiling) -> Iterator[Tile]:
    """The commands' tiles in order; slices of the input channels are always innermost."""
    size = work.result
    rows, cols = spans(size.h, tiling.rows), spans(size.w, tiling.cols)
    channels = spans(size.c, tiling.channels)
    if tiling.channels_outer:
        order = [(y, x, c) for c in channels for x in cols for y in rows]
    else:
        order = [(y, x, c) for x in cols for y in rows for c in channels]
    for y, x, c in order:
        for k in input_channels(work, tiling, c):
            yield Tile(*y, *x, *c, *k)


def input_channels(work: Work, tiling: Tiling, c: tuple[int, int]) -> list[tuple[int, int]]:
    """The slices of input channels that make output channels [c0, c1)."""
    if work.kind is Kind.DENSE:
        return spans(work.source.c, tiling.depth)
    return [(c[0] // work.multiplier, (c[1] - 1) // work.multiplier + 1)]


class _Resident:
    """An input whose whole map lies in the scratchpad."""

    def __init__(self, builder: Builder, work: Work, t: int) -> None:
        self._block = builder.kept[builder.root(t)]
        self._size = work.source

    def place(self, tile: Tile, loads: list[int]) -> Place:
        return Place(self._block, tile.k0, self._size.row, self._size.c)

    def used(self, tile: Tile, command: int) -> None:
        """Nothing is overwritten, so nobody needs to know."""


class _Stream:
    """An input from memory, in a ring of rows of one strip of columns and channels at a time."""

    def __init__(self, builder: Builder, work: Work, tiling: Tiling, t: int, lines: int) -> None:
        self._builder, self._work, self._tensor = builder, work, t
        self._tiling, self._lines = tiling, lines
        self._block: Block | None = None
        self._strip: tuple[int, ...] = ()
        self._columns, self._rows = (0, 0), (0, 0)
        self._row0 = 0
        self._readers = [NEVER] * lines

    @property
    def line(self) -> int:
        """Bytes from line to line: those of the widest strip, so that lines never move."""
        work, tile = self._work, self._tiling
        channels = work.source.c
        if work.kind is Kind.DENSE:
            channels = tile.depth
        elif work.kind in (Kind.DEPTHWISE, Kind.POOL):
            channels = min(channels, -(-tile.channels // work.multiplier))
        return tile_span(work.columns, tile.cols, work.source.w) * channels

    @property
    def block(self) -> Block:
        if self._block is None:
            size = self._lines * self.line
            self._block = self._builder.program.block(f"t{self._tensor} rows", size)
        return self._block

    def forget(self) -> None:
        """What is in the ring is of no use for the next tile."""
        self._strip = ()

    def place(self, tile: Tile, loads: list[int]) -> Place:
        work = self._work
        low, high = work.rows.needs(tile.y0, tile.y1, work.source.h)
        strip = (tile.x0, tile.k0, tile.c0 if self._tiling.channels_outer else 0)
        if strip != self._strip or low < self._rows[0]:
            self._restart(strip, tile, low, high)
        if high > self._rows[1]:
            self._load((max(low, self._rows[1]), high), tile, loads)
            self._rows = (self._rows[0], high)
        ring = self._lines if self._lines < work.source.h else 0
        row0 = self._row0 if ring else 0
        return Place(self.block, 0, self.line, tile.k1 - tile.k0, ring, row0, self._columns[0])

    def _restart(self, strip: tuple[int, ...], tile: Tile, low: int, high: int) -> None:
        work = self._work
        self._strip = strip
        self._columns = work.columns.needs(tile.x0, tile.x1, work.source.w)
        step = self._tiling.rows * work.rows.stride
        self._rows = (low, low)
        aligned = high - -(-high // step) * step
        self._row0 = min(low, aligned) if self._lines % step == 0 else low

    def _load(self, rows: tuple[int, int], tile: Tile, loads: list[int]) -> None:
        """Load rows, in pieces where they wrap in the ring."""
        first, end = rows
        whole = self._lines >= self._work.source.h
        while first < end:
            line = first if whole else (first - self._row0) % self._lines
            stop = min(end, first + self._lines - line)
            loads += self._load_piece((first, stop), line, tile)
            first = stop

    def _load_piece(self, rows: tuple[int, int], line: int, tile: Tile) -> list[int]:
        size: Size = self._work.source
        x0, x1 = self._columns
        channels = tile.k1 - tile.k0
        count = rows[1] - rows[0]
        copy = copy_of(channels, (x1 - x0, size.c, channels), (count, size.row, self.line))
        after = max(self._readers[line : line + count])
        memory = memory_offset(size, rows[0], x0, tile.k0)
        return self._builder.load_rows(
            self._work, self._tensor, rows, memory, self.block, line * self.line, copy, after
        )

    def used(self, tile: Tile, command: int) -> None:
        work = self._work
        whole = self._lines >= work.source.h
        low, high = work.rows.needs(tile.y0, tile.y1, work.source.h)
        for y in range(low, high):
            self._readers[y if whole else (y - self._row0) % self._lines] = command
        self._builder.program.blocks[self.block.index].use(command)


class _Slots:
    """A sliced input from memory: the rows of each tile and slice anew, in one or two buffers."""

    def __init__(self, builder: Builder, work: Work, tiling: Tiling, t: int) -> None:
        lines = tile_span(work.rows, tiling.rows, work.source.h)
        self._slots = [
            _Stream(builder, work, tiling, t, lines) for _ in range(max(1, tiling.inputs))
        ]
        self._turn = -1

    def place(self, tile: Tile, loads: list[int]) -> Place:
        self._turn = (self._turn + 1) % len(self._slots)
        slot = self._slots[self._turn]
        slot.forget()
        return slot.place(tile, loads)

    def used(self, tile: Tile, command: int) -> None:
        self._slots[self._turn].used(tile, command)


class _Whole(_Stream):
    """An input from memory that is loaded once, row by row as tiles need it, and kept."""

    @property
    def line(self) -> int:
        return self._work.source.row

    @property
    def block(self) -> Block:
        if self._block is None:
            self._block = self._builder.program.block(f"t{self._tensor}", self._work.source.bytes)
        return self._block

    def place(self, tile: Tile, loads: list[int]) -> Place:
        size = self._work.source
        everything = Tile(tile.y0, tile.y1, 0, self._work.result.w, 0, 0, 0, size.c)
        self._columns = (0, size.w)
        _, high = self._work.rows.needs(tile.y0, tile.y1, size.h)
        if high > self._rows[1]:
            self._load((self._rows[1], high), everything, loads)
            self._rows = (0, high)
        return Place(self.block, tile.k0, size.row, size.c)


_Feed = _Resident | _Stream | _Slots


def _feed(builder: Builder, work: Work, tiling: Tiling, t: int) -> _Feed:
    if tiling.inputs == WHOLE:
        return _Whole(builder, work, tiling, t, work.source.h)
    if tiling.depth < work.source.c and work.kind is Kind.DENSE:
        return _Slots(builder, work, tiling, t)
    return _Stream(builder, work, tiling, t, ring_rows(work, tiling))


class _Weights:
    """The packed weights of an operator: all at once, or a block at a time."""

    def __init__(self, builder: Builder, work: Work, tiling: Tiling) -> None:
        self._builder, self._work, self._tiling = builder, work, tiling
        dense = work.kind is Kind.DENSE
        self._slices = [
            Slice(*c, *k, not dense or k[1] == work.source.c)
            for c in spans(work.result.c, tiling.channels)
            for k in input_channels(work, tiling, c)
        ]
        if not block_bytes(work, work.result.c, work.source.c):
            self._slices = []
        elif work.kind in (Kind.ELEMENT, Kind.SOFTMAX):
            self._slices = [Slice(0, 0, 0, 0, True)]
        self._offsets = builder.offsets(work, self._slices) if self._slices else {}
        self._blocks: list[Block] = []
        self._readers: list[int] = []
        self._turn, self._current = -1, Slice(-1, -1, -1, -1, False)
        self._apart = self._loads() <= MOST_SINGLE_BLOCKS

    def _loads(self) -> int:
        """How often blocks are loaded in all."""
        tiling, size = self._tiling, self._work.result
        spaces = -(-size.h // tiling.rows) * -(-size.w // tiling.cols)
        return len(self._slices) * (1 if tiling.channels_outer else spaces)

    def place(self, tile: Tile, loads: list[int]) -> tuple[Block, int] | None:
        if not self._slices:
            return None
        part = self._slices[0]
        if len(self._slices) > 1:
            part = Slice(tile.c0, tile.c1, tile.k0, tile.k1, tile.k1 == self._work.source.c)
            if self._work.kind is not Kind.DENSE:
                part = next(s for s in self._slices if s.c0 == tile.c0)
        if self._tiling.weights == WHOLE or len(self._slices) == 1:
            return self._all(loads), self._offsets[part]
        if part != self._current:
            self._load(part, loads)
        return self._blocks[self._turn], 0

    def _size(self, part: Slice) -> int:
        return block_bytes(self._work, part.c1 - part.c0, part.k1 - part.k0, part.last)

    def _all(self, loads: list[int]) -> Block:
        if not self._blocks:
            size = sum(self._size(part) for part in self._slices)
            self._blocks = [self._builder.program.block(f"w{self._work.node.index}", size)]
            self._readers = [NEVER]
            loads += self._builder.load_weights(self._work, 0, size, self._blocks[0])
            self._turn = 0
        return self._blocks[0]

    def _load(self, part: Slice, loads: list[int]) -> None:
        self._current = part
        fresh = self._apart or len(self._blocks) < self._tiling.weights
        if fresh:
            largest = self._size(part) if self._apart else max(map(self._size, self._slices))
            name = f"w{self._work.node.index}.{len(self._blocks)}"
            self._blocks.append(self._builder.program.block(name, largest))
            self._readers.append(NEVER)
            self._turn = len(self._blocks) - 1
        else:
            self._turn = (self._turn + 1) % len(self._blocks)
        loads += self._builder.load_weights(
            self._work,
            self._offsets[part],
            self._size(part),
            self._blocks[self._turn],
            self._readers[self._turn],
        )

    def used(self, command: int) -> None:
        if self._readers:
            self._readers[self._turn] = command


class _Results:
    """Where results go: the whole map in the scratchpad, or buffers that are stored."""

    def __init__(self, builder: Builder, work: Work, tiling: Tiling, at: Residence) -> None:
        self._builder, self._work, self._tiling, self._at = builder, work, tiling, at
        program, name = builder.program, f"t{work.output}"
        size = tiling.rows * tiling.cols * tiling.channels
        if at.kept:
            self._blocks = [program.block(name, work.result.bytes)]
            builder.kept[builder.root(work.output)] = self._blocks[0]
        else:
            self._blocks = [program.block(f"{name} tile", size) for _ in range(tiling.outputs)]
        sliced = tiling.depth < work.source.c and work.kind is Kind.DENSE
        self._sums = program.block(f"{name} sums", 4 * size) if sliced else None
        self._turn = 0

    def place(self, tile: Tile) -> tuple[Place, Block | None]:
        size = self._work.result
        if self._at.kept:
            return Place(self._blocks[0], tile.c0, size.row, size.c), self._sums
        block = self._blocks[self._turn]
        row = (tile.x1 - tile.x0) * tile.channels
        return Place(block, 0, row, tile.channels, 0, tile.y0, tile.x0), self._sums

    def store(self, tile: Tile, place: Place, command: int) -> None:
        work, size = self._work, self._work.result
        if work.kind is Kind.DENSE and tile.k1 < work.source.c:
            return
        if self._at.stored:
            copy = copy_of(
                tile.channels,
                (tile.x1 - tile.x0, size.c, place.pixel),
                (tile.y1 - tile.y0, size.row, place.row),
            )
            memory = memory_offset(size, tile.y0, tile.x0, tile.c0)
            self._builder.store(work, tile, place, command, memory, copy)
        self._turn = (self._turn + 1) % len(self._blocks)
