"""Row lag: an output may overlap the input that it is made from, as long as it stays behind.

A kernel that makes its rows in order reads some input rows for the last time with every row that
it writes. If the output lies below its dying input in memory, far enough, every byte that it
overwrites has been read:

        output  |0|1|2|3|
        input      |0|1|2|3|        distance between the two starts: here one row

`Overlap` states that distance; the arena may then place the two buffers so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from codegen.graph import Graph, Node
from codegen.layout import dense_layout
from codegen.ops.base import Access, Alias, Call, nhwc
from codegen.planner.storage import Group, Storage


@dataclass(frozen=True)
class Overlap:
    """Buffers that may share bytes: `upper` starts at least `distance` bytes above `lower`."""

    lower: int
    upper: int
    distance: int


def find_overlaps(
    graph: Graph, order: Sequence[Node], calls: Mapping[int, Sequence[Call]], storage: Storage
) -> tuple[Overlap, ...]:
    """Every pair of groups, named by their first tensor, that row lag allows to overlap.

    The output is its group's first tensor and the input's group dies with the operator, which
    makes the output in a single call and reads that group through a single view.
    """
    group_of = {t: group for group in storage.groups for t in group.tensors}
    found = []
    for position, node in enumerate(order):
        if len(calls[node.index]) != 1:
            continue
        (call,) = calls[node.index]
        if len(call.outputs) != 1 or call.outputs[0].tensor not in group_of:
            continue
        result = group_of[call.outputs[0].tensor]
        for access in call.inputs:
            source = group_of.get(access.tensor)
            if source is None or not _may_overlap(access, call, source, result, position, graph):
                continue
            readers = [a for a in call.inputs if group_of.get(a.tensor) is source]
            whole = all(
                storage.layouts[a.tensor] == dense_layout(graph.tensors[a.tensor])
                for a in (access, call.outputs[0])
            )
            distance = lag(graph, call, access)
            if len(readers) == 1 and whole and distance < result.size:
                found.append(Overlap(result.tensors[0], source.tensors[0], distance))
    return tuple(found)


def _may_overlap(
    access: Access, call: Call, source: Group, result: Group, position: int, graph: Graph
) -> bool:
    output = call.outputs[0]
    return (
        source is not result
        and access.alias is not Alias.NONE
        and source.last == position == result.first
        and access.box is None
        and output.box is None
        and not access.shared
        and access.map == nhwc(graph.tensors[access.tensor].shape)
        and output.map == nhwc(graph.tensors[output.tensor].shape)
    )


def lag(graph: Graph, call: Call, access: Access) -> int:
    """Bytes by which the output must start below the input, from the kernel's promise."""
    output = call.outputs[0]
    in_size = graph.tensors[access.tensor].dtype.size
    out_size = graph.tensors[output.tensor].dtype.size
    if access.alias is not Alias.ROW:
        return _sequence_lag(access, output, in_size, out_size)
    images, height, width, channels = output.map
    _, in_height, in_width, in_channels = access.map
    out_row, in_row = width * channels * out_size, in_width * in_channels * in_size
    first_rows = [access.rows.rows(y, in_height)[0] for y in range(height)]
    still_read = list(accumulate(reversed(first_rows), min))[::-1]
    furthest = 0
    for image in range(images):
        written, read = image * height * out_row, image * in_height * in_row
        for y in range(0, height, call.rows_per_step):
            end = min(y + call.rows_per_step, height)
            furthest = max(furthest, written + end * out_row - read - still_read[y] * in_row)
    return furthest


def _sequence_lag(access: Access, output: Access, in_size: int, out_size: int) -> int:
    """Elements or pixels in one sequence; each may overwrite itself."""
    n, h, w, c = output.map
    unit = c if access.alias is Alias.PIXEL else 1
    units = n * h * w * c // unit
    in_unit = access.map[3] * in_size if access.alias is Alias.PIXEL else in_size
    growth = unit * out_size - in_unit
    return max(0, growth, units * growth)
