"""Which tensors share memory, how they lie in it, and for how long it is needed.

Every tensor may have a host, another tensor inside whose bytes it lies:

- the output of a pure reshape is hosted by its input (the same bytes);
- an element-wise output is hosted by a dying input that it overwrites;
- an input of a concatenation is hosted by a box of the output, and its copy is dropped. The same
  holds for every copy of a whole tensor into a box (padding) or out of one (split, slice).

A tensor without a host owns a buffer; together with all that it hosts it is a group. A hosting is
kept only if no write of any operator then touches bytes that a later operator still reads, and, for
boxes, if the most bytes live at once do not grow: reserving an interleaved concatenation as early
as its first branch can cost more than the copy that it saves.

What a run begins with and what the next one begins with are one group in memory of its own, so a
new state that is made when nobody reads the old one any more is made in its place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from codegen.graph import Graph, Node, Tensor
from codegen.layout import Layout, covered, dense_layout
from codegen.ops.base import Access, Alias, Box, Call, Lowered, nhwc
from codegen.ops.control import stands_for_subgraphs
from codegen.ops.copy import is_copy
from codegen.plan import PlanOptions
from codegen.planner.sharing import Group, Host, Sharing


@dataclass(frozen=True)
class Storage:
    """The groups, every tensor's layout in its group, and what became superfluous.

    Attributes:
        groups: one buffer each.
        layouts: tensor index -> where it lies in its group's buffer.
        views: nodes that need no code at all.
        dropped: (node index, position of the call) of copies that need no code.
        in_place: nodes whose output overwrites an input.
        reasons: node index -> why its copies stay, where memory is why.
    """

    groups: tuple[Group, ...]
    layouts: Mapping[int, Layout]
    views: frozenset[int]
    dropped: frozenset[tuple[int, int]]
    in_place: frozenset[int]
    reasons: Mapping[int, str]

    def remaining(self, node: Node, lowered: Lowered) -> tuple[Call, ...]:
        """The calls of a node that still need code."""
        return tuple(
            call for k, call in enumerate(lowered.calls) if (node.index, k) not in self.dropped
        )

    def superfluous(self, node: Node, lowered: Lowered) -> tuple[Call, ...]:
        """The copies of a node that need no code."""
        return tuple(
            call for k, call in enumerate(lowered.calls) if (node.index, k) in self.dropped
        )

    def note(self, node: Node, lowered: Lowered) -> str:
        """What became of a node, in a few words."""
        if node.index in self.in_place:
            return "in place"
        if node.index in self.views:
            return "no code: its bytes lie where they are needed"
        done = len(self.superfluous(node, lowered))
        notes = [f"{done} of {len(lowered.calls)} copies not needed"] if done else []
        if node.index in self.reasons:
            notes.append(self.reasons[node.index])
        return "; ".join(notes)


@dataclass(frozen=True)
class _Write:
    """Bytes that a call writes: a box of `tensor` (None: all of it), when, and over which input."""

    position: int
    tensor: int
    box: Box | None
    over: int | None


def decide_storage(
    graph: Graph,
    order: Sequence[Node],
    lowered: Mapping[int, Lowered],
    options: PlanOptions,
    room: int = 0,
) -> Storage:
    """Host views, in-place outputs and copied boxes, then measure every group's life.

    Copies are dropped as long as the most bytes live at once do not grow beyond `room`.
    """
    sharing = Sharing(graph, order, lowered, options)
    for node in order:
        _try_view(sharing, node)
    for node in order:
        if node.index not in sharing.views:
            _try_in_place(sharing, node)
    for node in order:
        if node.index not in sharing.views:
            _try_boxes(sharing, node, room)
    for node in order:
        calls = lowered[node.index].calls
        if calls and all((node.index, k) in sharing.dropped for k in range(len(calls))):
            sharing.views.add(node.index)
    return _finished(sharing)


def _try_view(sharing: Sharing, node: Node) -> None:
    """Let the output of a pure reshape lie where its input lies."""
    source = sharing.lowered[node.index].view_of
    if source is None or source not in sharing.born:
        return
    (result,) = node.outputs
    if sharing.callers(sharing.root(source)) or sharing.callers(result):
        return
    if not sharing.is_state(sharing.root(source)):
        sharing.host(result, Host(source, None))
    elif not _accepted(sharing, result, Host(source, None)):
        return  # a new state would overwrite the view
    sharing.views.add(node.index)
    sharing.dropped.update((node.index, k) for k in range(len(sharing.lowered[node.index].calls)))


def _try_in_place(sharing: Sharing, node: Node) -> None:
    """Let what a call alone writes overwrite an input, element by element, that nobody reads later.

    Of several calls only the first may, and only over state: no other call may read the input.
    """
    calls = sharing.lowered[node.index].calls
    if not calls or len(calls[0].outputs) != 1 or calls[0].scratch:
        return
    output = calls[0].outputs[0]
    alone = len(calls) == 1
    if not alone and any(a.tensor == output.tensor for c in calls[1:] for a in c.outputs):
        return
    for access in calls[0].inputs:
        if (
            _fits_over(sharing, access, output)
            and (alone or _is_own_state(sharing, calls, access))
            and _overwrites(sharing, node, output.tensor, access.tensor)
        ):
            sharing.in_place.add(node.index)
            return


def _fits_over(sharing: Sharing, access: Access, output: Access) -> bool:
    """Whether the output may lie over the input, element over element, in the planner's memory."""
    tensors, source = sharing.graph.tensors, access.tensor
    return (
        access.alias is Alias.ELEMENT
        and source in sharing.born
        and not sharing.callers(output.tensor)
        and not sharing.callers(sharing.root(source))
        and tensors[source].dtype.size == tensors[output.tensor].dtype.size
        and access.map == output.map
    )


