"""Graphs of many operators: branches, joins that share parts, residuals, forms to choose."""

from __future__ import annotations

import time

import pytest

from codegen.boards import load_board
from codegen.importer import parse_model
from codegen.plan import PlanOptions
from codegen.plan_json import plan_document
from codegen.planner.build import build_plan
from tests.planner.test_storage import Net

SECONDS = 20.0  # of CPU time for 1,000 operators


def blocks(count: int) -> bytes:
    """Each block: three branches, two concatenations of them, and sums; 25 operators per three."""
    net, size = Net(1), (1, 4, 4)
    x = y = net.tensor(*size, 8)
    for number in range(count):
        parts = [net.conv(y, (*size, 8), channels) for channels in (4, 8, 12)]
        joined = net.concat(parts, 3, *size, 24)
        again = net.concat([parts[0], joined], 3, *size, 28)
        pair = [net.conv(joined, (*size, 24), 8), net.conv(again, (*size, 28), 8)]
        total = _sum(net, pair)
        y = _sum(net, [total, y]) if number % 3 == 0 else total
    return net.builder.build([x], [y])


def _sum(net: Net, terms: list[int]) -> int:
    total = net.tensor(1, 4, 4, 8)
    net.builder.op("ADD", terms, [total])
    return total


@pytest.mark.parametrize("count", [30, pytest.param(120, marks=pytest.mark.full)])
@pytest.mark.parametrize("board", ["host", "stm32f746"])
def test_time_and_sameness(count: int, board: str) -> None:
    graph = parse_model(blocks(count)).main
    assert len(graph.nodes) == count * 25 // 3
    start = time.process_time()
    plan = build_plan(graph, load_board(board), PlanOptions(memory="min"))
    assert time.process_time() - start < SECONDS * len(graph.nodes) / 1000
    assert plan.total_arena == plan.lower_bound
    if count < 100:
        again = build_plan(graph, load_board(board), PlanOptions(memory="min"))
        assert plan_document(plan, "net") == plan_document(again, "net")
