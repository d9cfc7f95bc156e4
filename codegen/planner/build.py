"""The planner: graph and board in, plan out. Decides order, storage, offsets and steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from codegen import ops
from codegen.board_schema import Board
from codegen.errors import CodegenError, Unsupported
from codegen.graph import Graph, Node
from codegen.ops.base import Call, Lowered
from codegen.plan import (
    Buffer,
    Constant,
    Home,
    Layer,
    MemoryUse,
    Plan,
    PlanOptions,
    Step,
)
from codegen.planner import arena, order
from codegen.planner.blocks import (
    Block,
    DoesNotFit,
    Nearness,
    Place,
    Region,
    Solution,
    Spacing,
    lower_bound,
)
from codegen.planner.budget import over_budget
from codegen.planner.constants import (
    buffers_of_constants,
    place_constants,
    used_bytes,
    wanted_constants,
)
from codegen.planner.lag import Lag, find_lags
from codegen.planner.order_problem import lowered_traits, order_problem
from codegen.planner.steps import Places, call_steps
from codegen.planner.storage import Group, Storage, decide_storage


def build_plan(graph: Graph, board: Board, options: PlanOptions = PlanOptions()) -> Plan:  # noqa: B008
    """Plan the whole model.

    Raises:
        Unsupported: for an operator that no C can be written for.
        OverBudget: if RAM or flash of the board do not suffice.
        CodegenError: for an unknown strategy.
    """
    if options.caller_io:
        _check_caller_io(graph)
    lowered = ops.lower_all(graph, graph.nodes)
    orders = _orders(graph, lowered, options)
    chosen = order.choose_order(orders, options.order)
    nodes = chosen.nodes
    storage = decide_storage(graph, nodes, lowered, options)
    calls = {node.index: storage.remaining(node, lowered[node.index]) for node in nodes}
    called = [(node, call) for node in nodes for call in calls[node.index]]
    tensors, groups = _group_buffers(graph, storage, options)
    scratch = _scratch_buffers(nodes, calls)
    accesses = _accesses(graph, [call for _, call in called], tensors)
    lags = find_lags(graph, nodes, calls, storage)
    spacing = Spacing(_nearness(lags, groups))
    buffers = (*groups, *scratch)
    solution, placed = _place(buffers, accesses, spacing, board, options, nodes, graph)
    backwards = {node for node, lag in lags.items() if _is_above(lag, placed)}
    arena_bytes = _arena_bytes(placed, board)
    constants = place_constants(wanted_constants(graph, called), board, arena_bytes)
    constant_buffers = buffers_of_constants(graph, called, constants, len(nodes))
    tensors.update({t: b.name for b in constant_buffers for t in b.tensors})
    places = Places(tensors, storage.layouts)
    layers = tuple(
        Layer(
            node,
            lowered[node.index],
            _steps(graph, node, calls[node.index], places, node.index in backwards),
            storage.superfluous(node, lowered[node.index]),
            storage.note(node, lowered[node.index]) or _lag_note(lags.get(node.index), placed),
        )
        for node in nodes
    )
    return Plan(
        graph=graph,
        board=board,
        options=options,
        order_strategy=chosen.name,
        orders=tuple(orders.values()),
        arena_strategy=solution.strategy,
        layers=layers,
        buffers=(*placed, *constant_buffers),
        constants=constants,
        tensor_buffers=tensors,
        layouts=storage.layouts,
        arena_bytes=arena_bytes,
        lower_bound=solution.lower_bound,
        proven=solution.proven,
        memories=_memory_use(board, arena_bytes, constants),
    )


def _check_caller_io(graph: Graph) -> None:
    """The caller's output buffers must each have an operator that fills them."""
    produced = graph.producers()
    for t in graph.outputs:
        if t not in produced or graph.outputs.count(t) > 1:
            raise Unsupported(
                f"output {graph.tensors[t].label} is no operator's result of its own, so it cannot "
                "be written to a buffer of the caller's; build with --io-buffers arena"
            )


def _orders(
    graph: Graph, lowered: Mapping[int, Lowered], options: PlanOptions
) -> dict[str, order.OrderResult]:
    """What every order strategy comes to, with the sharing that storage will find."""
    borders = {*graph.inputs, *graph.outputs} if options.caller_io else set()
    problem = order_problem(
        graph,
        lowered_traits(graph, lowered, fixed=borders),
        external=borders,
        keep_inputs=options.keep_input,
    )
    return order.compare_orders(graph, problem)


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
    if options.caller_io:
        for t in group.tensors:
            if t in graph.inputs:
                return Home.CALLER_INPUT, graph.inputs.index(t)
            if t in graph.outputs:
                return Home.CALLER_OUTPUT, graph.outputs.index(t)
    return Home.ARENA, 0


