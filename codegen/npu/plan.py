"""The plan of a model for a board with an NPU: schedule, memory, and layers of steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from codegen.board_schema import Board
from codegen.errors import OverBudget
from codegen.graph import Graph, Node
from codegen.npu import steps as npu_steps
from codegen.npu.builder import Builder
from codegen.npu.cache import CacheKeeper
from codegen.npu.issue import Act, Action, Issue
from codegen.npu.network import Network, Step, network
from codegen.npu.roll import Node as RollNode
from codegen.npu.roll import roll
from codegen.npu.schedule import Schedule
from codegen.npu.search import best_schedule
from codegen.npu.timeline import Timeline, timeline
from codegen.npu.weights import pack
from codegen.ops.base import Call, Lowered, weights
from codegen.plan import (
    Buffer,
    Constant,
    Home,
    Layer,
    MemoryUse,
    Plan,
    PlanOptions,
)
from codegen.plan import Step as PlanStep
from codegen.planner import arena, blocks
from codegen.planner.blocks import DoesNotFit, Solution
from codegen.planner.constants import (
    Wanted,
    buffers_of_constants,
    place_constants,
    used_bytes,
    wanted_constants,
)
from codegen.planner.place import home_sizes, ram_bytes, scratch_name
from codegen.planner.state import place_state
from codegen.planner.steps import Places, call_steps


@dataclass(frozen=True, eq=False)
class NpuPlan:
    """What the plan of a board with an NPU knows beyond layers and buffers.

    Attributes:
        network, schedule: what was decided.
        builder: the program, with what it packed.
        issue: lives, addresses and actions.
        timeline: what the model of time says of it.
    """

    network: Network
    schedule: Schedule
    builder: Builder
    issue: Issue
    timeline: Timeline


@dataclass(frozen=True, eq=False)
class _Context:
    """Everything that layers are made from."""

    graph: Graph
    board: Board
    options: PlanOptions
    nodes: tuple[Node, ...]
    lowered: Mapping[int, Lowered]
    npu: NpuPlan
    position: Mapping[int, int]  # operator -> layer


def plan_npu(
    graph: Graph,
    board: Board,
    options: PlanOptions,
    nodes: tuple[Node, ...],
    order: str,
    lowered: Mapping[int, Lowered],
    portable: Mapping[int, Lowered],
) -> Plan:
    """Plan a model for NPU and DMA, with its nodes in this order.

    `lowered` are the kernels of the board's CPU, `portable` those that commands are made from.

    Raises:
        OverBudget: if an operator fits no tile, or memory does not suffice.
    """
    assert board.scratchpad is not None and board.dma is not None
    net = network(graph, board, nodes, portable)
    schedule, builder, issued = best_schedule(net)
    clock = timeline(board, builder.program, issued.actions, issued.offsets)
    npu = NpuPlan(net, schedule, builder, issued, clock)
    context = _Context(graph, board, options, nodes, lowered, npu, _positions(nodes, npu))
    buffers, solution = _place(context, list(_memory_buffers(context)))
    return _assemble(context, order, buffers, solution)


def _positions(nodes: tuple[Node, ...], npu: NpuPlan) -> dict[int, int]:
    """Operator -> the layer that has its steps: for all of a cascade that of its last operator."""
    own = {node.index: i for i, node in enumerate(nodes)}
    steps = npu.network.steps
    position = dict(own)
    for number, step in enumerate(steps):
        found = npu.schedule.cascade_of(number)
        if found is not None:
            position[step.node.index] = own[steps[found[1].last].node.index]
    return position


def _assemble(context: _Context, order: str, buffers: list[Buffer], solution: Solution) -> Plan:
    graph, board, lowered = context.graph, context.board, context.lowered
    cpu = [s.node for s in context.npu.network.steps if s.work is None]
    called = [(node, call) for node in cpu for call in lowered[node.index].calls]
    arena_bytes, ram = home_sizes(buffers, board, Home.ARENA), ram_bytes(buffers, board)
    packed = dict(_packed(context))
    wanted = [*wanted_constants(graph, called), *packed.values()]
    constants = place_constants(wanted, board, ram)
    end = len(context.nodes)
    fixed = buffers_of_constants(graph, called, constants, end)
    blobs = _weight_buffers(packed, constants, end)
    tensors = {t: b.name for b in (*buffers, *fixed) for t in b.tensors}
    used = used_bytes(constants, board, ram)
    return Plan(
        graph=graph,
        board=board,
        options=context.options,
        order_strategy=order,
        arena_strategy=solution.strategy,
        arena_seconds=solution.seconds,
        layers=tuple(_layers(context, Places(tensors, {}), buffers)),
        buffers=(*buffers, *fixed, *blobs),
        constants=constants,
        tensor_buffers=tensors,
        layouts={},
        arena_bytes=arena_bytes,
        state_bytes=home_sizes(buffers, board, Home.STATE),
        lower_bound=solution.lower_bound,
        counted_bound=solution.counted_bound,
        proven=solution.proven,
        memories={m.name: MemoryUse(used[m.name], m.usable) for m in board.memories},
        branches=(),
        npu=context.npu,
    )


def _packed(context: _Context) -> Iterator[tuple[int, Wanted]]:
    """The packed weights of every operator of the NPU."""
    for step in context.npu.network.steps:
        offsets = context.npu.builder.packed.get(step.node.index)
        if step.work is not None and offsets:
            values, _ = pack(step.work, list(offsets))
            owner, label = f"op{step.node.index:02d}_npu", f"weights of {step.node.label}"
            yield step.node.index, Wanted(owner, weights(values), label)


def _weight_buffers(
    packed: Mapping[int, Wanted], constants: tuple[Constant, ...], end: int
) -> list[Buffer]:
    by_key = {c.table.key: c for c in constants}
    found = []
    for node, wanted in packed.items():
        constant = by_key[wanted.table.key]
        name, size = npu_steps.WEIGHTS.format(node), wanted.table.values.nbytes
        found.append(
            Buffer(name, Home.CONSTANT, constant.memory, 0, size, -1, end, (), constant.index)
        )
    return found


def _in_memory(context: _Context) -> list[int]:
    """Roots with a place in memory of their own: inputs, state, what is stored or the CPU's.

    What the next run begins with lies where this one's state does.
    """
    net = context.npu.network
    roots = [*context.graph.inputs, *(state.start for state in context.graph.states)]
    for step in net.steps:
        stored = step.work is None or context.npu.schedule.places[step.writes[0]].stored
        roots += step.writes if stored else ()
    ends = {state.end for state in context.graph.states}
    return [t for t in dict.fromkeys(roots) if t not in ends]


def _memory_buffers(context: _Context) -> Iterator[Buffer]:
    """Buffers in memory, without addresses: maps, and scratch of the CPU's kernels."""
    net, graph = context.npu.network, context.graph
    end = len(context.nodes)
    aliases: dict[int, list[int]] = {}
    for state in graph.states:
        aliases.setdefault(state.start, []).extend([state.end] if state.end is not None else [])
    for t, root in net.roots.items():
        owner = next((s.start for s in graph.states if s.end == root), root)
        aliases.setdefault(owner, []).append(t)
    for root in _in_memory(context):
        tensors = (root, *aliases.get(root, ()))
        first = context.position[net.steps[net.made[root]].node.index] if root in net.made else -1
        last = context.position[net.steps[net.last[root]].node.index] if net.last[root] >= 0 else -1
        last = max([last, first, *(context.position[n.index] for n in _views(context, tensors))])
        kept = root in graph.inputs and context.options.keep_input
        if root in net.outputs or kept:
            last = end
        home, index = _home(context, tensors)
        if home is Home.STATE:
            first, last = -1, end
        own = home in (Home.ARENA, Home.STATE)
        size = _in_lines(context, net.bytes[root]) if own else net.bytes[root]
        yield Buffer(f"t{root}", home, "", 0, size, first, last, tensors, index)
    for step in net.steps:
        calls = context.lowered[step.node.index].calls if step.work is None else ()
        size = max((call.scratch for call in calls), default=0)
        if size:
            at = context.position[step.node.index]
            lines = _in_lines(context, size)
            yield Buffer(scratch_name(step.node), Home.ARENA, "", 0, lines, at, at)


