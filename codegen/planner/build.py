"""The planner: graph and board in, plan out. Decides order, storage, offsets and steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from codegen import ops
from codegen.board_schema import Board, Npu
from codegen.graph import Graph, Node
from codegen.npu.plan import plan_npu
from codegen.ops.base import Call, Lowered, form_cost
from codegen.plan import (
    BranchBuffer,
    Constant,
    Form,
    Home,
    Layer,
    MemoryUse,
    Plan,
    PlanOptions,
    Step,
)
from codegen.planner import order
from codegen.planner.blocks import Block, Spacing, lower_bound
from codegen.planner.branches import branch_buffers
from codegen.planner.candidates import Prepared
from codegen.planner.constants import (
    buffers_of_constants,
    place_constants,
    used_bytes,
    wanted_constants,
)
from codegen.planner.control import Scope, has_control, plan_scope, prepare_all
from codegen.planner.flatten import Flat, FlatNode, flattened, nearness_of
from codegen.planner.place import Placement, home_sizes, ram_bytes, scratch_name
from codegen.planner.steps import Places, call_steps
from codegen.target import target_of
from codegen.targets.npu import partition


def build_plan(graph: Graph, board: Board, options: PlanOptions = PlanOptions()) -> Plan:  # noqa: B008
    """Plan the whole model.

    Raises:
        Unsupported: for an operator that no C can be written for.
        OverBudget: if RAM or flash of the board do not suffice.
        CodegenError: for an unknown strategy.
    """
    target = target_of(
        board.cpu, options.kernels, options.reference, options.optimize, options.weights_growth
    )
    prepared = prepare_all(graph, board, options, ops.lower_all(graph, graph.nodes, target))
    portable = ops.lower_all(graph, graph.nodes, target.portable) if board.npu else {}
    if board.npu is not None and _has_work(graph, board.npu, portable):
        chosen = order.choose_order(prepared.plain.orders, options.order)
        kernels = prepared.plain.lowered
        return plan_npu(graph, board, options, chosen.nodes, chosen.name, kernels, portable)
    return plan_prepared(board, options, prepared)


def _has_work(graph: Graph, npu: Npu, portable: Mapping[int, Lowered]) -> bool:
    """Whether the NPU gets any operator; models with branches and loops stay on the CPU."""
    return not has_control(graph) and any(a.work for a in partition(graph, npu, portable))


def plan_prepared(board: Board, options: PlanOptions, prepared: Prepared) -> Plan:
    """Plan a model whose operators are lowered; see `build_plan`."""
    scope = plan_scope(board, options, prepared)
    placed, flat = scope.placed, flattened(scope)
    graph = placed.graph
    called = [(item.node, call) for item in flat.nodes for call in item.calls]
    ram = ram_bytes(flat.buffers, board)
    constants = place_constants(wanted_constants(graph, called), board, ram)
    constant_buffers = buffers_of_constants(graph, called, constants, len(flat.nodes))
    tensors = {**flat.tensors, **{t: b.name for b in constant_buffers for t in b.tensors}}
    places = Places(tensors, flat.layouts)
    branches = branch_buffers(placed.solution)
    written = _branch_notes(branches)
    arena_bytes = home_sizes(flat.buffers, board, Home.ARENA)
    bound, counted, proven = _bounds(scope, flat, board, sum(arena_bytes.values()))
    return Plan(
        graph=graph,
        board=board,
        options=options,
        order_strategy=scope.chosen.order.name,
        arena_strategy=placed.solution.strategy,
        arena_seconds=placed.solution.seconds,
        layers=tuple(_layer(item, places, written) for item in flat.nodes),
        buffers=(*flat.buffers, *constant_buffers),
        constants=constants,
        tensor_buffers=tensors,
        layouts=flat.layouts,
        arena_bytes=arena_bytes,
        state_bytes=home_sizes(flat.buffers, board, Home.STATE),
        lower_bound=bound,
        counted_bound=counted,
        proven=proven,
        memories=_memory_use(board, ram, constants),
        branches=branches,
    )


def _bounds(scope: Scope, flat: Flat, board: Board, size: int) -> tuple[int, int, bool]:
    """The lower bound, the counted one, and whether `size` is proven to be the least.

    With subgraphs, whose buffers were placed apart, only counting holds for all buffers together.
    """
    solution = scope.placed.solution
    if not scope.controls:
        return solution.lower_bound, solution.counted_bound, solution.proven
    blocks: dict[str, list[Block]] = {}
    for b in flat.buffers:
        if b.home is Home.ARENA:
            blocks.setdefault(b.memory, []).append(Block(b.name, b.size, b.first, b.last))
    spacing = Spacing(nearness_of(flat))
    counted = sum(
        lower_bound(here, board.memory(name).alignment, spacing)[0] for name, here in blocks.items()
    )
    return counted, counted, counted == size


def _branch_notes(branches: Sequence[tuple[BranchBuffer, BranchBuffer]]) -> dict[str, str]:
    """Buffer -> which one of a branch's two buffers who writes it writes."""
    return {
        buffer: f"writes buffer {letter} of branch {number}"
        for number, pair in enumerate(branches)
        for letter, part in zip("ab", pair, strict=True)
        for buffer in part.buffers
    }


