"""Faults of control flow that show without running the plan: nesting, and names across borders."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from codegen.planner.checker.document import Control, ControlPart, Document, Layer
from codegen.planner.checker.index import Index, layer_label


def control_faults(index: Index) -> Iterator[str]:
    """Everything wrong with layers that control others."""
    document = index.document
    yield from _nesting(document, 0, len(document.layers))
    yielded = {t for layer in document.layers for t in layer.outputs}
    starts = {state.start for state in document.states}
    times = Counter(inner for part in _parts(document) for _, inner in part.enter)
    for inner, count in times.items():
        begins = inner in starts or inner in document.inputs or index.home(inner) == "constant"
        if count > 1 or inner in yielded or begins:
            yield f"{index.label(inner)}: is handed to a part, and comes from elsewhere too"
    for position, layer in enumerate(document.layers):
        if layer.control is not None:
            for fault in _control(index, layer, layer.control):
                yield f"{layer_label(position, layer)}: {fault}"


def entered_tensors(document: Document) -> set[int]:
    """What is there because a part is given it."""
    return {inner for part in _parts(document) for _, inner in part.enter}


def control_needs(position: int, layer: Layer) -> Iterator[tuple[int, int]]:
    """(tensor, position of a layer in which its buffer has to live) for a layer with parts."""
    if layer.control is None:
        return
    end = layer.control.parts[1].end - 1
    outer = [t for part in layer.control.parts for t, _ in part.enter]
    outer += [t for part in layer.control.parts for _, t in part.leave]
    for t in dict.fromkeys((*outer, layer.control.condition)):
        yield t, position
        yield t, end


def _parts(document: Document) -> Iterator[ControlPart]:
    for layer in document.layers:
        if layer.control is not None:
            yield from layer.control.parts


def _nesting(document: Document, first: int, end: int) -> Iterator[str]:
    """Parts follow their layer and each other, inside of the part in which that layer stands."""
    position = first
    while position < end:
        layer = document.layers[position]
        position += 1
        if layer.control is None:
            continue
        one, two = layer.control.parts
        if not position == one.first < one.end == two.first < two.end <= end:
            spans = f"{one.first}..{one.end} and {two.first}..{two.end}"
            yield f"{layer_label(position - 1, layer)}: parts {spans} do not follow it up to {end}"
            return
        yield from _nesting(document, one.first, one.end)
        yield from _nesting(document, two.first, two.end)
        position = two.end


def _control(index: Index, layer: Layer, control: Control) -> Iterator[str]:
    tensors = [control.condition]
    tensors += [t for part in control.parts for pair in (*part.enter, *part.leave) for t in pair]
    unknown = [t for t in tensors if not index.home(t)]
    if unknown:
        yield f"{index.label(unknown[0])} has no place"
        return
    condition = index.tensors[control.condition]
    if condition.type != "bool" or condition.bytes != 1:
        yield f"its condition {index.label(condition.id)} is not one boolean"
    if any(_end(index, t) > _size(index, t) for t in tensors):
        yield "a tensor that it hands over does not lie inside its buffer"
    for part in control.parts:
        for pair in (*part.enter, *part.leave):
            if len({_place(index, t) for t in pair}) > 1:
                yield f"{index.label(pair[0])} and {index.label(pair[1])} are not the same bytes"
    yield from _results(index, layer, control)


def _results(index: Index, layer: Layer, control: Control) -> Iterator[str]:
    """What comes out is what the layer yields: of a loop any of it, of two ways all of it."""
    for number, part in enumerate(control.parts):
        left = [outer for _, outer in part.leave]
        if len(set(left)) < len(left) or not set(left) <= set(layer.outputs):
            yield f"part {number} gives back what the layer does not yield, or gives it twice"
        elif control.loops and number == 0 and left:
            yield "the part that makes the condition gives something back"
        elif not control.loops and set(left) < set(layer.outputs):
            missing = min(set(layer.outputs) - set(left))
            yield f"part {number} does not give back {index.label(missing)}"


def _place(index: Index, t: int) -> tuple[str | None, int, int]:
    tensor = index.tensors[t]
    return tensor.buffer, tensor.offset, tensor.bytes


def _end(index: Index, t: int) -> int:
    return index.tensors[t].offset + index.tensors[t].bytes


def _size(index: Index, t: int) -> int:
    return index.buffers[index.tensors[t].buffer or ""].size
