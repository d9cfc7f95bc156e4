"""Which tensors share memory, and for how long it is needed.

Tensors are joined into groups that share one buffer: a view with its source, an output with the
dying input that it may overwrite. A group lives from its first write to its last read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from codegen.graph import Graph, Node
from codegen.ops.base import Alias, Lowered
from codegen.plan import PlanOptions


@dataclass(frozen=True)
class Group:
    """Tensors in one buffer; `first` is -1 where the caller fills it before the run."""

    tensors: tuple[int, ...]
    size: int
    first: int
    last: int


@dataclass(frozen=True)
class Storage:
    """The groups, and which nodes became views and need no code."""

    groups: tuple[Group, ...]
    views: frozenset[int]
    in_place: frozenset[int]


class _Sharing:
    """Union-find over tensors with the positions of their writes and reads."""

    def __init__(self, graph: Graph, order: Sequence[Node], options: PlanOptions) -> None:
        self.graph, self.options = graph, options
        self.parent: dict[int, int] = {}
        self.born: dict[int, int] = dict.fromkeys(graph.inputs, -1)
        self.dies: dict[int, int] = {}
        for position, node in enumerate(order):
            for t in node.outputs:
                self.born[t] = self.dies[t] = position
            for t in node.inputs:
                if t >= 0:
                    self.dies[t] = position
        self.end = len(order)
        self.dies.update(dict.fromkeys(graph.outputs, self.end))
        if options.keep_input:
            self.dies.update(dict.fromkeys(graph.inputs, self.end))
        for t in graph.inputs:
            self.dies.setdefault(t, -1)

    def root(self, t: int) -> int:
        while t in self.parent:
            t = self.parent[t]
        return t

    def members(self, t: int) -> list[int]:
        root = self.root(t)
        return [m for m in self.born if self.root(m) == root]

    def join(self, source: int, result: int) -> None:
        self.parent[self.root(result)] = self.root(source)

    def last_use(self, t: int) -> int:
        return max(self.dies[m] for m in self.members(t))

    def callers(self, t: int) -> bool:
        """Whether the buffer of `t` is memory that the caller gives."""
        borders = {*self.graph.inputs, *self.graph.outputs}
        return self.options.caller_io and any(m in borders for m in self.members(t))


def decide_storage(
    graph: Graph, order: Sequence[Node], lowered: dict[int, Lowered], options: PlanOptions
) -> Storage:
    """Join views and safe in-place outputs, then measure every group's life."""
    sharing = _Sharing(graph, order, options)
    views = {node.index for node in order if _try_view(sharing, node, lowered[node.index])}
    in_place = {
        node.index
        for position, node in enumerate(order)
        if node.index not in views and _try_in_place(sharing, position, node, lowered[node.index])
    }
    return Storage(_groups(sharing), frozenset(views), frozenset(in_place))


def _try_view(sharing: _Sharing, node: Node, lowered: Lowered) -> bool:
    """Let the output of a pure reshape lie where its input lies."""
    source = lowered.view_of
    if source is None or sharing.graph.tensors[source].is_constant:
        return False
    if sharing.callers(source) or sharing.callers(node.outputs[0]):
        return False
    sharing.join(source, node.outputs[0])
    return True


def _try_in_place(sharing: _Sharing, position: int, node: Node, lowered: Lowered) -> bool:
    """Let an element-wise output overwrite an input that nobody reads afterwards."""
    if len(lowered.calls) != 1 or len(node.outputs) != 1 or lowered.calls[0].scratch:
        return False
    tensors, (result,) = sharing.graph.tensors, node.outputs
    if sharing.callers(result):
        return False
    for access in lowered.calls[0].inputs:
        source = access.tensor
        group = set(sharing.members(source))
        readers = [a for a in lowered.calls[0].inputs if a.tensor in group]
        if (
            not tensors[source].is_constant
            and all(a.alias is Alias.ELEMENT for a in readers)
            and tensors[source].dtype.size == tensors[result].dtype.size
            and tensors[source].nbytes == tensors[result].nbytes
            and sharing.last_use(source) == position
            and not sharing.callers(source)
        ):
            sharing.join(source, result)
            return True
    return False


def _groups(sharing: _Sharing) -> tuple[Group, ...]:
    by_root: dict[int, list[int]] = {}
    for t in sharing.born:
        if not sharing.graph.tensors[t].is_constant:
            by_root.setdefault(sharing.root(t), []).append(t)
    return tuple(
        Group(
            tensors=tuple(members),
            size=max(sharing.graph.tensors[t].nbytes for t in members),
            first=min(sharing.born[t] for t in members),
            last=max(sharing.dies[t] for t in members),
        )
        for members in by_root.values()
    )
