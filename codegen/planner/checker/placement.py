"""Faults of the declared addresses and lifetimes: budgets, alignment, pairs of live buffers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from codegen.planner.checker.control import control_needs
from codegen.planner.checker.document import Buffer, Memory
from codegen.planner.checker.index import Index, layer_label, loops_entered_once


def placement(index: Index) -> Iterator[str]:
    """Everything wrong with sizes, addresses and lifetimes of buffers."""
    shared = set(_steps_between_buffers(index))
    for memory in index.document.memories:
        here = [b for b in index.document.buffers if b.memory == memory.name]
        arena, state = ([b for b in here if b.home == home] for home in ("arena", "state"))
        yield from _memory(memory, arena, state)
        yield from _overlaps(memory.name, arena, shared)
        yield from _overlaps(f"the state of {memory.name}", state, set())
    yield from _lifetimes(index)


def _memory(memory: Memory, arena: list[Buffer], state: list[Buffer]) -> Iterator[str]:
    name = memory.name
    if memory.alignment.bit_count() != 1:
        yield f"memory {name}: alignment {memory.alignment} is no power of two"
    if (arena or state) and memory.kind != "ram":
        yield f"memory {name}: is {memory.kind}, where nothing can be written"
    end = max((b.offset + b.size for b in arena), default=0)
    if memory.arena_bytes != end:
        yield f"memory {name}: its arena ends at byte {end}, not {memory.arena_bytes}"
    end = max((b.offset + b.size for b in state), default=0)
    if memory.state_bytes != end:
        yield f"memory {name}: its state ends at byte {end}, not {memory.state_bytes}"
    if not memory.arena_bytes + memory.state_bytes <= memory.used <= memory.usable:
        yield (
            f"memory {name}: over budget: arena of {memory.arena_bytes}, state of "
            f"{memory.state_bytes}, {memory.used} bytes used in all, {memory.usable} usable"
        )
    for buffer in (*arena, *state):
        if buffer.offset % memory.alignment:
            yield (
                f"buffer {buffer.name}: misaligned: offset {buffer.offset} is no multiple of the "
                f"{memory.alignment} bytes of {name}"
            )


def _steps_between_buffers(index: Index) -> Iterator[tuple[str, str, int]]:
    """(buffer read, buffer written, position of the layer) of every kernel step."""
    for position, layer in enumerate(index.document.layers):
        for _, kernel, _ in loops_entered_once(layer.steps):
            for read in kernel.reads:
                for write in kernel.writes:
                    yield read.buffer, write.buffer, position


def _overlaps(
    memory: str, buffers: list[Buffer], shared: set[tuple[str, str, int]]
) -> Iterator[str]:
    """Pairs of buffers with common bytes at a common time.

    One exception: a buffer that dies in the very layer that reads it and writes the other. Whether
    the kernel's order allows that is proven byte by byte elsewhere.
    """
    columns = [(b.offset, b.offset + b.size, b.first, b.last) for b in buffers]
    start, end, first, last = np.array(columns, np.int64).reshape(-1, 4).T
    meet = (start[:, None] < end) & (start < end[:, None])
    meet &= (first[:, None] <= last) & (first <= last[:, None])
    for i, j in np.argwhere(np.triu(meet, 1)).tolist():
        a, b = sorted((buffers[i], buffers[j]), key=lambda buffer: buffer.first)
        handed_over = a.last == b.first and (a.name, b.name, b.first) in shared
        if not handed_over:
            low, high = max(a.offset, b.offset), min(a.offset + a.size, b.offset + b.size)
            yield (
                f"buffers {a.name} and {b.name} overlap in bytes {low}..{high - 1} of {memory} "
                f"while both live, in layers {max(a.first, b.first)}..{min(a.last, b.last)}"
            )


def _lifetimes(index: Index) -> Iterator[str]:
    document = index.document
    end = len(document.layers)
    for buffer in document.buffers:
        if not buffer.first <= buffer.last <= end:
            yield f"buffer {buffer.name}: lives in layers {buffer.first}..{buffer.last} of {end}"
    for buffer in document.buffers:
        if buffer.home == "state" and (buffer.first, buffer.last) != (-1, end):
            yield f"buffer {buffer.name}: is state and has to live in layers -1..{end}"
    moments = [(t, -1, "the model's input") for t in document.inputs]
    moments += [(t, end, "the kept input") for t in document.inputs if document.keep_input]
    moments += [(t, end, "the model's output") for t in document.outputs]
    for t, moment, what in moments:
        yield from _covers(index, index.tensors[t].buffer, moment, f"{what} {index.label(t)}")
    for position, layer in enumerate(document.layers):
        label = layer_label(position, layer)
        for t, moment in control_needs(position, layer):
            what = f"{label}: {index.label(t)}, which its parts need,"
            yield from _covers(index, index.tensors[t].buffer, moment, what)
        for path, kernel, _ in loops_entered_once(layer.steps):
            for view in (*kernel.reads, *kernel.writes):
                what = f"{label}, step {path}: {index.label(view.tensor)}"
                yield from _covers(index, view.buffer, position, what)
            if kernel.scratch is not None:
                what = f"{label}, step {path}: scratch"
                yield from _covers(index, kernel.scratch, position, what)


def _covers(index: Index, name: str | None, position: int, what: str) -> Iterator[str]:
    buffer = index.buffers[name or ""]
    if not buffer.first <= position <= buffer.last:
        when = "before the first layer" if position < 0 else f"at layer {position}"
        yield (
            f"{what}: is used {when}, but buffer {buffer.name} lives in layers "
            f"{buffer.first}..{buffer.last} only"
        )
