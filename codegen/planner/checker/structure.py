"""Faults that show without running the plan: references, sizes, shapes and ranges.

Where `references` finds nothing, the other parts of the checker may follow every reference and
trust that views, boxes and ranges fit together.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Set

from codegen.planner.checker.control import control_faults, entered_tensors
from codegen.planner.checker.document import (
    Affine,
    Buffer,
    Kernel,
    Layer,
    Loop,
    Part,
    Read,
    RowFormula,
    Share,
    Step,
    Tensor,
    View,
)
from codegen.planner.checker.engine_structure import engine_faults
from codegen.planner.checker.index import Index, layer_label, loops_entered_once

# Bits per element of every tensor type that has a size.
BITS = {
    **dict.fromkeys(("complex128",), 128),
    **dict.fromkeys(("float64", "int64", "uint64", "complex64"), 64),
    **dict.fromkeys(("float32", "int32", "uint32"), 32),
    **dict.fromkeys(("float16", "bfloat16", "int16", "uint16"), 16),
    **dict.fromkeys(("int8", "uint8", "bool", "float8_e4m3fn", "float8_e5m2"), 8),
    **dict.fromkeys(("int4", "uint4"), 4),
    "int2": 2,
}
_MAX_LOOPS = 8


def references(index: Index) -> Iterator[str]:
    """Everything that does not resolve, or whose parts contradict each other."""
    document = index.document
    yield from _doubled("memory", (m.name for m in document.memories))
    yield from _doubled("tensor", (t.id for t in document.tensors))
    yield from _doubled("buffer", (b.name for b in document.buffers))
    for tensor in document.tensors:
        yield from _tensor(index, tensor)
    for buffer in document.buffers:
        yield from _buffer(index, buffer)
    yield from _interface(index)
    yield from _states(index)
    yield from _producers(index)
    yield from control_faults(index)
    for position, layer in enumerate(document.layers):
        for fault in _layer(index, layer):
            yield f"{layer_label(position, layer)}{fault}"


def _doubled(what: str, names: Iterable[Hashable]) -> Iterator[str]:
    for name, times in Counter(names).items():
        if times > 1:
            yield f"{what} {name}: is listed {times} times"


def _tensor(index: Index, tensor: Tensor) -> Iterator[str]:
    label = index.label(tensor.id)
    if tensor.type not in BITS:
        yield f"{label}: type {tensor.type!r} has no known size"
        return
    wanted = (math.prod(tensor.shape) * BITS[tensor.type] + 7) // 8
    if tensor.bytes != wanted or not wanted:
        shape = ",".join(map(str, tensor.shape))
        yield f"{label}: {tensor.type}[{shape}] has {wanted} bytes, not {tensor.bytes}"
    if tensor.buffer is None:
        return
    if tensor.buffer not in index.buffers:
        yield f"{label}: its buffer {tensor.buffer} does not exist"
    elif tensor.id not in index.buffers[tensor.buffer].tensors:
        yield f"{label}: its buffer {tensor.buffer} does not list it"


def _buffer(index: Index, buffer: Buffer) -> Iterator[str]:
    if buffer.home in ("arena", "constant", "state"):
        if buffer.memory not in index.memories:
            yield f"buffer {buffer.name}: its memory {buffer.memory!r} does not exist"
    elif buffer.memory:
        yield f"buffer {buffer.name}: memory of the caller lies in no memory of the board"
    for t in buffer.tensors:
        if t not in index.tensors:
            yield f"buffer {buffer.name}: tensor {t} does not exist"
        elif index.tensors[t].buffer != buffer.name:
            yield f"buffer {buffer.name}: lists {index.label(t)}, which lies elsewhere"
    if buffer.home == "constant" and buffer.tensors:
        held = [index.tensors[t].bytes for t in buffer.tensors if t in index.tensors]
        if held != [buffer.size]:
            yield f"buffer {buffer.name}: must hold one constant of exactly {buffer.size} bytes"
    if buffer.home not in ("arena", "state") and buffer.offset:
        yield f"buffer {buffer.name}: has an offset of {buffer.offset} outside of any arena"


def _interface(index: Index) -> Iterator[str]:
    document = index.document
    for word, tensors in (("input", document.inputs), ("output", document.outputs)):
        for number, t in enumerate(tensors):
            if t not in index.tensors:
                yield f"{word} {number}: tensor {t} does not exist"
            elif not index.home(t):
                yield f"{word} {number}: {index.label(t)} has no place"
            elif _end(index.tensors[t]) > index.buffers[index.tensors[t].buffer or ""].size:
                yield f"{word} {number}: {index.label(t)} does not lie inside its buffer"


def _states(index: Index) -> Iterator[str]:
    """What a run leaves lies just where the next one looks for it, apart from the arena."""
    listed = [state.start for state in index.document.states]
    listed += [state.end for state in index.document.states if state.end is not None]
    yield from _doubled("the state's tensor", listed)
    for number, state in enumerate(index.document.states):
        both = [state.start] if state.end is None else [state.start, state.end]
        unknown = [t for t in both if t not in index.tensors or index.home(t) != "state"]
        for t in unknown:
            yield f"state {number}: {index.label(t)} has no place in a buffer of state"
        if unknown:
            continue
        held = [index.tensors[t] for t in both]
        places = {(tensor.buffer, tensor.offset, tensor.bytes) for tensor in held}
        if len(places) > 1:
            yield f"state {number}: ends elsewhere than the next run begins"
        if _end(held[0]) > index.buffers[held[0].buffer or ""].size:
            yield f"state {number}: {index.label(state.start)} does not lie inside its buffer"
        if state.start in index.document.inputs:
            yield f"state {number}: {index.label(state.start)} is the model's input too"


def _end(tensor: Tensor) -> int:
    """Where a tensor without gaps ends in its buffer."""
    return tensor.offset + tensor.bytes


def _producers(index: Index) -> Iterator[str]:
    """One operator yields each tensor: inputs, constants and what a run begins with have none."""
    document = index.document
    begins = {state.start for state in document.states}
    entered = entered_tensors(document)
    operator_of: dict[int, int] = {}
    for position, layer in enumerate(document.layers):
        label = layer_label(position, layer)
        for t in layer.outputs:
            if t not in index.tensors:
                yield f"{label}: its output tensor {t} does not exist"
            elif t in document.inputs:
                yield f"{label}: yields {index.label(t)}, which is the model's input"
            elif index.home(t) == "constant":
                yield f"{label}: yields {index.label(t)}, which is constant"
            elif t in begins:
                yield f"{label}: yields {index.label(t)}, which the run begins with"
            elif operator_of.setdefault(t, layer.operator) != layer.operator:
                yield f"{label}: yields {index.label(t)}, as operator {operator_of[t]} does"
    for tensor in document.tensors:
        given = tensor.id in begins or tensor.id in document.inputs
        given = given or index.home(tensor.id) == "constant" or tensor.id in entered
        if not given and tensor.id not in operator_of:
            yield f"{index.label(tensor.id)}: no layer yields it"


def _layer(index: Index, layer: Layer) -> Iterator[str]:
    for number, share in enumerate(layer.views):
        for fault in _share(index, layer, share):
            yield f", view {number}: {fault}"
    for fault in _forms(layer):
        yield f": {fault}"
    known = {*layer.inputs, *layer.outputs}
    for fault in _loops(layer.steps, ()):
        yield f": {fault}"
    yield from engine_faults(index, layer.steps)
    for path, kernel, loops in loops_entered_once(layer.steps):
        for fault in _kernel(index, kernel, {loop.loop for loop in loops}):
            yield f", step {path}: {fault}"
        for view in (*kernel.reads, *kernel.writes):
            if view.tensor not in known:
                label = index.label(view.tensor)
                yield f", step {path}: {label} is neither input nor output of the layer"
        for view in kernel.writes:
            if view.tensor in index.tensors and view.tensor not in layer.outputs:
                label = index.label(view.tensor)
                yield f", step {path}: writes {label}, which is no output of the layer"


def _forms(layer: Layer) -> Iterator[str]:
    """Of several ways one is taken, and its kernels are those that run."""
    if not layer.forms:
        return
    taken = [form for form in layer.forms if form.taken]
    if len(taken) != 1:
        yield f"{len(taken)} of its {len(layer.forms)} forms are taken, not one"
        return
    for _, kernel, _ in loops_entered_once(layer.steps):
        if kernel.kernel not in taken[0].kernels:
            yield f"{kernel.kernel} runs, which is not part of the form that is taken"


def _loops(steps: Iterable[Step], outer: tuple[str, ...]) -> Iterator[str]:
    for step in steps:
        if not isinstance(step, Loop):
            continue
        if step.loop in outer:
            yield f"loop {step.loop} stands inside another loop of that name"
        if len(outer) >= _MAX_LOOPS:
            yield f"loop {step.loop} is nested more than {_MAX_LOOPS} deep"
        else:
            yield from _loops(step.body, (*outer, step.loop))


def _share(index: Index, layer: Layer, share: Share) -> Iterator[str]:
    source, result = share.source, share.result
    for part in (source, result):
        if part.tensor not in index.tensors:
            yield f"tensor {part.tensor} does not exist"
            return
        faults = [
            f"{index.label(part.tensor)}: {fault}" for fault in _part(index, part.tensor, part)
        ]
        yield from faults
        if faults:
            return
    if source.tensor not in layer.inputs or result.tensor not in layer.outputs:
        yield "must lead from an input of the layer to an output"
    sizes = [math.prod(p.size) * element_bytes(index, p.tensor, p) for p in (source, result)]
    if sizes[0] != sizes[1]:
        yield f"{sizes[0]} bytes of the source are not {sizes[1]} bytes of the result"
    if index.tensors[source.tensor].buffer != index.tensors[result.tensor].buffer:
        both = f"{index.label(source.tensor)} and {index.label(result.tensor)}"
        yield f"{both} lie in different buffers"


def _kernel(index: Index, kernel: Kernel, variables: Set[str]) -> Iterator[str]:
    for view in (*kernel.reads, *kernel.writes):
        for fault in _view(index, view, variables):
            yield f"{index.label(view.tensor)}: {fault}"
    for name in _unknown_variables(kernel.image, variables):
        yield f"image: no loop has the variable {name}"
    for name in _unknown_variables(kernel.row, variables):
        yield f"row: no loop has the variable {name}"
    y0, y1, x0, x1, c0, c1 = kernel.range
    if not (y0 < y1 and x0 < x1 and c0 < c1):
        yield f"range {list(kernel.range)} is empty"
    for view in kernel.writes:
        _, h, w, c = view.box.size
        if not view.box.whole and (y1 > h or x1 > w or c1 > c):
            yield f"range {list(kernel.range)} exceeds the box {h} x {w} x {c} of its output"
        if index.home(view.tensor) in ("constant", "caller_input"):
            yield f"writes {index.label(view.tensor)}, which is constant or the caller's input"
    for read in kernel.reads:
        for fault in _row_map(read, y0, y1):
            yield f"{index.label(read.tensor)}: {fault}"
    yield from _scratch(index, kernel)


def _unknown_variables(value: Affine, variables: Set[str]) -> Iterator[str]:
    return (name for name, _ in value.terms if name not in variables)


def _row_map(read: Read, y0: int, y1: int) -> Iterator[str]:
    if isinstance(read.rows, RowFormula):
        return
    table = read.rows.table
    if len(table) < y1:
        yield f"its table of rows ends at output row {len(table)} of {y1}"
    for y, (first, end) in enumerate(table[y0:y1], y0):
        if not first <= end <= read.height:
            yield f"output row {y} reads rows {first}..{end} of {read.height}"
            return


def _scratch(index: Index, kernel: Kernel) -> Iterator[str]:
    if kernel.scratch is None:
        if kernel.scratch_bytes:
            yield f"needs {kernel.scratch_bytes} bytes of scratch and has none"
        return
    if kernel.scratch not in index.buffers:
        yield f"scratch buffer {kernel.scratch} does not exist"
        return
    buffer = index.buffers[kernel.scratch]
    if buffer.home != "arena" or buffer.tensors:
        yield f"scratch buffer {buffer.name} is not free for scratch alone"
    if not 0 < kernel.scratch_bytes <= buffer.size:
        need = kernel.scratch_bytes
        yield f"needs {need} bytes of scratch, {buffer.name} has {buffer.size}"


def _view(index: Index, view: View, variables: Set[str]) -> Iterator[str]:
    if view.tensor not in index.tensors:
        yield "does not exist"
        return
    tensor = index.tensors[view.tensor]
    if view.buffer not in index.buffers:
        yield f"buffer {view.buffer} does not exist"
    elif tensor.buffer != view.buffer:
        yield f"is sought in buffer {view.buffer} but lies in {tensor.buffer}"
    for name in _unknown_variables(view.offset, variables):
        yield f"offset: no loop has the variable {name}"
    faults = list(_part(index, view.tensor, view.box))
    yield from faults
    if faults:
        return
    _, h, w, c = view.box.size
    pixel = c * element_bytes(index, view.tensor, view.box)
    if (view.height, view.width, view.pixel_bytes) != (h, w, pixel):
        seen = f"{view.height} x {view.width} pixels of {view.pixel_bytes} bytes"
        yield f"its view of {seen} is not its box of {h} x {w} pixels of {pixel} bytes"
    gaps = (w > 1 and view.pixel != pixel) or (h > 1 and view.row != w * pixel) or view.ring
    if view.box.dense and gaps:
        yield f"its pixels must lie without gaps, but strides are {view.row} and {view.pixel}"
    yield from _element_alignment(index, view, tensor)


def _element_alignment(index: Index, view: View, tensor: Tensor) -> Iterator[str]:
    """Elements must lie where the processor can load them, as far as the memory is aligned."""
    if view.buffer not in index.buffers:
        return
    buffer = index.buffers[view.buffer]
    natural = max(1, BITS.get(tensor.type, 8) // 8)
    if buffer.memory in index.memories:
        natural = math.gcd(natural, index.memories[buffer.memory].alignment)
    strides = [view.offset.constant, *(factor for _, factor in view.offset.terms)]
    strides += [view.row] * (view.height > 1) + [view.pixel] * (view.width > 1)
    if any(stride % natural for stride in strides):
        yield f"misaligned: offset or strides are no multiples of {natural} bytes ({tensor.type})"


def _part(index: Index, t: int, part: Part) -> Iterator[str]:
    tensor, elements = index.tensors[t], math.prod(part.map)
    if tensor.bytes % elements or tensor.bytes < elements:
        yield f"map {list(part.map)} does not divide its {tensor.bytes} bytes"
    ends = [start + size for start, size in zip(part.start, part.size, strict=True)]
    if any(end > whole for end, whole in zip(ends, part.map, strict=True)):
        yield f"box of {list(part.size)} at {list(part.start)} exceeds the map {list(part.map)}"


def element_bytes(index: Index, tensor: int, part: Part) -> int:
    """Bytes per element of the map of a part of a tensor."""
    return index.tensors[tensor].bytes // math.prod(part.map)