def _scratch_name(node: Node) -> str:
    return f"scratch{node.index}"


def _scratch_buffers(nodes: Sequence[Node], calls: Mapping[int, Sequence[Call]]) -> list[Buffer]:
    """Working memory of each layer: the most that one of its calls wants."""
    buffers = []
    for position, node in enumerate(nodes):
        size = max((call.scratch for call in calls[node.index]), default=0)
        if size:
            buffers.append(Buffer(_scratch_name(node), Home.ARENA, "", 0, size, position, position))
    return buffers


def _place(
    buffers: Sequence[Buffer],
    accesses: Mapping[str, int],
    spacing: Spacing,
    board: Board,
    options: PlanOptions,
    nodes: Sequence[Node],
    graph: Graph,
) -> tuple[Solution, tuple[Buffer, ...]]:
    """Addresses for everything in the arena."""
    if options.arena != "auto" and options.arena not in arena.STRATEGIES:
        raise CodegenError(
            f"unknown arena strategy {options.arena!r}; "
            f"choose auto or {', '.join(arena.STRATEGIES)}"
        )
    blocks = [
        Block(b.name, b.size, b.first, b.last, accesses.get(b.name))
        for b in buffers
        if b.home is Home.ARENA
    ]
    memories = [board.memory(m) for m in board.placement.arena]
    regions = [Region(m.name, m.usable, m.alignment) for m in memories]
    try:
        solution = arena.allocate(options.arena, blocks, regions, spacing)
    except DoesNotFit:
        unlimited = Region("", None, max(r.alignment for r in regions))
        need = arena.allocate(options.arena, blocks, [unlimited], spacing).bytes
        _, peak = lower_bound(blocks, unlimited.alignment, spacing)
        raise over_budget(graph, board, nodes, buffers, need, peak) from None
    return solution, tuple(_with_place(b, solution.places.get(b.name)) for b in buffers)


def _accesses(graph: Graph, calls: Sequence[Call], tensors: Mapping[int, str]) -> dict[str, int]:
    """Buffer -> bytes that the calls read and write in it, each operand of a call once."""
    found: dict[str, int] = {}
    for access in (a for call in calls for a in (*call.inputs, *call.outputs)):
        if access.tensor in tensors:
            name = tensors[access.tensor]
            found[name] = found.get(name, 0) + graph.tensors[access.tensor].nbytes
    return found


def _with_place(buffer: Buffer, place: Place | None) -> Buffer:
    if place is None:
        return buffer
    return Buffer(
        buffer.name,
        buffer.home,
        place.region,
        place.offset,
        buffer.size,
        buffer.first,
        buffer.last,
        buffer.tensors,
        buffer.index,
    )


def _nearness(lags: Mapping[int, Lag], groups: Sequence[Buffer]) -> Iterator[Nearness]:
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


def _lag_note(lag: Lag | None, placed: Sequence[Buffer]) -> str:
    if lag is None or not _shares(lag, placed):
        return ""
    way = "last to first" if _is_above(lag, placed) else "in order"
    return f"overwrites its input behind the last read, rows {way}"


def _steps(
    graph: Graph, node: Node, calls: Sequence[Call], places: Places, backwards: bool
) -> tuple[Step, ...]:
    return tuple(
        step
        for call in calls
        for step in call_steps(
            graph, call, places, _scratch_name(node) if call.scratch else None, backwards
        )
    )


def _arena_bytes(buffers: Sequence[Buffer], board: Board) -> dict[str, int]:
    """Memory -> size of its arena, in the board's order, unused memories left out."""
    ends: dict[str, int] = {}
    for b in buffers:
        if b.home is Home.ARENA:
            ends[b.memory] = max(ends.get(b.memory, 0), b.offset + b.size)
    return {name: ends[name] for name in board.placement.arena if name in ends}


def _memory_use(
    board: Board, arena_bytes: Mapping[str, int], constants: Sequence[Constant]
) -> dict[str, MemoryUse]:
    used = used_bytes(constants, board, arena_bytes)
    return {m.name: MemoryUse(used[m.name], m.usable) for m in board.memories}