def _is_own_state(sharing: Sharing, calls: Sequence[Call], access: Access) -> bool:
    """Whether the input is state that the first of the calls alone reads."""
    others = (a.tensor for call in calls[1:] for a in call.sources)
    return sharing.is_state(access.tensor) and access.tensor not in others


def _overwrites(sharing: Sharing, node: Node, result: int, source: int) -> bool:
    """Let the result lie over the source; a state that it becomes needs no copy then."""
    assignment = _assignment(sharing, result, sharing.root(source))
    if assignment is not None:
        sharing.dropped.add(assignment)
        if _accepted(sharing, result, Host(source, None), node):
            return True
        sharing.dropped.discard(assignment)
    return _accepted(sharing, result, Host(source, None), node)


def _assignment(sharing: Sharing, value: int, start: int) -> tuple[int, int] | None:
    """The copy that makes `value` what the next run finds in the place of `start`, if any."""
    for state in sharing.graph.states:
        if state.start == start and state.end is not None:
            node = sharing.order[sharing.born[state.end]]
            for k, call in enumerate(sharing.lowered[node.index].calls):
                if is_copy(call) and (call.inputs[0].tensor, call.outputs[0].tensor) == (
                    value,
                    state.end,
                ):
                    return node.index, k
    return None


def _try_boxes(sharing: Sharing, node: Node, room: int) -> None:
    """Drop the copies of a node: all that can be if that costs no memory, else one by one."""
    copies = [
        (k, call)
        for k, call in enumerate(sharing.lowered[node.index].calls)
        if is_copy(call) and call.inputs[0].tensor in sharing.born
    ]
    if not copies:
        return
    before = max(sharing.peak(), room)
    together = [t for k, call in copies if (t := _host_box(sharing, node, k, call)) is not None]
    grown = sharing.peak() - before
    if grown <= 0:
        if len(together) < len(copies):
            sharing.reasons[node.index] = "copies what has to lie elsewhere"
        return
    sharing.reasons[node.index] = f"copies, since in place {grown:,} B more would be live"
    for t in together:
        sharing.unhost(t)
    sharing.dropped.difference_update((node.index, k) for k, _ in copies)
    for k, call in copies:
        alone = _host_box(sharing, node, k, call)
        if alone is not None and sharing.peak() > before:
            sharing.unhost(alone)
            sharing.dropped.discard((node.index, k))


