"""From kernel calls to steps: views over placed buffers, ranges, and a loop over the batch."""

from __future__ import annotations

import math
from collections.abc import Callable

from codegen.graph import Graph
from codegen.ops.base import Access, Call, flattened
from codegen.plan import Affine, KernelStep, Loop, Range, Step, View

BATCH_VARIABLE = "n"


def call_steps(
    graph: Graph, call: Call, buffer_of: Callable[[int], str], scratch: str | None
) -> tuple[Step, ...]:
    """The steps of one call over tensors that lie whole and without gaps in their buffers."""
    if call.pointwise and _can_flatten(call):
        call = flattened(call)
    images = call.outputs[0].extent[0]
    step = KernelStep(
        call=call,
        inputs=tuple(_view(graph, access, buffer_of, images) for access in call.inputs),
        outputs=tuple(_view(graph, access, buffer_of, images) for access in call.outputs),
        range=_whole_range(call),
        image=Affine(0, ((BATCH_VARIABLE, 1),) if images > 1 else ()),
        scratch=scratch,
    )
    return (step,) if images == 1 else (Loop(BATCH_VARIABLE, images, (step,)),)


def _can_flatten(call: Call) -> bool:
    """Whether every operand is as large as the output, or one element for all of it."""
    accesses = (*call.inputs, *call.outputs)
    full = [access for access in accesses if math.prod(access.map) > 1]
    one_map = len({access.map for access in full}) <= 1
    whole = all(access.box is None for access in accesses)
    return one_map and whole and not any(access.shared for access in full)


def _whole_range(call: Call) -> Range:
    _, h, w, c = call.outputs[0].extent
    return Range(0, h, 0, w, 0, c)


def _view(graph: Graph, access: Access, buffer_of: Callable[[int], str], images: int) -> View:
    """The part of a dense tensor that the call touches, for image `n` of the batch."""
    element = graph.tensors[access.tensor].dtype.size
    _, h, w, c = access.map
    pixel, row, image = c * element, w * c * element, h * w * c * element
    start = access.box.start if access.box else (0, 0, 0, 0)
    offset = start[0] * image + start[1] * row + start[2] * pixel + start[3] * element
    moves = images > 1 and not access.shared
    _, height, width, channels = access.extent
    return View(
        tensor=access.tensor,
        buffer=buffer_of(access.tensor),
        offset=Affine(offset, ((BATCH_VARIABLE, image),) if moves else ()),
        row=row,
        pixel=pixel,
        height=height,
        width=width,
        pixel_bytes=channels * element,
    )
