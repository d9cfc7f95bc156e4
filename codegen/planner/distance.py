"""How near an output may lie to the input that it is made from.

A kernel that makes its rows in order reads some input rows for the last time with every row that
it writes. If the output starts far enough below its dying input, every byte that it overwrites has
been read:

        output  |0|1|2|3|
        input      |0|1|2|3|        distance between the two starts: here one row

Going through the rows from the last to the first, the output may lie above its input instead:

        input   |0|1|2|3|
        output     |0|1|2|3|

A chain of layers goes down, up, down, ... in the space of one map and one lag.
"""

from __future__ import annotations

from itertools import accumulate

from codegen.graph import Graph
from codegen.ops.base import Access, Alias, Call


def _row_bytes(graph: Graph, access: Access) -> int:
    return access.map[2] * access.map[3] * graph.tensors[access.tensor].dtype.size


def distance_below(graph: Graph, call: Call, access: Access) -> int:
    """Bytes by which the output must start below the input, from the kernel's promise."""
    output = call.outputs[0]
    if access.alias is not Alias.ROW:
        return _sequence_distance(graph, access, output)
    images, height = output.map[:2]
    in_height, in_row = access.map[1], _row_bytes(graph, access)
    out_row = _row_bytes(graph, output)
    first_rows = [access.rows.rows(y, in_height)[0] for y in range(height)]
    still_read = list(accumulate(reversed(first_rows), min))[::-1]
    furthest = 0
    for image in range(images):
        written, read = image * height * out_row, image * in_height * in_row
        for y in range(0, height, call.rows_per_step):
            end = min(y + call.rows_per_step, height)
            furthest = max(furthest, written + end * out_row - read - still_read[y] * in_row)
    return furthest


def distance_above(graph: Graph, call: Call, access: Access) -> int | None:
    """Bytes by which the output must start above the input if its rows are made last to first.

    Only for kernels that make one row at a time, of a single image.
    """
    output = call.outputs[0]
    images, height = output.map[:2]
    if images > 1 or height == 1 or call.rows_per_step > 1 or call.pointwise or call.gathers:
        return None
    in_row, out_row = _row_bytes(graph, access), _row_bytes(graph, output)
    ends = [access.rows.rows(y, access.map[1])[1] for y in range(height)]
    still_read = accumulate(ends, max)
    return max(0, *(end * in_row - y * out_row for y, end in enumerate(still_read)))


def _sequence_distance(graph: Graph, access: Access, output: Access) -> int:
    """Elements or pixels in one sequence; each may overwrite itself."""
    n, h, w, c = output.map
    unit = c if access.alias is Alias.PIXEL else 1
    in_unit = access.map[3] if access.alias is Alias.PIXEL else 1
    growth = (
        unit * graph.tensors[output.tensor].dtype.size
        - in_unit * graph.tensors[access.tensor].dtype.size
    )
    return max(0, growth, n * h * w * c // unit * growth)