def _host_box(sharing: Sharing, node: Node, k: int, call: Call) -> int | None:
    """Let one side of a copy lie in a box of the other, and drop the copy.

    The inner tensor brings its group along, if it fills that. Returns the tensor that has got a
    host; None if memory cannot be shared so.
    """
    x, y = call.inputs[0], call.outputs[0]
    inner, outer = (x, y) if x.box is None else (y, x)
    tensors = sharing.graph.tensors
    top, around = sharing.root(inner.tensor), sharing.root(outer.tensor)
    fits = (
        inner.box is None
        and top != around
        and inner.map == outer.extent == nhwc(tensors[inner.tensor].shape)
        and inner.map == nhwc(tensors[top].shape)
        and outer.map == nhwc(tensors[outer.tensor].shape)
        and sharing.layout(inner.tensor) == dense_layout(tensors[inner.tensor])
        and not sharing.is_state(top)
        and not sharing.callers(top)
        and not sharing.callers(around)
    )
    if not fits:
        return None
    sharing.dropped.add((node.index, k))
    start = outer.box.start if outer.box else (0, 0, 0, 0)
    if _accepted(sharing, top, Host(outer.tensor, start)):
        return top
    sharing.dropped.discard((node.index, k))
    return None


def _accepted(sharing: Sharing, t: int, host: Host, over: Node | None = None) -> bool:
    """Host `t` if every tensor of the group stays within reach and intact; undo it otherwise."""
    sharing.host(t, host)
    members = list(sharing.members(sharing.root(t)))
    layouts = {m: sharing.layout(m) for m in members}
    if over is not None:
        sharing.in_place.add(over.index)
    fine = all(
        layout is not None and sharing.reachable(m, layout) for m, layout in layouts.items()
    ) and _intact(sharing, {m: lay for m, lay in layouts.items() if lay is not None})
    if over is not None:
        sharing.in_place.discard(over.index)
    if not fine:
        sharing.unhost(t)
    return fine


def _intact(sharing: Sharing, layouts: Mapping[int, Layout]) -> bool:
    """Whether no operator writes bytes of a member that is still to be read."""
    if len(layouts) == 1:
        return True
    tensors = sharing.graph.tensors
    root = sharing.root(next(iter(layouts)))
    size = tensors[root].nbytes
    regions = {m: _bytes(tensors[m], layout, None, size) for m, layout in layouts.items()}
    for write in _writes(sharing, layouts):
        region = _bytes(tensors[write.tensor], layouts[write.tensor], write.box, size)
        for m in layouts:
            alive = sharing.born[m] <= write.position <= sharing.dies[m]
            ends = m == write.over and sharing.dies[m] == write.position
            own = m == write.tensor
            if alive and not ends and not own and bool((regions[m] & region).any()):
                return False
    return True


def _writes(sharing: Sharing, layouts: Mapping[int, Layout]) -> Iterator[_Write]:
    """What the remaining calls write into members of a group; inputs come before everything."""
    for t in layouts:
        if sharing.born[t] < 0:
            yield _Write(-1, t, None, None)
            continue
        node = sharing.order[sharing.born[t]]
        kept = any(t == state.end for state in sharing.graph.states)
        placed = t in sharing.hosts and (kept or node.index in sharing.in_place)
        over = sharing.hosts[t].tensor if placed else None
        for k, call in enumerate(sharing.lowered[node.index].calls):
            if (node.index, k) in sharing.dropped:
                continue
            for access in call.outputs:
                if access.tensor == t:
                    own_map = access.map == nhwc(sharing.graph.tensors[t].shape)
                    box = access.box if own_map else None
                    first = _first_value(node, call, t)
                    yield _Write(sharing.born[t], t, box, over if first is None else first)


def _first_value(node: Node, call: Call, t: int) -> int | None:
    """What a variable of a loop begins with, where the loop may write over it."""
    if node.op != "WHILE" or not stands_for_subgraphs(call):
        return None
    value = node.inputs[node.outputs.index(t)]
    return None if any(access.tensor == value for access in call.inputs) else value


def _bytes(tensor: Tensor, layout: Layout, box: Box | None, size: int) -> NDArray[np.bool_]:
    """The bytes of a box of a tensor, or of all of it."""
    element = tensor.dtype.size
    if box is None:
        return covered(layout, nhwc(tensor.shape), element, size)
    return covered(layout.at(box.start, element), box.size, element, size)


def _finished(sharing: Sharing) -> Storage:
    layouts = {t: sharing.layout(t) for t in sharing.born}
    return Storage(
        groups=tuple(sharing.groups()),
        layouts={t: layout for t, layout in layouts.items() if layout is not None},
        views=frozenset(sharing.views),
        dropped=frozenset(sharing.dropped),
        in_place=frozenset(sharing.in_place),
        reasons=dict(sharing.reasons),
    )
