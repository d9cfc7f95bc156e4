"""The arena of whole plans: who gets the fast memory of a board, and proofs that reach the plan."""

from __future__ import annotations

from codegen.boards import load_board
from codegen.importer import parse_model
from codegen.plan import Home, Plan, PlanOptions
from codegen.planner.build import build_plan
from tests.planner.test_storage import Net


def plan_with_fast_memory(size: int) -> Plan:
    """An input of 256 bytes read by four convolutions, with results of 192 bytes each."""
    net, shape = Net(1), (1, 8, 8, 4)
    x = net.tensor(*shape)
    outputs = [net.conv(x, shape, 3, k=3) for _ in range(4)]
    board = load_board("imxrt1062")
    memories = tuple(
        m.model_copy(update={"size": size, "reserved": 0}) if m.name == "dtcm" else m
        for m in board.memories
    )
    board = board.model_copy(update={"memories": memories})
    model = parse_model(net.builder.build([x], outputs)).main
    return build_plan(model, board, PlanOptions(keep_input=True))


def test_the_tensor_that_is_read_most_gets_the_fast_memory() -> None:
    plan = plan_with_fast_memory(300)
    fast = {t for b in plan.buffers if b.memory == "dtcm" for t in b.tensors}
    assert set(plan.graph.inputs) <= fast
    slow = {t for b in plan.buffers if b.memory == "ocram" for t in b.tensors}
    assert slow >= set(plan.graph.outputs)
    assert plan.proven
    assert plan.total_arena == plan.lower_bound


def test_everything_stays_in_a_fast_memory_that_is_large_enough() -> None:
    plan = plan_with_fast_memory(65536)
    assert list(plan.arena_bytes) == ["dtcm"]
    assert {b.memory for b in plan.buffers if b.home is Home.ARENA} == {"dtcm"}
