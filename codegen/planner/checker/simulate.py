"""The proof of contents: the plan is executed on a memory of tags, in order of time.

Every execution of every kernel step first has to find the input that it needs complete and
intact; then its output takes effect. The caller writes the inputs before the first layer and reads
the outputs after the last one. State is there before, and what the next run begins with after.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from codegen.planner.checker.cache import Cache
from codegen.planner.checker.document import (
    Control,
    ControlPart,
    Kernel,
    Layer,
    Loop,
    RowTable,
    Share,
    Step,
)
from codegen.planner.checker.engine import Engine
from codegen.planner.checker.index import Index, executed, layer_label
from codegen.planner.checker.memory import TaggedMemory, part_window
from codegen.planner.checker.order import overwritten_too_early
from codegen.planner.checker.regions import Misplaced, Touch, read, written

Flags = NDArray[np.bool_]


class Simulation:
    """One execution of a plan whose references are known to resolve."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._memory = TaggedMemory(index)
        self._cache = Cache(index, self._memory)
        self._engine = Engine(index, self._memory, self._cache, self._produce_bytes)
        self._produced: dict[int, Flags] = {}
        self._complete = {t for t in index.tensors if index.home(t) == "constant"}
        self._begins = [state.start for state in index.document.states]
        self._complete.update(index.document.inputs, self._begins)
        self._last_layer = {
            t: position
            for position, layer in enumerate(index.document.layers)
            for t in layer.outputs
        }
        self.executions = 0
        self.bytes_read = 0
        self.bytes_written = 0

    def run(self) -> Iterator[str]:
        """Execute everything and yield a line for each fault, in order of time."""
        document = self._index.document
        for t in (*document.inputs, *self._begins):
            self._memory.fill(t)
        yield from self._layers(0, len(document.layers))
        yield from (f"at the end: {fault}" for fault in self._engine.at_end())
        for t in document.outputs:
            if missing := self._memory.missing(t):
                yield f"at the end: the model's output {self._index.label(t)}: {missing}"
        for t in document.inputs if document.keep_input else ():
            if missing := self._memory.missing(t):
                yield f"at the end: the kept input {self._index.label(t)}: {missing}"

        for state in document.states:
            t = state.start if state.end is None else state.end
            if missing := self._memory.missing(t):
                yield f"at the end: the next run's state {self._index.label(t)}: {missing}"

    def _layers(self, first: int, end: int) -> Iterator[str]:
        """Execute the layers [first, end), those that control others with all they control."""
        position = first
        while position < end:
            layer = self._index.document.layers[position]
            yield from self._layer(position, layer)
            position += 1
            if layer.control is not None:
                label = layer_label(position - 1, layer)
                run = self._loop if layer.control.loops else self._either
                yield from run(layer.control, label)
                position = layer.control.parts[1].end

    def _loop(self, control: Control, label: str) -> Iterator[str]:
        """Execute a loop for every number of times that it may run.

        The body is executed twice: what it writes, it writes each time, so that all later runs of
        it find the memory that the second one finds. Behind the loop memory is as the condition
        leaves it, be it for the first time or later.
        """
        condition, body = control.parts
        ways, heads = [], []
        for _, outer in body.leave:  # it changes, so what it began with is there no more
            if missing := self._memory.missing(outer):
                yield f"{label}: begins without {self._index.label(outer)}: {missing}"
            self._memory.refill(outer)
        for _ in range(2):
            yield from self._part(condition, label)
            yield from self._condition(control, label)
            ways.append(self._memory.snapshot())
            yield from self._part(body, label)
            heads.append(self._memory.snapshot())
        if not self._memory.is_at(heads[0]):
            yield f"{label}: its body leaves memory in another way when it runs again"
        self._memory.restore(*ways)

    def _either(self, control: Control, label: str) -> Iterator[str]:
        """Execute both ways, each from the same memory; behind them it may be as either leaves."""
        yield from self._condition(control, label)
        before, ways = self._memory.snapshot(), []
        for part in control.parts:
            self._memory.restore(before)
            yield from self._part(part, label)
            ways.append(self._memory.snapshot())
        self._memory.restore(*ways)

    def _condition(self, control: Control, label: str) -> Iterator[str]:
        if missing := self._memory.missing(control.condition):
            yield f"{label}: its condition {self._index.label(control.condition)}: {missing}"

    def _part(self, part: ControlPart, label: str) -> Iterator[str]:
        """Execute a part once: names change on the way in, and on the way out."""
        index, memory = self._index, self._memory
        for outer, inner in part.enter:
            if missing := memory.missing(outer):
                yield f"{label}: hands over {index.label(outer)}: {missing}"
            memory.alias(outer, inner)
            self._complete.add(inner)
        yield from self._layers(part.first, part.end)
        left = [(inner, outer, memory.missing(inner)) for inner, outer in part.leave]
        for inner, outer, missing in left:
            if missing:
                yield f"{label}: gets back {index.label(inner)}: {missing}"
            memory.refill(outer)
            self._complete.add(outer)

    def _layer(self, position: int, layer: Layer) -> Iterator[str]:
        label = layer_label(position, layer)
        for number, share in enumerate(layer.views):
            for fault in self._share(share):
                yield f"{label}, view {number}: {fault}"
        for path, step, env in executed(layer.steps, {}):
            faults = (
                self._step(position, step, env)
                if isinstance(step, Kernel)
                else self._engine_step(step, env)
            )
            for fault in faults:
                values = ", ".join(f"{name}={value}" for name, value in env.items())
                yield f"{label}, step {path}{f' ({values})' if values else ''}: {fault}"
        if layer.control is not None and not layer.control.loops:
            return  # what it yields is there when its parts are done
        for t in layer.outputs:
            if self._last_layer[t] == position:
                yield from (f"{label}: {fault}" for fault in self._incomplete(t))

    def _engine_step(self, step: Step, env: dict[str, int]) -> Iterator[str]:
        if not isinstance(step, Loop | Kernel):
            self.executions += 1
            yield from self._engine.step(step, env)
            self.bytes_read += self._engine.bytes_read
            self.bytes_written += self._engine.bytes_written

    def _produce_bytes(self, tensor: int, positions: NDArray[np.int64]) -> Iterator[str]:
        """Note bytes that a command of the NPU computes."""
        flags = self._flags(tensor)
        doubled = int(flags[positions].sum())
        flags[positions] = True
        if doubled:
            yield f"double write: {doubled} bytes of {self._index.label(tensor)}"

    def _share(self, share: Share) -> Iterator[str]:
        source, result = share.source.tensor, share.result.tensor
        if source not in self._complete:
            there = part_window(self._index, share.source, self._flags(source))
            if not there.all():
                missing = int((~there).sum())
                yield f"{missing} bytes of {self._index.label(source)} are not yet written"
        done = part_window(self._index, share.result, self._flags(result))
        if done.any():
            yield f"double write: {int(done.sum())} bytes of {self._index.label(result)}"
        done[...] = True
        self._memory.share(share)

    def _step(self, position: int, kernel: Kernel, env: dict[str, int]) -> Iterator[str]:
        index, memory = self._index, self._memory
        self.executions += 1
        writes, reads = [], []
        if outside := _rows_outside(kernel):
            yield outside
            return
        try:
            for view in kernel.writes:
                tensor = view.tensor
                writes.append(written(index, view, kernel, env))
            for view in kernel.reads:
                tensor = view.tensor
                reads.append(read(index, view, kernel, env))
        except Misplaced as fault:
            yield f"{index.label(tensor)}: {fault}"
            return
        scratch = index.buffers[kernel.scratch] if kernel.scratch is not None else None
        if scratch:
            memory.poison(scratch, kernel.scratch_bytes, position)
            self._cache.written_scratch(scratch, kernel.scratch_bytes)
        for touch in reads:
            if damage := memory.damage(touch):
                yield f"reads {index.label(touch.tensor)}: {damage}"
        yield from self._overwritten(kernel, reads, writes)
        for touch in writes:
            yield from self._produce(touch)
            memory.write(touch)
            self._cache.written(touch)
        for touch in writes:
            if damage := memory.damage(touch):
                yield f"writes {index.label(touch.tensor)} over itself or another output: {damage}"
        if scratch and not memory.poisoned(scratch, kernel.scratch_bytes, position):
            yield f"its scratch {scratch.name} lies in its output"
        self.bytes_read += sum(_size(touch) for touch in reads)
        self.bytes_written += sum(_size(touch) for touch in writes)

    def _overwritten(
        self, kernel: Kernel, reads: list[Touch], writes: list[Touch]
    ) -> Iterator[str]:
        for view, source in zip(kernel.reads, reads, strict=True):
            for result in writes:
                early = overwritten_too_early(kernel, view, source, result)
                if early.size:
                    yield (
                        f"writes {self._index.label(result.tensor)} over "
                        f"{self._index.label(source.tensor)} too early for alias {view.alias}: "
                        f"{early.size} bytes from {source.space} + {early[0]} on are read later"
                    )

    def _produce(self, touch: Touch) -> Iterator[str]:
        flags = self._flags(touch.tensor)
        doubled = 0
        for region in touch.regions:
            window = region.in_tensor(flags)
            doubled += int(window.sum())
            window[...] = True
        if doubled:
            yield f"double write: {doubled} bytes of {self._index.label(touch.tensor)}"

    def _flags(self, tensor: int) -> Flags:
        """Which bytes of a tensor have been produced."""
        if tensor not in self._produced:
            size = self._index.tensors[tensor].bytes
            self._produced[tensor] = np.zeros(size, np.bool_)
        return self._produced[tensor]

    def _incomplete(self, tensor: int) -> Iterator[str]:
        missing = np.flatnonzero(~self._flags(tensor))
        del self._produced[tensor]
        self._complete.add(tensor)
        if missing.size:
            label, first = self._index.label(tensor), missing[0]
            yield f"{label} stays incomplete: {missing.size} bytes from byte {first} on are missing"


def _rows_outside(kernel: Kernel) -> str:
    """What is wrong with rows that a loop has moved; nothing if they exist in every map."""
    y0, y1 = kernel.range[:2]
    heights = [view.box.size[1] for view in kernel.writes if not view.box.whole]
    heights += [len(v.rows.table) for v in kernel.reads if isinstance(v.rows, RowTable)]
    if y0 < 0 or y1 > min(heights):
        return f"rows {y0}..{y1} are not all among the {min(heights)} that there are"
    return ""


def _size(touch: Touch) -> int:
    return sum(int(np.prod(region.shape)) for region in touch.regions)
