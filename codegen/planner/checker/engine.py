"""The proof of transfers and NPU commands: a scratchpad of tags, and what is under way in it.

A transfer takes the tags of its source when it starts and puts them down when it is waited for; in
between its target holds nothing, and its source must not change. A command is treated alike. So
whatever is read too early, overwritten too early or never waited for shows as a wrong tag.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from codegen.planner.checker.cache import Cache
from codegen.planner.checker.document import (
    CacheStep,
    Copy,
    DmaStart,
    DmaWait,
    NpuStart,
    NpuWait,
    ScratchView,
    Window,
)
from codegen.planner.checker.index import Index
from codegen.planner.checker.memory import UNCERTAIN, UNDER_WAY, TaggedMemory

Array = NDArray[np.int64]
Env = Mapping[str, int]
EngineStep = DmaStart | DmaWait | NpuStart | NpuWait | CacheStep


@dataclass(eq=False)
class _Flight:
    store: bool
    buffer: str
    memory: Array
    pad: Array
    tags: Array


@dataclass(eq=False)
class _Run:
    operator: int
    reads: list[tuple[Array, Array]] = field(default_factory=list)
    target: Array = field(default_factory=lambda: np.empty(0, np.int64))
    tags: Array = field(default_factory=lambda: np.empty(0, np.int64))


class Engine:
    """DMA, NPU and scratchpad of one execution. `produce` notes which bytes of a tensor exist.

    `bytes_read` and `bytes_written` are those of the last step.
    """

    def __init__(
        self,
        index: Index,
        memory: TaggedMemory,
        cache: Cache,
        produce: Callable[[int, Array], Iterator[str]],
    ) -> None:
        self._index, self._memory, self._cache, self._produce = index, memory, cache, produce
        pad = index.document.scratchpad
        self._limits = pad
        self._tags = np.zeros(pad.used if pad else 0, np.int64)
        self._flights: dict[int, _Flight] = {}
        self._run: _Run | None = None
        self._next = 0
        self._sums: dict[tuple[int, ...], int] = {}
        self.bytes_read = 0
        self.bytes_written = 0

    def step(self, step: EngineStep, env: Env) -> Iterator[str]:
        """Execute a step and yield a line for each fault."""
        self.bytes_read = self.bytes_written = 0
        if isinstance(step, DmaStart):
            yield from self._start(step, env)
        elif isinstance(step, DmaWait):
            yield from self._wait(step.dma_wait.at(env))
        elif isinstance(step, NpuStart):
            yield from self._command(step, env)
        elif isinstance(step, NpuWait):
            yield from self._finish()
        else:
            yield from self._cache.step(step)

    def at_end(self) -> Iterator[str]:
        """What is still under way behind the last layer."""
        for ticket in self._flights:
            yield f"transfer {ticket} is never waited for"
        if self._run:
            yield f"the last command, of operator {self._run.operator}, is never waited for"

    def _start(self, step: DmaStart, env: Env) -> Iterator[str]:
        ticket = step.dma_start.at(env)
        name = f"transfer {ticket}"
        if ticket != self._next:
            yield f"{name}: its ticket should be {self._next}"
        self._next = ticket + 1
        yield from (f"{name}: {fault}" for fault in self._illegal(step.copy_))
        buffer = self._index.buffers[step.buffer]
        space, base = self._cache.memory(buffer), self._memory.start(buffer)
        memory = base + step.memory.at(env) + _positions(step.copy_, memory=True)
        pad = step.scratch.at(env) + _positions(step.copy_, memory=False)
        if memory.min() < base or memory.max() >= base + buffer.size:
            yield f"{name}: leaves buffer {step.buffer}, which has {buffer.size} bytes"
            return
        if pad.min() < 0 or pad.max() >= self._tags.size:
            yield f"{name}: leaves the scratchpad's {self._tags.size} bytes"
            return
        source, target = (self._tags[pad], space[memory]) if step.store else (space[memory], None)
        if (source == UNDER_WAY).any() or (source == 0).any():
            yield f"{name}: sends bytes that are not there yet"
        if (source == UNCERTAIN).any():
            yield f"{name}: sends bytes of {step.buffer} that the cache may not have written back"
        if step.store and self._cache.is_dirty(buffer, memory):
            yield f"{name}: stores to lines of {step.buffer} that the cache may write back over it"
        if step.store:
            if target is not None and (target == UNDER_WAY).any():
                yield f"{name}: stores over bytes that another transfer writes"
            space[memory] = UNDER_WAY
        else:
            yield from (f"{name}: {fault}" for fault in self._in_use(pad))
            self._tags[pad] = UNDER_WAY
        self.bytes_read += pad.size
        self.bytes_written += pad.size
        self._flights[ticket] = _Flight(step.store, step.buffer, memory, pad, source.copy())

    def _illegal(self, copy: Copy) -> Iterator[str]:
        """What the DMA cannot do."""
        limits = self._limits
        if limits is None:
            yield "there is no scratchpad"
            return
        if len(self._flights) >= limits.queue:
            yield f"{limits.queue} transfers wait already"
        rank = 3 if copy.planes > 1 else 2 if copy.rows > 1 else 1
        if rank > limits.ranks or copy.length > limits.max_length:
            yield f"{copy.planes} x {copy.rows} x {copy.length} bytes are beyond the DMA"

    def _in_use(self, pad: Array) -> Iterator[str]:
        """Whether bytes about to be written are needed as they are, or written already."""
        if (self._tags[pad] == UNDER_WAY).any():
            yield "overwrites bytes that are being written"
        touched = np.zeros(self._tags.size, np.bool_)
        for flight in self._flights.values():
            touched[flight.pad] |= flight.store
        if touched[pad].any():
            yield "overwrites bytes that are being sent"
        touched[:] = False
        for where, _ in self._run.reads if self._run else ():
            touched[where] = True
        if touched[pad].any():
            yield "overwrites bytes that the running command reads"

    def _wait(self, ticket: int) -> Iterator[str]:
        flight = self._flights.pop(ticket, None)
        if flight is None:
            yield f"transfer {ticket} is waited for but not under way"
            return
        space = self._cache.memory(self._index.buffers[flight.buffer])
        source = self._tags[flight.pad] if flight.store else space[flight.memory]
        target = space[flight.memory] if flight.store else self._tags[flight.pad]
        if (source != flight.tags).any():
            yield f"transfer {ticket}: its source changed while it was sent"
        if (target != UNDER_WAY).any():
            yield f"transfer {ticket}: its target was written to while it was under way"
        if flight.store:
            space[flight.memory] = flight.tags
        else:
            self._tags[flight.pad] = flight.tags

    def _command(self, step: NpuStart, env: Env) -> Iterator[str]:
        name = f"command of operator {step.npu_start}"
        if self._run:
            yield f"{name}: starts while another one runs"
        run = _Run(step.npu_start)
        y0, x0, c0 = (value.at(env) for value in step.first_output)
        rows, cols, channels = step.size
        k0 = step.first_depth.at(env)
        sources = _Box(
            _needs(step.rows, y0, rows, step.reads[0].map[0]),
            _needs(step.columns, x0, cols, step.reads[0].map[1]),
            (k0, k0 + step.depth),
        )
        for view in step.reads:
            label = f"{name}: reads {self._index.label(view.tensor)}"
            yield from self._read(run, label, *self._places(view, sources, env))
        yield from self._weights(run, name, step, env)
        result = _Box((y0, y0 + rows), (x0, x0 + cols), (c0, c0 + channels))
        yield from self._results(run, name, step, env, result)
        self._run = run

    def _places(self, view: ScratchView, box: _Box, env: Env) -> tuple[Array, Array]:
        """Where the elements of a box lie in the scratchpad, and the tags of its tensor's bytes."""
        (y0, y1), (x0, x1), (c0, c1) = box.rows, box.columns, box.channels
        y = np.arange(y0, y1, dtype=np.int64)[:, None, None]
        x = np.arange(x0, x1, dtype=np.int64)[None, :, None]
        c = np.arange(c1 - c0, dtype=np.int64)[None, None, :]
        line = y - view.row0.at(env)
        line = line % view.ring if view.ring else line
        where = view.offset.at(env) + line * view.row + (x - view.col0.at(env)) * view.pixel + c
        _, width, depth = view.map
        bytes_ = (y * width + x) * depth + c0 + c
        tags = self._memory.tags(view.tensor, 0, self._index.tensors[view.tensor].bytes)
        return where.reshape(-1), tags[np.minimum(bytes_, len(tags) - 1)].reshape(-1)

    def _read(self, run: _Run, label: str, where: Array, tags: Array) -> Iterator[str]:
        if where.min() < 0 or where.max() >= self._tags.size:
            yield f"{label} outside of the scratchpad"
            return
        wrong = np.flatnonzero(self._tags[where] != tags)
        if wrong.size:
            yield f"{label}: {wrong.size} bytes are not there, the first at {where[wrong[0]]}"
        run.reads.append((where, tags))
        self.bytes_read += where.size

    def _weights(self, run: _Run, name: str, step: NpuStart, env: Env) -> Iterator[str]:
        if step.weights is None or step.weights_at is None or step.weights_buffer is None:
            return
        buffer = self._index.buffers[step.weights_buffer]
        first = step.weights_at.at(env)
        if first < 0 or first + step.weights_bytes > buffer.size:
            yield f"{name}: its weights lie outside of {buffer.name}"
            return
        tags = self._memory.space(buffer)[first : first + step.weights_bytes]
        where = step.weights.at(env) + np.arange(step.weights_bytes, dtype=np.int64)
        yield from self._read(run, f"{name}: reads its weights", where, tags)

    def _results(self, run: _Run, name: str, step: NpuStart, env: Env, box: _Box) -> Iterator[str]:
        """What the command writes: its result, or sums that the next slice goes on with."""
        key = (step.npu_start, *(value.at(env) for value in step.first_output))
        if step.sums is not None:
            size = 4 * int(np.prod(step.size))
            where = step.sums.at(env) + np.arange(size, dtype=np.int64)
            before = self._sums.get(key)
            if not step.first:
                tags = np.full(size, before if before is not None else 0, np.int64)
                yield from self._read(run, f"{name}: goes on with sums", where, tags)
            if not step.last:
                self._sums[key] = -(2**40) - len(self._sums) * 2**10 - step.first_depth.at(env)
                run.target, run.tags = where, np.full(size, self._sums[key], np.int64)
        if step.last:
            run.target, run.tags = self._places(step.writes, box, env)
            yield from self._produce(step.writes.tensor, _bytes_of(step.writes, box))
        if run.target.min() < 0 or run.target.max() >= self._tags.size:
            yield f"{name}: writes outside of the scratchpad"
            run.target = run.tags = np.empty(0, np.int64)
            return
        yield from (f"{name}: {fault}" for fault in self._written(run))
        self._tags[run.target] = UNDER_WAY
        self.bytes_written += run.target.size

    def _written(self, run: _Run) -> Iterator[str]:
        if (self._tags[run.target] == UNDER_WAY).any():
            yield "overwrites bytes that are being written"
        sent = np.zeros(self._tags.size, np.bool_)
        for flight in self._flights.values():
            sent[flight.pad] |= flight.store
        if sent[run.target].any():
            yield "overwrites bytes that are being sent"

    def _finish(self) -> Iterator[str]:
        run, self._run = self._run, None
        if run is None:
            yield "a command is waited for but none is under way"
            return
        own = np.zeros(self._tags.size, np.bool_)
        own[run.target] = True
        for where, tags in run.reads:
            if ((self._tags[where] != tags) & ~own[where]).any():
                yield f"what the command of operator {run.operator} reads changed while it ran"
        self._tags[run.target] = run.tags


