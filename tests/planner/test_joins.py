"""Concatenations that are stored nowhere: who can gather their rows, when that is chosen, and that
every byte stays right."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen import ops
from codegen.boards import load_board
from codegen.graph import Graph
from codegen.importer import parse_model
from codegen.ops.base import Lowered
from codegen.ops.copy import is_copy
from codegen.passes import simplify
from codegen.plan import Loop, Plan, PlanOptions, kernel_steps
from codegen.plan_json import plan_document
from codegen.planner import candidates, control
from codegen.planner.build import build_plan
from codegen.planner.candidates import Prepared, best_candidate, prepare
from codegen.planner.checker import check_plan
from codegen.planner.joins import possible_joins, with_virtual
from codegen.planner.memory_modes import MODES
from codegen.target import PORTABLE, Kernels
from tests.ops.equality import assert_equal
from tests.planner.plans import through_json
from tests.planner.test_storage import Net
from tests.tflite_builder import ModelBuilder

Shape = tuple[int, int, int, int]
SHAPE: Shape = (1, 9, 5, 3)
Reader = Callable[["Joined"], int]


class Joined(Net):
    """A map whose channels come from two convolutions and the input, joined."""

    def __init__(self, seed: int, axis: int = 3) -> None:
        super().__init__(seed)
        self.x = self.tensor(*SHAPE)
        self.parts = [self.conv(self.x, SHAPE, 3), self.x, self.conv(self.x, SHAPE, 3, 3)]
        self.shape: Shape = (1, 9, 5, 9) if axis == 3 else (1, 9, 15, 3)
        self.joined = self.concat(self.parts, axis, *self.shape)

    def window(self, op: str, out: tuple[int, int], weights: list[int], **options: Any) -> int:
        y = self.tensor(1, *out, self.shape[3])
        inputs = [self.joined]
        if weights:
            values = self.rng.integers(-127, 128, weights)
            bias = self.rng.integers(-500, 500, self.shape[3])
            inputs.append(self.builder.tensor(weights, scale=0.02, zero_point=0, data=values))
            inputs.append(self.builder.tensor(bias.shape, "int32", scale=0.002, data=bias))
        self.builder.op(op, inputs, [y], **options)
        return y

    def finished(self, *results: int) -> bytes:
        return self.builder.build([self.x], list(results))


def convolution(k: int, stride: int = 1, padding: str = "SAME", dilation: int = 1) -> Reader:
    def reader(net: Joined) -> int:
        span = (k - 1) * dilation + 1
        sizes = [
            -(-n // stride) if padding == "SAME" else -(-(n - span + 1) // stride)
            for n in net.shape[1:3]
        ]
        steps = {"stride_h": stride, "stride_w": stride}
        grown = {"dilation_h_factor": dilation, "dilation_w_factor": dilation}
        weights = [net.shape[3], k, k, net.shape[3]]
        out = sizes[0], sizes[1]
        return net.window("CONV_2D", out, weights, padding=padding, **steps, **grown)

    return reader


def depthwise(net: Joined) -> int:
    steps = {"stride_h": 1, "stride_w": 1, "depth_multiplier": 1}
    return net.window(
        "DEPTHWISE_CONV_2D", net.shape[1:3], [1, 3, 3, net.shape[3]], padding="SAME", **steps
    )


def pool(op: str) -> Reader:
    def reader(net: Joined) -> int:
        size = {"filter_height": 3, "filter_width": 2, "stride_h": 2, "stride_w": 1}
        out = (-(-net.shape[1] // 2), net.shape[2])
        return net.window(op, out, [], padding="SAME", **size)

    return reader


def unary(op: str, scale: float = 0.1, zero_point: int = 3, **options: Any) -> Reader:
    def reader(net: Joined) -> int:
        y = net.builder.tensor(net.shape, scale=scale, zero_point=zero_point)
        net.builder.op(op, [net.joined], [y], **options)
        return y

    return reader


def added(net: Joined) -> int:
    """Two maps without a place are added; the other one has the parts in another order."""
    other = net.concat(net.parts[::-1], 3, *net.shape)
    y = net.tensor(*net.shape)
    net.builder.op("ADD", [net.joined, other], [y])
    return y


def joined_again(net: Joined) -> int:
    """A concatenation of concatenations, padded before it is read."""
    n, h, w, c = net.shape
    again = net.concat([net.joined, net.x, net.joined], 3, n, h, w, 2 * c + 3)
    borders = net.builder.tensor((4, 2), "int32", data=np.array([[0, 0], [1, 2], [0, 1], [0, 0]]))
    padded = net.tensor(n, h + 3, w + 1, 2 * c + 3)
    net.builder.op("PAD", [again, borders], [padded])
    return net.conv(padded, (n, h + 3, w + 1, 2 * c + 3), 3, 2)


READERS: Mapping[str, Reader] = {
    "1x1": convolution(1),
    "3x3": convolution(3),
    "3x3 s2": convolution(3, 2),
    "5x5 valid": convolution(5, 1, "VALID"),
    "2x2 s2 valid": convolution(2, 2, "VALID"),
    "3x3 dilated": convolution(3, 1, "SAME", 2),
    "9x9": convolution(9),
    "depthwise": depthwise,
    "max pool": pool("MAX_POOL_2D"),
    "average pool": pool("AVERAGE_POOL_2D"),
    "relu": unary("RELU"),
    "logistic": unary("LOGISTIC", 1 / 256, -128),
    "quantize": unary("QUANTIZE", 0.07, -5),
    "softmax": unary("SOFTMAX", 1 / 256, -128, beta=1.0),
    "add": added,
    "concatenation": joined_again,
}
CHANNELS_ONLY = ("add", "concatenation")


@pytest.fixture
def all_virtual(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plan with every concatenation virtual that can be, whatever it costs."""

    def only_virtual(graph: Graph, options: PlanOptions, lowered: dict[int, Lowered]) -> Prepared:
        return Prepared(prepare(graph, options, lowered).variants[-1:])

    monkeypatch.setattr(control, "prepare", only_virtual)
    monkeypatch.setattr(candidates._Pruning, "run", lambda self: self._best)


