"""Control operators in a plan: each subgraph is planned by itself, as scratch of its operator.

    arena   |----------- scratch of the WHILE -----------|- variables -|- operands -|
            | condition |  buffers of the condition      |
            |           |  buffers of the body           |

All strategies work on a subgraph as on a whole model. Operands that it only reads are memory of the
caller's, and so are the results of a way of an IF. The variables of a loop are state: one run of
the body is to them what a run of the model is to its state. What the subgraph's own buffers come to
is scratch of the control operator in the graph around it, where operands live through the whole
operator and so do results. `flatten.py` puts all of it together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from codegen.board_schema import Board
from codegen.graph import Graph, Node, State
from codegen.ops.base import Lowered
from codegen.ops.control import stands_for_subgraphs
from codegen.plan import PlanOptions
from codegen.planner.blocks import align_up
from codegen.planner.candidates import Candidate, Prepared, best_candidate, prepare
from codegen.planner.forms import Forms, choose_forms
from codegen.planner.place import Placement

_AS_MUCH_AS_NEEDED = 1 << 40


@dataclass(frozen=True, eq=False)
class Scope:
    """A graph with everything decided: the whole model, or one subgraph in memory from 0 on.

    Attributes:
        chosen: the order, and the placement with all forms leanest.
        placed: the placement.
        forms: node index -> number of the form taken.
        controls: node index -> what stands inside of a control operator.
    """

    chosen: Candidate
    placed: Placement
    forms: Forms
    controls: Mapping[int, ControlPlan]


@dataclass(frozen=True, eq=False)
class ControlPlan:
    """The subgraphs of a control operator, and the bytes before them that a condition takes."""

    scopes: tuple[Scope, Scope]
    start: int

    @property
    def scratch(self) -> int:
        """Bytes that the operator takes while it runs."""
        return self.start + max(scope.placed.solution.bytes for scope in self.scopes)


def plan_scope(board: Board, options: PlanOptions, prepared: Prepared) -> Scope:
    """Decide everything about a graph.

    Raises:
        OverBudget: if it does not fit the board.
        CodegenError: for an unknown strategy.
    """
    chosen = best_candidate(board, options, prepared)
    placed, forms = choose_forms(board, options, chosen.placed, chosen.limit, chosen.room)
    return Scope(chosen, placed, forms, prepared.controls)


def prepare_all(
    graph: Graph, board: Board, options: PlanOptions, lowered: Mapping[int, Lowered]
) -> Prepared:
    """As `prepare`, with the subgraphs of control operators planned before.

    Raises:
        Unsupported: if outputs cannot be written to buffers of the caller's, as is asked.
        CodegenError: for an unknown strategy.
    """
    lowered, controls = _with_controls(graph, board, options, lowered)
    return replace(prepare(graph, options, lowered), controls=controls)


def has_control(graph: Graph) -> bool:
    """Whether any operator has subgraphs."""
    return any(node.subgraphs for node in graph.nodes)


def _with_controls(
    graph: Graph, board: Board, options: PlanOptions, lowered: Mapping[int, Lowered]
) -> tuple[dict[int, Lowered], dict[int, ControlPlan]]:
    """Operators as lowered, control operators with their scratch, and the plans of these."""
    changed, controls = dict(lowered), {}
    for node in graph.nodes:
        if lowered[node.index].subgraphs:
            control = _control(graph, node, board, options, lowered[node.index])
            controls[node.index] = control
            changed[node.index] = _with_scratch(lowered[node.index], control.scratch)
    return changed, controls


def _with_scratch(lowered: Lowered, scratch: int) -> Lowered:
    calls = (
        replace(call, scratch=scratch) if stands_for_subgraphs(call) else call
        for call in lowered.calls
    )
    return replace(lowered, calls=tuple(calls))


def _control(
    graph: Graph, node: Node, board: Board, options: PlanOptions, lowered: Lowered
) -> ControlPlan:
    alone = _board_of_subgraphs(board)
    first, second = (
        _subgraph(subgraph_graph(graph, node, number), alone, options, inner)
        for number, inner in enumerate(lowered.subgraphs)
    )
    alignment = alone.memory(alone.placement.arena[0]).alignment
    return ControlPlan((first, second), align_up(node.op == "WHILE", alignment))


def subgraph_graph(graph: Graph, node: Node, number: int) -> Graph:
    """A subgraph as the planner sees it: the body of a loop has state, its variables."""
    subgraph = node.subgraphs[number]
    inner = graph.inside(subgraph)
    if node.op != "WHILE" or number == 0:
        return inner
    count = len(subgraph.outputs)
    states = (
        State(old, None if new == old else new, b"")
        for old, new in zip(subgraph.inputs, subgraph.outputs, strict=False)
    )
    return replace(inner, inputs=subgraph.inputs[count:], outputs=(), states=tuple(states))


def _subgraph(
    graph: Graph, board: Board, options: PlanOptions, lowered: Mapping[int, Lowered]
) -> Scope:
    """Inside, nothing runs by rows across operators, and no pair of buffers has a name."""
    asked = replace(
        options,
        caller_io=True,
        keep_input=False,
        arena="greedy" if options.arena == "pingpong" else options.arena,
        memory="balanced" if options.memory == "max" else options.memory,
    )
    lowered, controls = _with_controls(graph, board, asked, lowered)
    prepared = prepare(graph, asked, lowered, virtual=False)
    return plan_scope(board, asked, replace(prepared, controls=controls))


def _board_of_subgraphs(board: Board) -> Board:
    """The board with one memory for all buffers, as large and as much aligned as need be."""
    names = board.placement.arena
    memory = board.memory(names[0]).model_copy(
        update={
            "size": _AS_MUCH_AS_NEEDED,
            "reserved": 0,
            "alignment": max(board.memory(name).alignment for name in names),
        }
    )
    placement = board.placement.model_copy(update={"arena": (memory.name,)})
    memories = tuple(memory if m.name == memory.name else m for m in board.memories)
    return board.model_copy(update={"memories": memories, "placement": placement})