@dataclass(frozen=True)
class _Box:
    rows: tuple[int, int]
    columns: tuple[int, int]
    channels: tuple[int, int]


def _bytes_of(view: ScratchView, box: _Box) -> Array:
    """The positions within the tensor of the bytes of a box."""
    _, width, depth = view.map
    y = np.arange(*box.rows, dtype=np.int64)[:, None, None]
    x = np.arange(*box.columns, dtype=np.int64)[None, :, None]
    c = np.arange(*box.channels, dtype=np.int64)[None, None, :]
    return ((y * width + x) * depth + c).reshape(-1)


def _needs(window: Window, first: int, count: int, size: int) -> tuple[int, int]:
    """[low, high) of the input for outputs first .. first + count - 1; never empty."""
    low = first * window.stride - window.pad
    reach = (window.kernel - 1) * window.dilation + 1
    high = (first + count - 1) * window.stride - window.pad + reach
    return max(0, min(low, size - 1)), max(1, min(high, size))


def _positions(copy: Copy, *, memory: bool) -> Array:
    """Offsets of all bytes of a transfer on one side."""
    row, plane = (
        (copy.memory_row, copy.memory_plane) if memory else (copy.scratch_row, copy.scratch_plane)
    )
    planes = np.arange(copy.planes, dtype=np.int64)[:, None, None] * plane
    rows = np.arange(copy.rows, dtype=np.int64)[None, :, None] * row
    return (planes + rows + np.arange(copy.length, dtype=np.int64)).reshape(-1)