def plan_of(data: bytes, options: PlanOptions = PlanOptions()) -> Plan:  # noqa: B008
    return build_plan(simplify(parse_model(data).main), load_board("host"), options)


def gathered(plan: Plan) -> int:
    """Steps that read a ring of rows, loops entered once."""
    steps = (s for layer in plan.layers for s in kernel_steps(layer.steps))
    return sum(bool(step.call.gathers) for step in steps)


def stored_joins(plan: Plan) -> int:
    return sum(
        layer.node.op == "CONCATENATION" and bool(layer.node.outputs) for layer in plan.layers
    )


@pytest.mark.usefixtures("all_virtual")
@pytest.mark.parametrize(
    ("kernels", "axis"), [("portable", 2), *((family.value, 3) for family in Kernels)]
)
def test_every_reader_finds_its_rows(
    kernels: str, axis: int, tmp_path: Path, rng: np.random.Generator
) -> None:
    options, net = PlanOptions(kernels=kernels), Joined(axis, axis)
    readers = [r for name, r in READERS.items() if axis == 3 or name not in CHANNELS_ONLY]
    data = net.finished(*(reader(net) for reader in readers))
    plan = plan_of(data, options)
    assert not stored_joins(plan)
    assert gathered(plan) >= len(readers) - 1
    report = check_plan(through_json(plan_document(plan, "net")))
    assert report.safe, report.faults
    assert_equal({"readers": data}, tmp_path, rng, samples=2, plan=options)


def test_rows_are_brought_once_in_loops() -> None:
    """3x3 on nine rows: two rows for the first, one for each of the next seven, none at last."""
    net = Joined(1)
    graph = parse_model(net.finished(convolution(3)(net))).main
    lowered = ops.lower_all(graph, graph.nodes, PORTABLE)
    changed = with_virtual(graph, lowered, possible_joins(graph, lowered))
    (call,) = changed.lowered[3].calls
    assert [(g.ring, g.ring_bytes, len(g.copies)) for g in call.gathers] == [(3, 3 * 5 * 9, 3)]
    assert changed.graph.nodes[3].inputs[:3] == tuple(net.parts)
    assert changed.graph.nodes[2].inputs == changed.graph.nodes[2].outputs == ()


