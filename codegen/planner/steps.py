"""From kernel calls to steps: views over placed buffers, ranges, and a loop over the batch."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from codegen.graph import Graph
from codegen.layout import Layout, dense_layout, is_dense
from codegen.ops.base import Access, Call, flattened
from codegen.plan import Affine, KernelStep, Loop, Range, Step, View
from codegen.planner.gather import gathering_steps, ring_view

BATCH_VARIABLE = "n"
ROW_VARIABLE = "i"


@dataclass(frozen=True)
class Places:
    """Which buffer every tensor lies in, and how."""

    buffers: Mapping[int, str]
    layouts: Mapping[int, Layout]


def call_steps(
    graph: Graph, call: Call, places: Places, scratch: str | None, backwards: bool = False
) -> tuple[Step, ...]:
    """The steps of one call over tensors where `places` puts them.

    `backwards` makes the rows of a single image one by one, from the last to the first.
    """
    if call.pointwise and not call.gathers and _can_flatten(graph, call, places):
        call = flattened(call)
    images, height, width, channels = call.outputs[0].extent
    whole = Range(0, height, 0, width, 0, channels)
    step = KernelStep(
        call=call,
        inputs=tuple(_view(graph, access, places, images) for access in call.inputs),
        outputs=tuple(_view(graph, access, places, images) for access in call.outputs),
        range=replace(whole, y0=height - 1) if backwards else whole,
        image=Affine(0, ((BATCH_VARIABLE, 1),) if images > 1 else ()),
        row=Affine(0, ((ROW_VARIABLE, -1),) if backwards else ()),
        scratch=scratch,
    )
    if call.gathers:
        return _gathering(graph, call, places, step)
    if backwards:
        return (Loop(ROW_VARIABLE, height, (step,)),)
    return (step,) if images == 1 else (Loop(BATCH_VARIABLE, images, (step,)),)


def _gathering(graph: Graph, call: Call, places: Places, step: KernelStep) -> tuple[Step, ...]:
    """The steps of a call that brings rows of some inputs together."""
    inputs = list(step.inputs)
    for gather in call.gathers:
        inputs[gather.position] = ring_view(inputs[gather.position], gather)
    parts = {
        copy.inputs[0].tensor: _view(graph, copy.inputs[0], places, 1)
        for gather in call.gathers
        for copy in gather.copies
    }
    return tuple(
        gathering_steps(call, replace(step, inputs=tuple(inputs)), parts, graph, ROW_VARIABLE)
    )


def _layout(graph: Graph, t: int, places: Places) -> Layout:
    """Constants lie densely in flash; everything else where the storage decision put it."""
    return places.layouts.get(t, dense_layout(graph.tensors[t]))


def _can_flatten(graph: Graph, call: Call, places: Places) -> bool:
    """Whether every operand is as large as the output, or one element for all of it."""
    accesses = (*call.inputs, *call.outputs)
    full = [access for access in accesses if math.prod(access.map) > 1]
    one_map = len({access.map for access in full}) <= 1
    whole = all(access.box is None for access in accesses)
    dense = all(
        is_dense(graph.tensors[a.tensor], _layout(graph, a.tensor, places)) for a in accesses
    )
    return one_map and whole and dense and not any(access.shared for access in full)


def _view(graph: Graph, access: Access, places: Places, images: int) -> View:
    """The part of a tensor that the call touches, for image `n` of the batch."""
    tensor = graph.tensors[access.tensor]
    element = tensor.dtype.size
    layout = _layout(graph, access.tensor, places)
    if is_dense(tensor, layout):
        _, h, w, c = access.map
        layout = Layout(layout.offset, h * w * c * element, w * c * element, c * element)
    base = layout.at(access.box.start if access.box else (0, 0, 0, 0), element)
    moves = images > 1 and not access.shared
    _, height, width, channels = access.extent
    return View(
        tensor=access.tensor,
        buffer=places.buffers[access.tensor],
        offset=Affine(base.offset, ((BATCH_VARIABLE, base.image),) if moves else ()),
        row=base.row,
        pixel=base.pixel,
        height=height,
        width=width,
        pixel_bytes=channels * element,
    )
