"""Where everything lies, for one execution order: sharing, row lag and addresses together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from codegen.board_schema import Board
from codegen.errors import CodegenError
from codegen.graph import Graph, Node
from codegen.ops.base import Call, Lowered
from codegen.plan import Buffer, Home, PlanOptions
from codegen.planner import arena
from codegen.planner.blocks import (
    Block,
    DoesNotFit,
    Nearness,
    Place,
    Region,
    Solution,
    Spacing,
    align_up,
    lower_bound,
)
from codegen.planner.branches import followed_buffers
from codegen.planner.budget import over_budget
from codegen.planner.lag import Lag, find_lags
from codegen.planner.sharing import Group
from codegen.planner.state import place_state
from codegen.planner.storage import Storage, decide_storage


@dataclass(frozen=True)
class Trial:
    """What makes a placement a mere try.

    Attributes:
        limit: bytes of all arenas above which it is of no use.
        seconds: work that the arena strategy may do, instead of its own limit.
        room: bytes up to which the peak may grow for the sake of fewer copies.
    """

    limit: int | None = None
    seconds: float | None = None
    room: int = 0


class OverLimit(Exception):
    """A trial came to at least `bytes`, which are too many."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.bytes = size


@dataclass(frozen=True, eq=False)
class Placement:
    """The decisions for one order of the nodes.

    Attributes:
        graph: the nodes' own; joins that are virtual are rewritten in it.
        nodes: in execution order.
        lowered: node index -> what the node becomes.
        storage: which tensors share a buffer.
        calls: node index -> the kernel calls that still need code.
        buffers: all that is no constant, with addresses; those of the storage's groups first.
        tensors: tensor index -> the name of its buffer.
        lags: node index -> how near its output may lie to its input.
        solution: what the arena strategy says of its result.
    """

    graph: Graph
    nodes: tuple[Node, ...]
    lowered: Mapping[int, Lowered]
    storage: Storage
    calls: Mapping[int, Sequence[Call]]
    buffers: tuple[Buffer, ...]
    tensors: Mapping[int, str]
    lags: Mapping[int, Lag]
    solution: Solution

    def shares(self, node: Node) -> bool:
        """Whether the arena lets the node's output overlap its dying input."""
        lag = self.lags.get(node.index)
        return lag is not None and _shares(lag, self.buffers)

    def backwards(self, node: Node) -> bool:
        """Whether the output overlaps its input from above, so that rows go last to first."""
        lag = self.lags.get(node.index)
        return lag is not None and _is_above(lag, self.buffers)


def place_tensors(
    graph: Graph,
    board: Board,
    options: PlanOptions,
    nodes: tuple[Node, ...],
    lowered: Mapping[int, Lowered],
    trial: Trial = Trial(),
) -> Placement:
    """Decide storage, row lag and addresses for the nodes in this order.

    Raises:
        OverBudget: if the RAM of the board does not suffice.
        OverLimit: if the arenas cannot stay within the trial's limit.
        CodegenError: for an unknown arena strategy.
    """
    storage = decide_storage(graph, nodes, lowered, options, trial.room)
    calls = {node.index: storage.remaining(node, lowered[node.index]) for node in nodes}
    tensors, groups = _group_buffers(graph, storage, options)
    groups = place_state(graph, board, groups)
    scratch = _scratch_buffers(nodes, calls)
    rings = _ring_buffers(nodes, calls)
    tensors.update({t: ring.name for ring in rings for t in ring.tensors})
    accesses = _accesses(graph, [call for node in nodes for call in calls[node.index]], tensors)
    lags = find_lags(graph, nodes, calls, storage)
    spacing = Spacing(nearness(lags, groups))
    buffers = (*groups, *scratch, *rings)
    follows = followed_buffers(graph, nodes, tensors, groups)
    solution, placed = _place(
        buffers, accesses, follows, spacing, board, options, nodes, graph, trial
    )
    return Placement(graph, nodes, lowered, storage, calls, placed, tensors, lags, solution)


def _group_buffers(
    graph: Graph, storage: Storage, options: PlanOptions
) -> tuple[dict[int, str], list[Buffer]]:
    """One buffer per group, still without an address, and the buffer of every tensor."""
    buffers, of_tensor = [], {}
    for group in storage.groups:
        home, index = _home(graph, group, options)
        name = f"t{group.tensors[0]}"
        of_tensor.update(dict.fromkeys(group.tensors, name))
        buffers.append(
            Buffer(name, home, "", 0, group.size, group.first, group.last, group.tensors, index)
        )
    return of_tensor, buffers


def _home(graph: Graph, group: Group, options: PlanOptions) -> tuple[Home, int]:
    if any(group.tensors[0] == state.start for state in graph.states):
        return Home.STATE, 0
    if options.caller_io:
        for t in group.tensors:
            if t in graph.inputs:
                return Home.CALLER_INPUT, graph.inputs.index(t)
            if t in graph.outputs:
                return Home.CALLER_OUTPUT, graph.outputs.index(t)
    return Home.ARENA, 0


def home_sizes(buffers: Sequence[Buffer], board: Board, home: Home) -> dict[str, int]:
    """Memory -> size of its arena or state, in the board's order, unused memories left out."""
    ends: dict[str, int] = {}
    for b in buffers:
        if b.home is home:
            ends[b.memory] = max(ends.get(b.memory, 0), b.offset + b.size)
    return {name: ends[name] for name in board.placement.arena if name in ends}