@pytest.mark.usefixtures("all_virtual")
def test_loops_of_a_gathering_layer() -> None:
    net = Joined(1)
    layer = plan_of(net.finished(convolution(3)(net))).layers[-1]
    shape = [(s.count, len(s.body)) if isinstance(s, Loop) else s.call.kernel for s in layer.steps]
    copies = ["cg_copy"] * 3
    assert shape == [*copies, "cg_conv_2d_s8", (7, 4), "cg_conv_2d_s8"]
    assert "gathers input from parts in a ring, rows: 3" in layer.note


@pytest.mark.parametrize(
    "change",
    ["model output", "batch", "rows", "flattened", "all rows", "twice"],
)
def test_who_cannot_gather(change: str) -> None:
    """Outputs, batches, joins of rows, and readers that need more than a window of rows once."""
    net, n = Net(1), 2 if change == "batch" else 1
    axis = 1 if change == "rows" else 3
    x = net.tensor(n, 4, 4, 2)
    parts = [net.conv(x, (n, 4, 4, 2), 2) for _ in range(2)]
    shape = (n, 8, 4, 2) if axis == 1 else (n, 4, 4, 4)
    joined = net.concat(parts, axis, *shape)
    if change == "flattened":
        y = net.tensor(1, 64)
        net.builder.op("RESHAPE", [joined], [y], new_shape=[1, 64])
    elif change == "all rows":
        y = net.tensor(1, 4)
        axes = net.builder.tensor((2,), "int32", data=np.array([1, 2]))
        net.builder.op("MEAN", [joined, axes], [y])
    elif change == "twice":
        y = net.tensor(*shape)
        net.builder.op("ADD", [joined, joined], [y])
    else:
        y = net.conv(joined, shape, 3)
    outputs = [y, joined] if change == "model output" else [y]
    graph = parse_model(net.builder.build([x], outputs)).main
    assert possible_joins(graph, ops.lower_all(graph, graph.nodes, PORTABLE)) == ()


def swift_block(seed: int = 1) -> bytes:
    """As in SwiftNet: results that several concatenations share, each read by a convolution."""
    net, shape = Net(seed), (1, 8, 8, 16)
    x = net.tensor(*shape)
    maps = [net.conv(x, shape, 8) for _ in range(2)]
    for _ in range(4):
        joined = net.concat(maps, 3, 1, 8, 8, 8 * len(maps))
        maps.append(net.conv(joined, (1, 8, 8, 8 * len(maps)), 8))
    both = net.concat(maps, 3, 1, 8, 8, 8 * len(maps))
    return net.builder.build([x], [net.conv(both, (1, 8, 8, 8 * len(maps)), 4)])


def test_virtual_is_chosen_where_it_saves_memory(tmp_path: Path, rng: np.random.Generator) -> None:
    data = swift_block()
    plans = {mode: plan_of(data, PlanOptions(memory=mode)) for mode in MODES}
    sizes = {mode: plan.total_arena for mode, plan in plans.items()}
    maps, ring = 7 * 8 * 64, 8 * 8 * 6
    assert sizes["min"] <= maps + ring < sizes["max"]
    assert sizes["balanced"] <= sizes["min"] * 11 // 10
    assert gathered(plans["max"]) == 0 < gathered(plans["balanced"]) <= gathered(plans["min"])
    notes = [n.note for n in plans["min"].layers if n.note.startswith("virtual")]
    assert notes and all("stored, it makes the arena" in note for note in notes)
    assert_equal({"swift": data}, tmp_path, rng, plan=PlanOptions(memory="min"))


