"""The steps of a call that gathers inputs: rows into rings, then a block of output rows, and again.

Blocks that bring the same number of new rows make one loop. At the borders of the map, where
windows are cut off, the numbers differ: there are a few loops, or single steps, one after another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import groupby

from codegen.graph import Graph
from codegen.ops.base import Access, Call, Gather
from codegen.plan import Affine, KernelStep, Loop, Range, Step, View

Rows = tuple[int, int]


@dataclass(frozen=True)
class _Block:
    """Output rows that one execution makes, and for each gather the rows that it adds."""

    made: Rows
    added: tuple[Rows, ...]

    @property
    def counts(self) -> tuple[int, ...]:
        """How many rows; blocks of one loop have the same."""
        return tuple(end - start for start, end in (self.made, *self.added))


def gathering_steps(
    call: Call, plain: KernelStep, copies: Mapping[int, View], graph: Graph, variable: str
) -> Iterator[Step]:
    """The steps of a call over one image.

    Args:
        plain: the call over whole maps, whose gathered inputs have views of their ring's buffer.
        copies: tensor -> the view of a part that is copied.
        graph: tells the bytes of elements.
        variable: of the loops.
    """
    for _, group in groupby(_blocks(call), key=lambda block: block.counts):
        blocks = list(group)
        steps = tuple(_steps(call, plain, copies, graph, blocks[0], variable))
        if len(blocks) > 1:
            yield Loop(variable, len(blocks), steps)
        else:
            yield from (replace(step, row=Affine(0)) for step in steps)


def _blocks(call: Call) -> Iterator[_Block]:
    height = call.outputs[0].extent[1]
    present = [0] * len(call.gathers)
    for y in range(0, height, call.rows_per_step):
        end = min(y + call.rows_per_step, height)
        added = []
        for k, gather in enumerate(call.gathers):
            access = call.inputs[gather.position]
            last = max(present[k], access.rows.rows(end - 1, access.map[1])[1])
            added.append((present[k], last))
            present[k] = last
        yield _Block((y, end), tuple(added))


def _steps(
    call: Call,
    plain: KernelStep,
    copies: Mapping[int, View],
    graph: Graph,
    block: _Block,
    variable: str,
) -> Iterator[KernelStep]:
    """Copy the new rows of every gathered input, then make the output rows."""
    for gather, rows in zip(call.gathers, block.added, strict=True):
        if rows[0] == rows[1]:
            continue
        ring = plain.inputs[gather.position]
        for copy in gather.copies:
            _, _, width, channels = copy.outputs[0].extent
            step = KernelStep(
                call=copy,
                inputs=(copies[copy.inputs[0].tensor],),
                outputs=(_part_of_ring(ring, copy.outputs[0], graph),),
                range=Range(0, 0, 0, width, 0, channels),
                image=Affine(0),
                row=Affine(0),
            )
            yield _over(step, rows, variable)
    yield _over(plain, block.made, variable)


def _over(step: KernelStep, rows: Rows, variable: str) -> KernelStep:
    """The step over these rows, and as many further ones with each iteration."""
    start, end = rows
    row = Affine(0, ((variable, end - start),))
    return replace(step, range=replace(step.range, y0=start, y1=end), row=row)


def _part_of_ring(ring: View, part: Access, graph: Graph) -> View:
    """The columns and channels of a ring that one part fills."""
    assert part.box is not None, "parts are boxes"
    element = graph.tensors[part.tensor].dtype.size
    _, _, column, channel = part.box.start
    _, _, width, channels = part.box.size
    offset = Affine(ring.offset.constant + column * ring.pixel + channel * element)
    return replace(ring, offset=offset, width=width, pixel_bytes=channels * element)


def ring_view(view: View, gather: Gather) -> View:
    """The view of a gathered input, whose rows come round again in the ring."""
    return replace(view, ring=gather.ring if gather.ring < view.height else 0)
