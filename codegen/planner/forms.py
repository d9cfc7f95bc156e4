"""Which form every operator takes, where its kernels come in several: time against memory.

A faster form may want scratch, or may not write over its input as closely as the leanest one does.
Either costs bytes in its own layer alone, so that the choice falls apart into one per layer: the
fastest form with which the layer stays below a height. That estimate comes from the plan in which
every operator has its leanest form. What counts is the real placement, which has the last word:

1. The height is the highest, by bisection, whose choice the real placement accepts.
2. Then single layers try faster forms on top of that, those that gain most first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from codegen.board_schema import Board
from codegen.errors import OverBudget
from codegen.occupancy import live_at, occupied
from codegen.ops.base import Lowered, form_cost
from codegen.plan import Home, PlanOptions
from codegen.planner.constants import place_constants, wanted_constants
from codegen.planner.order_cost import live_bytes
from codegen.planner.order_problem import lowered_problem
from codegen.planner.place import OverLimit, Placement, Trial, place_tensors, ram_bytes

TRIED_NODES = 2000  # nodes placed while forms are tried: about a second
LEAST_TRIES = 4
TRY_SECONDS = 0.05  # of work for the arena strategy in each try

Forms = dict[int, int]
"""Node index -> number of its form, for nodes that have a choice."""


def choose_forms(
    board: Board, options: PlanOptions, lean: Placement, limit: int | None, room: int = 0
) -> tuple[Placement, Forms]:
    """The fastest placement within `limit` bytes of arenas, and the forms it takes.

    `lean` is the placement with the leanest forms, for the order that is kept. No limit stands for
    all that the board has. `room` is what the peak was allowed in `lean`, to drop copies.
    """
    first = {n.index: 0 for n in lean.nodes if lean.lowered[n.index].alternatives}
    if not first:
        return lean, first
    return _Search(board, options, lean, Trial(limit, TRY_SECONDS, room), first).run()


@dataclass(frozen=True)
class _Choice:
    """One form of one node: modelled cycles, and bytes live in its layer by the estimate."""

    node: int
    form: int
    cost: int
    need: int


def modelled_cost(lowered: Mapping[int, Lowered], forms: Forms) -> int:
    """Modelled cycles of all operators that have a choice."""
    return sum(form_cost(lowered[node].forms[form]) for node, form in forms.items())


class _Search:
    """The best placement so far and the tries that are left."""

    def __init__(
        self,
        board: Board,
        options: PlanOptions,
        lean: Placement,
        trial: Trial,
        first: Forms,
    ) -> None:
        self._board, self._options = board, options
        self._lean, self._trial = lean, trial
        self._best, self._forms = lean, first
        self._tries = max(LEAST_TRIES, TRIED_NODES // len(lean.nodes))
        needs = _estimated_needs(options, lean)
        self._choices = {
            node: [
                _Choice(node, form, form_cost(calls), needs[form][node])
                for form, calls in enumerate(lean.lowered[node].forms)
            ]
            for node in first
        }

    def run(self) -> tuple[Placement, Forms]:
        self._bisect()
        self._upgrade()
        return self._settled(), self._forms

    def _bisect(self) -> None:
        """Find the highest height whose choice of forms is accepted."""
        limit = self._trial.limit
        needs = {c.need for choices in self._choices.values() for c in choices}
        heights = sorted(n for n in needs if limit is None or n <= limit)
        low, high = 0, len(heights)  # the choice at heights[high] is refused, or there is none
        tried = high - 1
        while low < high and self._tries:
            if self._try(self._within(heights[tried])):
                low = tried + 1
            else:
                high = tried
            tried = (low + high) // 2

    def _within(self, height: int) -> Forms:
        """The fastest form of every node whose need is within `height`; else the leanest one."""
        return {
            node: min(
                (c for c in choices if c.form == 0 or c.need <= height),
                key=lambda c: (c.cost, c.form),
            ).form
            for node, choices in self._choices.items()
        }

    def _upgrade(self) -> None:
        """Let single nodes take faster forms, the largest gain first."""
        for choice in sorted(self._faster(), key=lambda c: (-self._gain(c), c.node, c.form)):
            if not self._tries:
                return
            if self._gain(choice) > 0:
                self._try({**self._forms, choice.node: choice.form})

    def _faster(self) -> Iterator[_Choice]:
        return (c for choices in self._choices.values() for c in choices if self._gain(c) > 0)

    def _gain(self, choice: _Choice) -> int:
        """Cycles that the choice saves against what its node takes now."""
        return self._choices[choice.node][self._forms[choice.node]].cost - choice.cost

    def _try(self, forms: Forms) -> bool:
        """Keep these forms if they fit; whether they do."""
        if forms == self._forms:
            return True
        self._tries -= 1
        placed = self._placed(forms, self._trial)
        if placed is None:
            return False
        self._best, self._forms = placed, forms
        return True

    def _settled(self) -> Placement:
        """The best placement, packed once more with all the work that its strategy may do."""
        if self._best is self._lean or self._best.solution.proven:
            return self._best
        again = self._placed(self._forms, replace(self._trial, seconds=None))
        if again is None or again.solution.bytes > self._best.solution.bytes:
            return self._best
        return again

    def _placed(self, forms: Forms, trial: Trial) -> Placement | None:
        """The placement with these forms; None if limit, RAM or flash do not suffice."""
        lowered = dict(self._lean.lowered)
        lowered.update({node: lowered[node].taking(form) for node, form in forms.items()})
        nodes = self._lean.nodes
        try:
            placed = place_tensors(
                self._lean.graph, self._board, self._options, nodes, lowered, trial
            )
            used = ram_bytes(placed.buffers, self._board)
            called = [(node, call) for node in nodes for call in placed.calls[node.index]]
            place_constants(wanted_constants(self._lean.graph, called), self._board, used)
        except (OverBudget, OverLimit):
            return None
        return placed


def _estimated_needs(options: PlanOptions, lean: Placement) -> list[dict[int, int]]:
    """For each form number, node index -> bytes live in the node's layer with that form."""
    in_arena = [b for b in lean.buffers if b.home is Home.ARENA]
    now = [occupied(live_at(in_arena, i)) for i in range(len(lean.nodes))]
    least = _live_bytes(options, lean, 0)
    most = max(len(lowered.forms) for lowered in lean.lowered.values())
    return [
        {node.index: now[i] + changed[i] - least[i] for i, node in enumerate(lean.nodes)}
        for changed in (_live_bytes(options, lean, form) for form in range(most))
    ]


def _live_bytes(options: PlanOptions, lean: Placement, form: int) -> Sequence[int]:
    """Live bytes in every layer if all nodes that have it take this form."""
    lowered = {
        node: low.taking(form) if form < len(low.forms) else low
        for node, low in lean.lowered.items()
    }
    place = {node.index: i for i, node in enumerate(lean.graph.nodes)}
    order = [place[node.index] for node in lean.nodes]
    return live_bytes(lowered_problem(lean.graph, lowered, options), order)