def test_the_order_suits_branches_that_write_in_place() -> None:
    """As if all copied, the order of the file is best; in place, another one needs less."""
    for seed in range(12):
        graph = parse_model(branches(seed)).main
        prepared = prepare(graph, PlanOptions(), ops.lower_all(graph, graph.nodes, PORTABLE))
        copied, both = (
            best_candidate(load_board("host"), PlanOptions(memory="max"), Prepared(variants)).bytes
            for variants in (prepared.variants[:1], prepared.variants[:2])
        )
        assert both <= copied
        if both < copied:
            return
    raise AssertionError("no graph where it matters")


def branches(seed: int) -> bytes:
    """Two concatenations in a row, each of branches of two convolutions."""
    net, shape = Net(seed), (1, 6, 6)
    x = y = net.tensor(*shape, 8)
    for _ in range(2):
        parts, total = [], 0
        for _ in range(int(net.rng.integers(2, 5))):
            inner, channels = (int(n) * 4 for n in net.rng.integers(1, 6, 2))
            wide = net.conv(y, (*shape, 8), inner)
            parts.append(net.conv(wide, (*shape, inner), channels))
            total += channels
        y = net.conv(net.concat(parts, 3, *shape, total), (*shape, total), 8)
    return net.builder.build([x], [y])


def test_virtual_is_left_where_it_saves_nothing() -> None:
    """Branches that can be written in place need neither copies nor rings."""
    net, shape = Net(2), (1, 8, 8, 4)
    x = net.tensor(*shape)
    parts = [net.conv(x, shape, 4) for _ in range(3)]
    y = net.conv(net.concat(parts, 3, 1, 8, 8, 12), (1, 8, 8, 12), 4)
    plan = plan_of(net.builder.build([x], [y]))
    assert not gathered(plan)
    assert not any(is_copy(s.call) for layer in plan.layers for s in kernel_steps(layer.steps))


@pytest.mark.usefixtures("all_virtual")
@pytest.mark.parametrize(
    "options",
    [
        PlanOptions(keep_input=True),
        PlanOptions(caller_io=True),
        PlanOptions(arena="pingpong", order="dfs"),
        PlanOptions(arena="two-ended", order="bfs"),
    ],
    ids=str,
)
def test_every_option_keeps_the_bytes(
    options: PlanOptions, tmp_path: Path, rng: np.random.Generator
) -> None:
    cases = {f"swift {seed}": swift_block(seed) for seed in range(2)}
    assert all(gathered(plan_of(data, options)) for data in cases.values())
    assert_equal(cases, tmp_path, rng, samples=2, plan=options)


def test_a_form_that_cannot_gather_is_no_choice() -> None:
    """A fast form that wants its input without gaps is dropped where the input has no place."""
    from dataclasses import replace

    net = Joined(1)
    graph = parse_model(net.finished(convolution(3)(net))).main
    lowered = ops.lower_all(graph, graph.nodes, PORTABLE)
    (call,) = (replace(call, cost=9) for call in lowered[3].calls)
    dense = replace(call, inputs=(replace(call.inputs[0], dense=True),), cost=3)
    blocks = replace(call, rows_per_step=4, cost=5)
    lowered[3] = replace(lowered[3], calls=(call,), alternatives=((dense,), (blocks,)))
    changed = with_virtual(graph, lowered, possible_joins(graph, lowered)).lowered[3]
    assert [calls[0].cost for calls in changed.forms] == [9, 5]
    assert changed.forms[1][0].gathers[0].ring == 3 + 3


def test_unread_parts_of_a_builder() -> None:
    """A concatenation that nobody reads is no join."""
    builder = ModelBuilder()
    x = builder.tensor((1, 4, 4, 2), scale=0.1, zero_point=3)
    y, unread = (builder.tensor((1, 4, 4, c), scale=0.1, zero_point=3) for c in (2, 4))
    builder.op("RELU", [x], [y])
    builder.op("CONCATENATION", [x, y], [unread], axis=3)
    graph = parse_model(builder.build([x], [y])).main
    assert possible_joins(graph, ops.lower_all(graph, graph.nodes, PORTABLE)) == ()
