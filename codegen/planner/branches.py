"""Branches of a graph: which buffer is computed from which one other, and from nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from codegen.graph import Graph, Node
from codegen.plan import BranchBuffer, Buffer, Home
from codegen.planner.blocks import Solution

_NOTHING = ""
"""Stands for the result of an operator that has none."""


def followed_buffers(
    graph: Graph, nodes: Sequence[Node], tensors: Mapping[int, str], buffers: Sequence[Buffer]
) -> dict[str, str]:
    """Buffer of the arena -> the one that a simple chain of operators makes it from.

    There the source is an operator's result in the arena, the buffer is made from it alone, nothing
    else is, and the source dies in the operator that makes the buffer. Forks, joins, model inputs,
    and results that are model outputs end or begin a chain. Tensors that share a buffer (views,
    results in place) are one result: that of the chain which makes it, even if an ADD adds another
    branch's result to it in place. A concatenation that branches write their parts of is of none.
    """
    sources: dict[str, set[str]] = {}
    users: dict[str, set[str]] = {}
    for node in nodes:
        read, made = _touched(node, tensors)
        for name in made:
            sources.setdefault(name, set()).update(read - {name})
        for name in read:
            users.setdefault(name, set()).update(made - {name} if made else {_NOTHING})
    by_name = {b.name: b for b in buffers if b.home is Home.ARENA}
    found = {}
    for name, result in by_name.items():
        only = _made_from(graph, nodes, tensors, result)
        if len(only) != 1 or not only <= by_name.keys():
            continue
        (source,) = (by_name[n] for n in only)
        alone = users[source.name] == {name} and len(sources.get(source.name, ())) <= 1
        if alone and 0 <= source.first < source.last == result.first:
            found[name] = source.name
    return found


def _touched(node: Node, tensors: Mapping[int, str]) -> tuple[set[str], set[str]]:
    """The buffers that a node reads, and those that it writes."""
    read = {tensors[t] for t in node.inputs if t in tensors}
    return read, {tensors[t] for t in node.outputs if t in tensors}


def _made_from(
    graph: Graph, nodes: Sequence[Node], tensors: Mapping[int, str], result: Buffer
) -> set[str]:
    """What the operator reads that makes the whole buffer; nothing if there is none such."""
    if not 0 <= result.first < len(nodes):
        return set()
    maker = nodes[result.first]
    made = (graph.tensors[t].nbytes for t in maker.outputs if tensors.get(t) == result.name)
    return _touched(maker, tensors)[0] if max(made, default=0) == result.size else set()


def branch_buffers(solution: Solution) -> tuple[tuple[BranchBuffer, BranchBuffer], ...]:
    """The pairs of a solution as the plan names them, branches numbered in the order given."""
    branches = []
    for number, pair in enumerate(solution.pairs):
        memory = solution.places[pair[0].blocks[0]].region
        a, b = (
            BranchBuffer(f"branch{number}_{letter}", memory, part.offset, part.size, part.blocks)
            for letter, part in zip("ab", pair, strict=True)
        )
        branches.append((a, b))
    return tuple(branches)
