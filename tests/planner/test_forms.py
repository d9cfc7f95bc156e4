"""Kernels in several forms: what each memory mode takes, held against all combinations."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import pytest

from codegen import ops
from codegen.board_schema import Board
from codegen.boards import load_board
from codegen.errors import CodegenError, OverBudget
from codegen.graph import Graph
from codegen.importer import parse_model
from codegen.ops.base import Alias, Call, Lowered, TableKind, form_cost, weights
from codegen.plan import Plan, PlanOptions
from codegen.plan_json import plan_document
from codegen.planner.build import plan_prepared
from codegen.planner.candidates import prepare
from codegen.planner.checker import check_plan
from codegen.planner.memory_modes import MODES
from codegen.planner.place import place_tensors
from codegen.target import PORTABLE
from tests.planner.plans import through_json
from tests.planner.test_storage import Net

CHANNELS = (4, 12, 3, 8)
Ways = Callable[[Call], tuple[Call, ...]]


def chain() -> Graph:
    """Convolutions of 1x1 on a map of 8x8; every other one has a smaller result."""
    net = Net(3)
    x = y = net.tensor(1, 8, 8, 2)
    shape = (1, 8, 8, 2)
    for channels in CHANNELS:
        y = net.conv(y, shape, channels)
        shape = (1, 8, 8, channels)
    return parse_model(net.builder.build([x], [y])).main


def with_forms(graph: Graph, ways: Ways) -> dict[int, Lowered]:
    """Every operator with a cost of 1000 in its own form, and with other forms of its call."""
    found = {}
    for index, lowered in ops.lower_all(graph, graph.nodes, PORTABLE).items():
        (call,) = (replace(call, cost=1000) for call in lowered.calls)
        others = tuple((way,) for way in ways(call))
        found[index] = replace(lowered, calls=(call,), alternatives=others)
    return found


def unaliased(call: Call, cost: int, scratch: int = 0) -> Call:
    inputs = tuple(replace(access, alias=Alias.NONE) for access in call.inputs)
    return replace(call, inputs=inputs, cost=cost, scratch=scratch, kernel=f"{call.kernel}_x4")


def planned(
    graph: Graph, lowered: Mapping[int, Lowered], memory: str, board: Board | None = None
) -> Plan:
    options = PlanOptions(memory=memory)
    prepared = prepare(graph, options, lowered)
    return plan_prepared(board or load_board("host"), options, prepared)


def cost(plan: Plan) -> int:
    return sum(form.cost for layer in plan.layers for form in layer.forms if form.taken)


def small_board(ram: int, flash: int = 1 << 20) -> Board:
    """The host with less memory."""
    board = load_board("host")
    memories = [
        m.model_copy(update={"size": ram if m.kind == "ram" else flash}) for m in board.memories
    ]
    return board.model_copy(update={"memories": tuple(memories)})


def random_ways(seed: int) -> Ways:
    """One to three faster forms per call, with scratch, without row lag, or in blocks of rows."""
    rng = random.Random(seed)

    def ways(call: Call) -> tuple[Call, ...]:
        forms = []
        for _ in range(rng.randint(1, 3)):
            speed, scratch = rng.randint(200, 1100), rng.choice((0, 0, 40, 150, 400))
            loose = unaliased(call, speed, scratch)
            blocked = replace(
                call, cost=speed, scratch=scratch, rows_per_step=rng.choice((1, 2, 4))
            )
            forms.append(rng.choice((loose, blocked)))
        return tuple(forms)

    return ways


def all_plans(graph: Graph, lowered: Mapping[int, Lowered], board: Board) -> list[tuple[int, int]]:
    """(bytes, cost) of every combination of forms that fits the board."""
    found = []
    for forms in itertools.product(*(range(len(low.forms)) for low in lowered.values())):
        chosen = {i: low.taking(f) for f, (i, low) in zip(forms, lowered.items(), strict=True)}
        try:
            placed = place_tensors(graph, board, PlanOptions(), graph.nodes, chosen)
        except OverBudget:
            continue
        found.append((placed.solution.bytes, sum(form_cost(low.calls) for low in chosen.values())))
    return found


@pytest.mark.parametrize("seed", range(6))
def test_no_combination_is_better(seed: int) -> None:
    graph, board = chain(), small_board(1400)
    lowered = with_forms(graph, random_ways(seed))
    plans = all_plans(graph, lowered, board)
    least = min(size for size, _ in plans)
    for memory, limit in (("min", least), ("balanced", least * 11 // 10), ("max", 1400)):
        plan = planned(graph, lowered, memory, board)
        assert plan.total_arena <= limit
        assert cost(plan) == min(c for size, c in plans if size <= limit)
        report = check_plan(through_json(plan_document(plan, "net")))
        assert report.safe, report.faults


def test_scratch_that_fits_beside_a_small_layer_is_free() -> None:
    """The peak has no room for scratch; the other layers have."""
    graph = chain()
    lowered = with_forms(graph, lambda call: (replace(call, cost=100, scratch=64),))
    plan = planned(graph, lowered, "min")
    taken = [layer.forms[1].taken for layer in plan.layers]
    assert plan.total_arena == planned(graph, with_forms(graph, lambda _: ()), "min").total_arena
    assert any(taken) and not all(taken)
    assert all(layer.forms[1].taken for layer in planned(graph, lowered, "max").layers)


def test_what_saves_nothing_is_not_taken() -> None:
    graph = chain()
    lowered = with_forms(graph, lambda call: (unaliased(call, 1000), unaliased(call, 2000)))
    for memory in MODES:
        assert not any(
            f.taken for layer in planned(graph, lowered, memory).layers for f in layer.forms[1:]
        )


def test_forms_are_stated_with_their_price() -> None:
    graph = chain()
    plan = planned(graph, with_forms(graph, lambda call: (unaliased(call, 250, 32),)), "max")
    assert [(f.kernels, f.scratch, f.cost, f.taken) for f in plan.layers[0].forms] == [
        (("cg_conv_2d_s8",), 0, 1000, False),
        (("cg_conv_2d_s8_x4",), 32, 250, True),
    ]
    assert "about 250 cycles with 32 B of scratch, 1,000 in the leanest form" in plan.layers[0].note
    least = planned(graph, with_forms(graph, lambda call: (unaliased(call, 250, 9999),)), "min")
    assert "about 1,000 cycles, 250 with more memory" in least.layers[0].note


def test_weights_that_flash_cannot_hold_are_not_taken() -> None:
    """A form may bring packed weights; here the board has room for those of some layers only."""
    graph = chain()

    def ways(call: Call) -> tuple[Call, ...]:
        packed = weights(np.full(call.outputs[0].map[3] * 50, call.outputs[0].tensor, np.int16))
        return (replace(call, cost=400, params=(*call.params, ("packed", packed))),)

    lowered = with_forms(graph, ways)
    plan = planned(graph, lowered, "max")
    assert all(layer.forms[1].taken for layer in plan.layers)
    flash = plan.constant_bytes(TableKind.WEIGHTS) + plan.constant_bytes(TableKind.TABLES)
    tight = planned(graph, lowered, "max", small_board(1 << 20, flash - 100))
    assert 0 < sum(layer.forms[1].taken for layer in tight.layers) < len(CHANNELS)


def test_unknown_modes_and_costs_are_refused() -> None:
    graph = chain()
    lowered = with_forms(graph, lambda call: (unaliased(call, 1),))
    with pytest.raises(CodegenError, match="unknown memory mode 'little'; choose min, balanced"):
        planned(graph, lowered, "little")
    with pytest.raises(AssertionError, match="without a cost"):
        with_forms(graph, lambda call: (unaliased(call, 0),))