def ram_bytes(buffers: Sequence[Buffer], board: Board) -> dict[str, int]:
    """Memory -> what its state and its arena behind it take; 0 for memories without."""
    state, arenas = (home_sizes(buffers, board, home) for home in (Home.STATE, Home.ARENA))
    return {
        m.name: align_up(state.get(m.name, 0), m.alignment) + arenas.get(m.name, 0)
        for m in board.memories
    }


def scratch_name(node: Node) -> str:
    """The buffer of a node's kernel scratch."""
    return f"scratch{node.index}"


def _scratch_buffers(nodes: Sequence[Node], calls: Mapping[int, Sequence[Call]]) -> list[Buffer]:
    """Working memory of each layer: the most that one of its calls wants."""
    buffers = []
    for position, node in enumerate(nodes):
        size = max((call.scratch for call in calls[node.index]), default=0)
        if size:
            buffers.append(Buffer(scratch_name(node), Home.ARENA, "", 0, size, position, position))
    return buffers


def _ring_buffers(nodes: Sequence[Node], calls: Mapping[int, Sequence[Call]]) -> list[Buffer]:
    """Rows of inputs that are brought together while a layer runs."""
    return [
        Buffer(f"t{t}", Home.ARENA, "", 0, gather.ring_bytes, position, position, (t,))
        for position, node in enumerate(nodes)
        for call in calls[node.index]
        for gather in call.gathers
        for t in (call.inputs[gather.position].tensor,)
    ]


def _place(
    buffers: Sequence[Buffer],
    accesses: Mapping[str, int],
    follows: Mapping[str, str],
    spacing: Spacing,
    board: Board,
    options: PlanOptions,
    nodes: Sequence[Node],
    graph: Graph,
    trial: Trial,
) -> tuple[Solution, tuple[Buffer, ...]]:
    """Addresses for everything in the arena."""
    if options.arena != "auto" and options.arena not in arena.STRATEGIES:
        raise CodegenError(
            f"unknown arena strategy {options.arena!r}; "
            f"choose auto or {', '.join(arena.STRATEGIES)}"
        )
    blocks = [
        Block(b.name, b.size, b.first, b.last, accesses.get(b.name), follows.get(b.name))
        for b in buffers
        if b.home is Home.ARENA
    ]
    memories = [board.memory(m) for m in board.placement.arena]
    sizes = home_sizes(buffers, board, Home.STATE)
    state = {m.name: align_up(sizes.get(m.name, 0), m.alignment) for m in memories}
    regions = [Region(m.name, m.usable - state[m.name], m.alignment) for m in memories]
    least, _ = lower_bound(blocks, min((r.alignment for r in regions), default=1), spacing)
    if trial.limit is not None and least > trial.limit:
        raise OverLimit(least)
    try:
        solution = arena.allocate(options.arena, blocks, regions, spacing, trial.seconds)
    except DoesNotFit:
        unlimited = Region("", None, max(r.alignment for r in regions))
        need = arena.allocate(options.arena, blocks, [unlimited], spacing, trial.seconds).bytes
        _, peak = lower_bound(blocks, unlimited.alignment, spacing)
        held = sum(state.values())
        raise over_budget(graph, board, nodes, buffers, need, held, peak) from None
    if trial.limit is not None and solution.bytes > trial.limit:
        raise OverLimit(solution.bytes)
    kept = {name: part.size for pair in solution.pairs for part in pair for name in part.blocks}
    return solution, tuple(
        _with_place(b, solution.places.get(b.name), kept.get(b.name, b.size)) for b in buffers
    )


def _accesses(graph: Graph, calls: Sequence[Call], tensors: Mapping[int, str]) -> dict[str, int]:
    """Buffer -> bytes that the calls read and write in it, each operand of a call once."""
    found: dict[str, int] = {}
    for access in (a for call in calls for a in (*call.sources, *call.outputs)):
        if access.tensor in tensors:
            name = tensors[access.tensor]
            found[name] = found.get(name, 0) + graph.tensors[access.tensor].nbytes
    return found


def _with_place(buffer: Buffer, place: Place | None, size: int) -> Buffer:
    """The buffer at its address, with all the bytes that are kept for it there."""
    if place is None:
        return buffer
    return replace(buffer, memory=place.region, offset=place.offset, size=size)


def nearness(lags: Mapping[int, Lag], groups: Sequence[Buffer]) -> Iterator[Nearness]:
    """What row lag allows, in terms of the arena's blocks."""
    for lag in lags.values():
        result, source = groups[lag.result], groups[lag.source]
        if result.home is source.home is Home.ARENA:
            yield Nearness(result.name, source.name, lag.below)
            if lag.above is not None:
                yield Nearness(source.name, result.name, lag.above)


def _shares(lag: Lag, placed: Sequence[Buffer]) -> bool:
    """Whether the arena has let the two buffers of a lag share bytes."""
    result, source = placed[lag.result], placed[lag.source]
    return (
        result.home is source.home is Home.ARENA
        and result.memory == source.memory
        and result.offset < source.offset + source.size
        and source.offset < result.offset + result.size
    )


def _is_above(lag: Lag, placed: Sequence[Buffer]) -> bool:
    """Whether the output overlaps its input from above, so that rows go from last to first."""
    return _shares(lag, placed) and (
        placed[lag.result].offset > placed[lag.source].offset
        or placed[lag.source].offset - placed[lag.result].offset < lag.below
    )