def _layer(item: FlatNode, places: Places, written: Mapping[str, str]) -> Layer:
    node, placed, chosen = item.node, item.scope.placed, item.scope.chosen
    lowered = placed.lowered[node.index]
    forms = _forms(chosen.placed, node, item.scope.forms)
    notes = [placed.storage.note(node, lowered) or _lag_note(node, placed), _form_note(forms)]
    notes += [_join_note(node, chosen.virtual), _gather_note(lowered)]
    if node.index not in placed.storage.views:
        notes += [written.get(placed.tensors[t], "") for t in node.outputs if t in placed.tensors]
    return Layer(
        node,
        lowered,
        tuple(_steps(item, places)),
        placed.storage.superfluous(node, lowered),
        "; ".join(dict.fromkeys(note for note in notes if note)),
        forms,
        item.control,
    )


def _forms(lean: Placement, node: Node, taken: Mapping[int, int]) -> tuple[Form, ...]:
    """What the node's calls were chosen from; nothing where there was no choice."""
    if node.index not in taken:
        return ()
    return tuple(
        Form(
            kernels=tuple(dict.fromkeys(k for call in calls for k in _kernels(call))),
            scratch=max((call.scratch for call in calls), default=0),
            cost=form_cost(calls),
            taken=number == taken[node.index],
        )
        for number, calls in enumerate(lean.lowered[node.index].forms)
    )


def _kernels(call: Call) -> Iterator[str]:
    """The functions that run for a call: those that gather rows, then its own."""
    yield from (copy.kernel for gather in call.gathers for copy in gather.copies)
    yield call.kernel


def _form_note(forms: Sequence[Form]) -> str:
    """What the choice came to: the cycles taken, and those that more memory would take."""
    if not forms:
        return ""
    taken = next(form for form in forms if form.taken)
    text = f"about {taken.cost:,} cycles"
    if taken.cost < forms[0].cost:
        scratch = f" with {taken.scratch:,} B of scratch" if taken.scratch else ""
        text += f"{scratch}, {forms[0].cost:,} in the leanest form"
    fastest = min(form.cost for form in forms)
    return text + (f", {fastest:,} with more memory" if fastest < taken.cost else "")


def _join_note(node: Node, virtual: Mapping[int, str]) -> str:
    if node.index not in virtual:
        return ""
    return f"virtual: its readers gather the rows they need; {virtual[node.index]}"


def _gather_note(lowered: Lowered) -> str:
    rings = [str(gather.ring) for call in lowered.calls for gather in call.gathers]
    return f"gathers input from parts in a ring, rows: {' and '.join(rings)}" if rings else ""


def _lag_note(node: Node, placed: Placement) -> str:
    if not placed.shares(node):
        return ""
    way = "last to first" if placed.backwards(node) else "in order"
    return f"overwrites its input behind the last read, rows {way}"


def _steps(item: FlatNode, places: Places) -> Iterator[Step]:
    node, placed = item.node, item.scope.placed
    for call in item.calls:
        scratch = scratch_name(node) if call.scratch else None
        yield from call_steps(placed.graph, call, places, scratch, placed.backwards(node))


def _memory_use(
    board: Board, ram: Mapping[str, int], constants: Sequence[Constant]
) -> dict[str, MemoryUse]:
    used = used_bytes(constants, board, ram)
    return {m.name: MemoryUse(used[m.name], m.usable) for m in board.memories}
