"""Row lag: an output may overlap the input that it is made from, as long as it stays behind.

Which outputs that holds for, once it is decided which tensors share memory; how near they may come
is told by `distance.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from codegen.graph import Graph, Node
from codegen.layout import starts_densely
from codegen.ops.base import Access, Alias, Call, nhwc
from codegen.planner.distance import distance_above, distance_below
from codegen.planner.storage import Storage


@dataclass(frozen=True)
class Lag:
    """How near two groups may lie, by position in the storage's groups; distances in bytes.

    Attributes:
        result, source: the group of the output, and that of the input which dies.
        below: the output may start this far below the input.
        above: it may start this far above, the rows made last to first; None: only below.
    """

    result: int
    source: int
    below: int
    above: int | None


def find_lags(
    graph: Graph, order: Sequence[Node], calls: Mapping[int, Sequence[Call]], storage: Storage
) -> dict[int, Lag]:
    """Node index -> its lag, where the output makes up a group and the input's group dies.

    Such a node has a single call, which reads that group through a single view without gaps.
    """
    group_of = {t: i for i, group in enumerate(storage.groups) for t in group.tensors}
    found = {}
    for position, node in enumerate(order):
        if len(calls[node.index]) != 1:
            continue
        (call,) = calls[node.index]
        if len(call.outputs) != 1 or call.outputs[0].tensor not in group_of:
            continue
        for access in call.inputs:
            readers = [
                a for a in call.inputs if group_of.get(a.tensor) == group_of.get(access.tensor)
            ]
            if access.tensor not in group_of or len(readers) > 1:
                continue
            lag = _lag(graph, storage, group_of, call, access, position)
            if lag is not None:
                found[node.index] = lag
                break
    return found


def _lag(
    graph: Graph,
    storage: Storage,
    group_of: Mapping[int, int],
    call: Call,
    access: Access,
    position: int,
) -> Lag | None:
    output = call.outputs[0]
    result, source = group_of[output.tensor], group_of[access.tensor]
    simple = (
        source != result
        and access.alias is not Alias.NONE
        and storage.groups[source].last == position == storage.groups[result].first
        and not access.shared
        and all(_is_whole(graph, storage, a) for a in (access, output))
    )
    if not simple:
        return None
    below, above = distance_below(graph, call, access), distance_above(graph, call, access)
    worth = min(below, below if above is None else above) < storage.groups[result].size
    return Lag(result, source, below, above) if worth else None


def _is_whole(graph: Graph, storage: Storage, access: Access) -> bool:
    tensor = graph.tensors[access.tensor]
    return (
        access.box is None
        and access.map == nhwc(tensor.shape)
        and starts_densely(tensor, storage.layouts[access.tensor])
    )
