"""Which tensor lies inside which other one, and the most bytes that this leaves live at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from codegen.graph import Graph, Node, State
from codegen.layout import Layout, dense_layout, is_dense, starts_densely
from codegen.ops.base import Access, Lowered, Map, nhwc
from codegen.plan import PlanOptions
from codegen.planner.order_problem import Overwrites, callers_tensors, lowered_traits


@dataclass(frozen=True)
class Group:
    """Tensors in one buffer; `first` is -1 where the caller fills it before the run."""

    tensors: tuple[int, ...]
    size: int
    first: int
    last: int


@dataclass(frozen=True)
class Host:
    """`start` is the corner of the box in the host's map; None: the very same bytes."""

    tensor: int
    start: Map | None


@dataclass
class Sharing:
    """The hosts decided so far, and the lives that they depend on.

    In the two buffers of a branch (`pingpong`) nothing shares bytes by row lag.
    """

    graph: Graph
    order: Sequence[Node]
    lowered: Mapping[int, Lowered]
    options: PlanOptions
    hosts: dict[int, Host] = field(default_factory=dict)
    dropped: set[tuple[int, int]] = field(default_factory=set)
    views: set[int] = field(default_factory=set)
    in_place: set[int] = field(default_factory=set)
    reasons: dict[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.position = {node.index: i for i, node in enumerate(self.order)}
        self._states = frozenset(state.start for state in self.graph.states)
        self.born: dict[int, int] = dict.fromkeys(self.graph.inputs, -1)
        self.dies: dict[int, int] = dict.fromkeys(self.graph.inputs, -1)
        self.accesses: dict[int, list[tuple[tuple[int, int], Access]]] = {}
        self.hosted: dict[int, list[int]] = {}
        for i, node in enumerate(self.order):
            for t in node.outputs:
                self.born[t] = self.dies[t] = i
            for t in node.inputs:
                if t in self.dies:
                    self.dies[t] = i
            for k, call in enumerate(self.lowered[node.index].calls):
                for access in (*call.sources, *call.outputs):
                    self.accesses.setdefault(access.tensor, []).append(((node.index, k), access))
        for state in self.graph.states:
            self._add_state(state)
        kept = self.graph.inputs if self.options.keep_input else ()
        for t in (*self.graph.outputs, *kept):
            if t in self.dies:
                self.dies[t] = len(self.order)
        fixed = callers_tensors(self.graph, self.options)
        traits = lowered_traits(self.graph, self.lowered, fixed)
        self.working = [traits[node.index].scratch for node in self.order]
        self.lags = [
            (position, traits[node.index].overwrites)
            for position, node in enumerate(self.order)
            if traits[node.index].overwrites and self.options.arena != "pingpong"
        ]
        self.sizes = {
            t: self.graph.tensors[t].nbytes
            for t in self.born
            if not self.graph.tensors[t].is_constant
        }

    def _add_state(self, state: State) -> None:
        """The old value is there from before the run to its last reader; the new one to the end."""
        readers = [self.position[at[0]] for at, _ in self.accesses.get(state.start, ())]
        self.born[state.start] = -1
        self.dies[state.start] = max(readers, default=-1)
        if state.end is None:
            self.dies[state.start] = len(self.order)
        else:
            self.dies[state.end] = len(self.order)
            self.host(state.end, Host(state.start, None))

    def is_state(self, root: int) -> bool:
        """Whether the group lies in the memory of state."""
        return root in self._states

    def root(self, t: int) -> int:
        while t in self.hosts:
            t = self.hosts[t].tensor
        return t

    def members(self, root: int) -> Iterator[int]:
        """The root and everything that it hosts, hosts first."""
        yield root
        for t in self.hosted.get(root, ()):
            yield from self.members(t)

    def host(self, t: int, host: Host) -> None:
        self.hosts[t] = host
        self.hosted.setdefault(host.tensor, []).append(t)

    def unhost(self, t: int) -> None:
        self.hosted[self.hosts.pop(t).tensor].remove(t)

    def layout(self, t: int) -> Layout | None:
        """Where `t` lies in its group; None if its host's gaps leave it no place."""
        tensor = self.graph.tensors[t]
        if t not in self.hosts:
            return dense_layout(tensor)
        host = self.hosts[t]
        above, below = self.layout(host.tensor), self.graph.tensors[host.tensor]
        if above is None:
            return None
        if host.start is not None:
            return above.at(host.start, tensor.dtype.size)
        if is_dense(below, above):
            return dense_layout(tensor, above.offset)
        return above if nhwc(tensor.shape) == nhwc(below.shape) else None

    def callers(self, root: int) -> bool:
        """Whether the group lies in memory that the caller gives."""
        borders = callers_tensors(self.graph, self.options)
        return any(m in borders for m in self.members(root))

    def reachable(self, t: int, layout: Layout) -> bool:
        """Whether every kernel, and the caller, can work on `t` in this layout."""
        tensor = self.graph.tensors[t]
        if is_dense(tensor, layout):
            return True
        if t in self.graph.inputs or t in self.graph.outputs:
            return False
        return all(
            call in self.dropped or (access.map == nhwc(tensor.shape) and not access.dense)
            for call, access in self.accesses.get(t, ())
        )

    def groups(self) -> list[Group]:
        """One per tensor without a host, in the order of the tensors' births."""
        groups = []
        for root, size in self.sizes.items():
            if root in self.hosts:
                continue
            members = tuple(self.members(root)) if self.hosted.get(root) else (root,)
            first, last = min(self.born[t] for t in members), max(self.dies[t] for t in members)
            end = len(self.order) if self.is_state(root) else last
            groups.append(Group(members, size, first, end))
        return groups

    def peak(self) -> int:
        """Most bytes live at once, scratch included, less what row lag lets outputs share."""
        change = [0] * (len(self.order) + 3)
        groups = {group.tensors[0]: group for group in self.groups()}
        for root, group in groups.items():
            if self.is_state(root):
                continue
            change[group.first + 1] += group.size
            change[group.last + 2] -= group.size
        live = list(accumulate(change))
        for position, scratch in enumerate(self.working):
            live[position + 1] += scratch
        for position, overwrites in self.lags:
            live[position + 1] -= self._saved(position, overwrites, groups)
        return max(live, default=0)

    def _starts_densely(self, t: int) -> bool:
        if t not in self.hosts:
            return True
        layout = self.layout(t)
        return layout is not None and starts_densely(self.graph.tensors[t], layout)

    def _saved(self, position: int, overwrites: Overwrites, groups: Mapping[int, Group]) -> int:
        """What the output of a node may share with an input that dies there."""
        best = 0
        for t, result, saved in overwrites:
            source = groups.get(self.root(t))
            lags = (
                saved > best
                and source is not None
                and result in groups
                and source.last == position == groups[result].first
                and self._starts_densely(t)
            )
            best = saved if lags else best
        return best