def _in_lines(context: _Context, size: int) -> int:
    """Bytes of a buffer of ours: whole cache lines, so that nothing else lies in its last one."""
    board = context.board
    cached = any(board.memory(name).cacheable for name in board.placement.arena)
    line = board.cache.line if board.cache and cached else 1
    return -(-size // line) * line


def _views(context: _Context, tensors: tuple[int, ...]) -> list[Node]:
    """The operators that only see these bytes under another shape."""
    made = {s.node.index for s in context.npu.network.steps}
    return [n for n in context.nodes if n.index not in made and set(n.outputs) & set(tensors)]


def _home(context: _Context, tensors: tuple[int, ...]) -> tuple[Home, int]:
    graph = context.graph
    if any(state.start in tensors for state in graph.states):
        return Home.STATE, 0
    for t in tensors if context.options.caller_io else ():
        if t in graph.inputs:
            return Home.CALLER_INPUT, graph.inputs.index(t)
        if t in graph.outputs:
            return Home.CALLER_OUTPUT, graph.outputs.index(t)
    return Home.ARENA, 0


def _place(context: _Context, buffers: list[Buffer]) -> tuple[list[Buffer], Solution]:
    """Addresses in the arenas.

    Raises:
        OverBudget: with what is needed and available.
    """
    board = context.board
    buffers = place_state(context.graph, board, buffers)
    memories = [board.memory(m) for m in board.placement.arena]
    state = home_sizes(buffers, board, Home.STATE)
    held = {m.name: blocks.align_up(state.get(m.name, 0), m.alignment) for m in memories}
    regions = [blocks.Region(m.name, m.usable - held[m.name], m.alignment) for m in memories]
    wanted = [
        blocks.Block(b.name, b.size, b.first, b.last) for b in buffers if b.home is Home.ARENA
    ]
    try:
        solution = arena.allocate(context.options.arena, wanted, regions)
    except DoesNotFit:
        need, _ = blocks.lower_bound(wanted, max(r.alignment for r in regions))
        have = sum(m.usable - held[m.name] for m in memories)
        raise OverBudget(
            f"maps between NPU and CPU need {need:,} bytes of RAM, {board.name} grants {have:,}; "
            "use a board with more RAM or a larger scratchpad"
        ) from None
    placed = [
        replace(b, memory=solution.places[b.name].region, offset=solution.places[b.name].offset)
        if b.name in solution.places
        else b
        for b in buffers
    ]
    return placed, solution


def _layers(context: _Context, places: Places, buffers: list[Buffer]) -> Iterator[Layer]:
    """A layer per operator: its share of the actions, rolled into loops."""
    npu = context.npu
    in_memory = {t: (b.name, 0) for b in buffers for t in b.tensors}
    translation = npu_steps.Translation(
        npu.builder.program, npu.issue, npu.builder.packed, in_memory
    )
    tickets = translation.tickets()
    cache = CacheKeeper(context.board, npu.network, buffers)
    shares = _shares(context)
    steps = {s.node.index: s for s in npu.network.steps}
    final = max((context.position[n] for n in steps), default=-1)
    for number, node in enumerate(context.nodes):
        lowered = context.lowered[node.index]
        if node.index not in steps:
            yield Layer(node, lowered, (), lowered.calls)
            continue
        step = steps[node.index]
        actions = shares.get(number, [])
        found = tuple(_steps(context, step, actions, translation, tickets, places, cache))
        end = roll(cache.at_end()) if number == final else ()
        yield Layer(node, lowered, (*found, *end), (), _note(context, step))


def _shares(context: _Context) -> dict[int, list[Action]]:
    """Layer -> the actions in its commands' turns."""
    shares: dict[int, list[Action]] = {}
    commands = context.npu.builder.program.commands
    for action in context.npu.issue.actions:
        layer = context.position[commands[action.turn].node]
        shares.setdefault(layer, []).append(action)
    return shares


def _steps(
    context: _Context,
    step: Step,
    actions: list[Action],
    translation: npu_steps.Translation,
    tickets: Mapping[int, int],
    places: Places,
    cache: CacheKeeper,
) -> Iterator[PlanStep]:
    """Rolled actions, with the kernels of a CPU operator where its turn comes."""
    before = [a for a in actions if a.act is not Act.CPU]
    yield from roll(list(_with_cache(translation, before, tickets, cache)))
    if step.work is None:
        yield from roll(cache.before_cpu(step))
        for call in context.lowered[step.node.index].calls:
            yield from _cpu_steps(context, step.node, call, places)
        cache.after_cpu(step, scratch_name(step.node))


def _cpu_steps(context: _Context, node: Node, call: Call, places: Places) -> tuple[PlanStep, ...]:
    scratch = scratch_name(node) if call.scratch else None
    return call_steps(context.graph, call, places, scratch)


def _with_cache(
    translation: npu_steps.Translation,
    actions: list[Action],
    tickets: Mapping[int, int],
    cache: CacheKeeper,
) -> Iterator[RollNode]:
    for action in actions:
        if action.act is Act.DMA_START:
            yield from cache.before_transfer(translation.program.transfers[action.number])
        yield from npu_steps.nodes(translation, [action], tickets)


def _note(context: _Context, step: Step) -> str:
    """The tiling decision and the modelled cycles, for the comment above the layer."""
    npu = context.npu
    if step.work is None:
        return f"on the CPU, about {step.cpu_cycles:,} cycles"
    position = npu.network.steps.index(step)
    commands = [c for c in npu.builder.program.commands if c.node == step.node.index]
    number = f"{len(commands)} command" + "s" * (len(commands) != 1)
    cycles = f"{number}, {sum(c.cycles for c in commands):,} cycles"
    goes = "kept" if npu.schedule.places[step.writes[0]].kept else "stored"
    found = npu.schedule.cascade_of(position)
    if found is None:
        words = npu.schedule.tilings[position].words(step.work)
        return f"NPU: {words}; {cycles}; result {goes}"
    first, rowwise = found
    members = npu.network.steps[first : rowwise.last + 1]
    names = f"operators {members[0].node.index} to {members[-1].node.index}"
    if position < rowwise.last:
        return f"NPU: row by row with {names}; {cycles}"
    return f"NPU: {names} row by row, by {rowwise.rows} rows; {cycles}; result {goes}"
