"""A plan with subgraphs made flat: their layers follow the control operator, their buffers join in.

A buffer of a subgraph gets the address of the operator's scratch added, and its life in positions
of the flat list. What lies outside of a subgraph (operands, results, variables) has a name inside
and lies where the tensor outside does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from codegen.graph import Node
from codegen.layout import Layout
from codegen.ops.base import Call
from codegen.ops.control import stands_for_subgraphs
from codegen.plan import Buffer, Control, Home, Part
from codegen.planner.blocks import Nearness
from codegen.planner.control import ControlPlan, Scope, has_control
from codegen.planner.place import nearness, scratch_name


@dataclass(frozen=True, eq=False)
class FlatNode:
    """An operator at its position, the graph that it stands in, and what it controls."""

    node: Node
    scope: Scope
    control: Control | None = None

    @property
    def calls(self) -> tuple[Call, ...]:
        """The kernel calls of its own that need code."""
        calls = self.scope.placed.calls[self.node.index]
        return tuple(call for call in calls if not stands_for_subgraphs(call))


@dataclass(eq=False)
class Flat:
    """All operators in execution order, all buffers, and where every tensor lies."""

    nodes: list[FlatNode] = field(default_factory=list)
    buffers: list[Buffer] = field(default_factory=list)
    tensors: dict[int, str] = field(default_factory=dict)
    layouts: dict[int, Layout] = field(default_factory=dict)


@dataclass(frozen=True)
class _Around:
    """What a subgraph sees of the graph around it.

    Attributes:
        memory, offset: where its own buffers start.
        places: tensor inside -> the tensor outside in whose place it lies.
    """

    memory: str
    offset: int
    places: Mapping[int, int]


def flattened(scope: Scope) -> Flat:
    """The whole model, subgraphs in subgraphs included."""
    if not has_control(scope.placed.graph):
        placed = scope.placed
        nodes = [FlatNode(node, scope) for node in placed.nodes]
        return Flat(nodes, list(placed.buffers), dict(placed.tensors), dict(placed.storage.layouts))
    flat = Flat()
    _add(flat, scope, None)
    inside: dict[str, list[int]] = {}
    for t, name in flat.tensors.items():
        inside.setdefault(name, []).append(t)
    flat.buffers = [replace(b, tensors=_listed(b, inside)) for b in flat.buffers]
    return flat


def _listed(buffer: Buffer, inside: Mapping[str, list[int]]) -> tuple[int, ...]:
    return tuple(dict.fromkeys((*buffer.tensors, *inside.get(buffer.name, ()))))


def _add(flat: Flat, scope: Scope, around: _Around | None) -> None:
    """Add the operators of a graph, those of each control operator behind it, and its buffers."""
    placed = scope.placed
    _add_tensors(flat, scope, around)
    starts, own = [], {b.name: b for b in placed.buffers}
    for node in placed.nodes:
        starts.append(len(flat.nodes))
        flat.nodes.append(FlatNode(node, scope))
        control = scope.controls.get(node.index)
        if control is None:
            continue
        scratch = own.get(scratch_name(node))
        memory = scratch.memory if scratch is not None else ""
        offset = (around.offset if around else 0) + (scratch.offset if scratch is not None else 0)
        if around is not None:
            memory = around.memory
        _add_control(flat, node, control, memory, offset)
    starts.append(len(flat.nodes))
    flat.buffers += _buffers(scope, starts, around)


def _add_control(flat: Flat, node: Node, control: ControlPlan, memory: str, offset: int) -> None:
    """Add the subgraphs of a control operator, whose node is the last one."""
    position, loops = len(flat.nodes) - 1, node.op == "WHILE"
    condition = node.subgraphs[0].outputs[0] if loops else node.inputs[0]
    if loops:
        flat.tensors[condition] = f"t{condition}"
    parts = []
    for number, scope in enumerate(control.scopes):
        first = len(flat.nodes)
        enter, leave = borders(node, number)
        places = {inner: outer for outer, inner in enter}
        places.update(leave)
        if loops and number == 0:
            places[condition] = condition
        _add(flat, scope, _Around(memory, offset + control.start, places))
        parts.append(Part(first, len(flat.nodes), enter, leave))
    if loops:
        end = len(flat.nodes) - 1
        flat.buffers.append(
            Buffer(f"t{condition}", Home.ARENA, memory, offset, 1, position, end, (condition,))
        )
    made = Control(loops, condition, (parts[0], parts[1]))
    flat.nodes[position] = replace(flat.nodes[position], control=made)


def borders(node: Node, number: int) -> tuple[tuple[tuple[int, int], ...], ...]:
    """(outer, inner) for what a subgraph is given, (inner, outer) for what it leaves behind."""
    subgraph = node.subgraphs[number]
    if node.op == "IF":
        enter = tuple(zip(node.inputs[1:], subgraph.inputs, strict=True))
        return enter, tuple(zip(subgraph.outputs, node.outputs, strict=True))
    outside = (*node.outputs, *node.inputs[len(node.outputs) :])
    enter = tuple(zip(outside, subgraph.inputs, strict=True))
    if number == 0:
        return enter, ()
    changed = zip(subgraph.inputs, subgraph.outputs, node.outputs, strict=False)
    return enter, tuple((new, outer) for old, new, outer in changed if new != old)


def _add_tensors(flat: Flat, scope: Scope, around: _Around | None) -> None:
    """Where the tensors of a graph lie, once all around it do."""
    placed = scope.placed
    homes = {b.name: b for b in placed.buffers}
    for t, name in placed.tensors.items():
        layout = placed.storage.layouts.get(t)
        if around is None or homes[name].home is Home.ARENA:
            flat.tensors[t] = name
        else:
            outer = around.places[homes[name].tensors[0]]
            flat.tensors[t] = flat.tensors[outer]
            moved = flat.layouts[outer].offset if outer in flat.layouts else 0
            layout = layout and replace(layout, offset=layout.offset + moved)
        if layout is not None:
            flat.layouts[t] = layout


def _buffers(scope: Scope, starts: list[int], around: _Around | None) -> Iterator[Buffer]:
    """The buffers of a graph with their lives in flat positions; `starts` ends with the end."""
    count = len(starts) - 1
    given_away = {scratch_name(n) for n in scope.placed.nodes if n.index in scope.controls}
    for b in scope.placed.buffers:
        if b.name in given_away or (around is not None and b.home is not Home.ARENA):
            continue
        first = starts[b.first] if b.first >= 0 else b.first
        last = b.last
        if last >= 0:
            last = starts[last + 1] - 1 if last < count else starts[count]
        if around is None:
            yield replace(b, first=first, last=last)
        else:
            moved = around.offset + b.offset
            last = min(last, starts[count] - 1)
            yield replace(b, memory=around.memory, offset=moved, first=first, last=last)


def nearness_of(flat: Flat) -> Iterator[Nearness]:
    """What row lag allows, in every graph."""
    scopes = {id(n.scope): n.scope for n in flat.nodes}
    for scope in scopes.values():
        yield from nearness(scope.placed.lags, scope.placed.buffers)
