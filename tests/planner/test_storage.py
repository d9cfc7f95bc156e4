"""Tensors that lie inside others: what is shared, what must not be, and that bytes stay right."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from codegen.boards import load_board
from codegen.importer import parse_model
from codegen.ops.copy import is_copy
from codegen.plan import Plan, PlanOptions, kernel_steps
from codegen.planner.build import build_plan
from tests.ops.equality import assert_equal
from tests.tflite_builder import ModelBuilder


class Net:
    """A model in the making: every tensor int8 with one scale, so that values may be moved."""

    def __init__(self, seed: int) -> None:
        self.builder, self.rng = ModelBuilder(), np.random.default_rng(seed)

    def tensor(self, *shape: int) -> int:
        return self.builder.tensor(shape, scale=0.1, zero_point=3)

    def conv(self, x: int, in_shape: tuple[int, int, int, int], channels: int, k: int = 1) -> int:
        """CONV_2D k x k, SAME, stride 1."""
        n, h, w, c = in_shape
        weights = self.rng.integers(-127, 128, (channels, k, k, c))
        bias = self.rng.integers(-500, 500, channels)
        f = self.builder.tensor(weights.shape, scale=0.02, zero_point=0, data=weights)
        b = self.builder.tensor((channels,), "int32", scale=0.002, zero_point=0, data=bias)
        y = self.tensor(n, h, w, channels)
        self.builder.op("CONV_2D", [x, f, b], [y], padding="SAME", stride_h=1, stride_w=1)
        return y

    def concat(self, parts: list[int], axis: int, *shape: int) -> int:
        y = self.tensor(*shape)
        self.builder.op("CONCATENATION", parts, [y], axis=axis)
        return y

    def split(self, x: int, axis: int, count: int, *shape: int) -> list[int]:
        where = self.builder.tensor((), "int32", data=axis)
        parts = [self.tensor(*shape) for _ in range(count)]
        self.builder.op("SPLIT", [where, x], parts, num_splits=count)
        return parts

    def plan(self, inputs: list[int], outputs: list[int]) -> tuple[bytes, Plan]:
        """The model and its plan, in which every concatenation is stored."""
        data = self.builder.build(inputs, outputs)
        options = PlanOptions(memory="max")
        return data, build_plan(parse_model(data).main, load_board("host"), options)


def copies(plan: Plan) -> int:
    return sum(is_copy(s.call) for layer in plan.layers for s in kernel_steps(layer.steps))


def branches_into_concat(axis: int, batch: int = 1) -> tuple[bytes, Plan]:
    """Three convolutions of one input, concatenated along `axis`, then a convolution."""
    net, shape = Net(axis), (batch, 4, 5, 6)
    x = net.tensor(*shape)
    parts = [net.conv(net.conv(x, shape, 9), (batch, 4, 5, 9), 6) for _ in range(3)]
    whole = [*shape]
    whole[axis] *= 3
    joined = net.concat(parts, axis, *whole)
    n, h, w, c = whole
    return net.plan([x], [net.conv(joined, (n, h, w, c), 4, k=3)])


@pytest.mark.parametrize("axis", [1, 2, 3])
def test_branches_are_written_into_their_concatenation(
    axis: int, tmp_path: Path, rng: np.random.Generator
) -> None:
    data, plan = branches_into_concat(axis)
    assert copies(plan) == 0
    assert_equal({f"axis {axis}": data}, tmp_path, rng, samples=2)


def test_batch(tmp_path: Path, rng: np.random.Generator) -> None:
    cases = {f"axis {axis}": branches_into_concat(axis, batch=2)[0] for axis in range(4)}
    assert_equal(cases, tmp_path, rng, samples=2)


def test_parts_of_a_split_stay_where_they_are(tmp_path: Path, rng: np.random.Generator) -> None:
    net, shape = Net(5), (1, 3, 4, 8)
    x = net.tensor(*shape)
    first, second = net.split(net.conv(x, shape, 8), 3, 2, 1, 3, 4, 4)
    joined = net.concat([net.conv(first, (1, 3, 4, 4), 4), second], 3, *shape)
    data, plan = net.plan([x], [net.conv(joined, shape, 2)])
    assert copies(plan) <= 1
    assert_equal({"split": data}, tmp_path, rng)


def test_a_part_that_is_an_output_keeps_its_own_dense_place(
    tmp_path: Path, rng: np.random.Generator
) -> None:
    net, shape = Net(6), (1, 3, 4, 4)
    x = net.tensor(*shape)
    a, b = net.conv(x, shape, 4), net.conv(x, shape, 4)
    data, plan = net.plan([x], [a, net.concat([a, b], 3, 1, 3, 4, 8)])
    assert copies(plan) == 1
    assert_equal({"output": data}, tmp_path, rng)


def test_the_same_part_twice_is_copied_once(tmp_path: Path, rng: np.random.Generator) -> None:
    net, shape = Net(7), (1, 3, 4, 4)
    x = net.tensor(*shape)
    a = net.conv(x, shape, 4)
    data, plan = net.plan([x], [net.conv(net.concat([a, a], 3, 1, 3, 4, 8), (1, 3, 4, 8), 3)])
    assert copies(plan) == 1
    assert_equal({"twice": data}, tmp_path, rng)


def test_reserving_early_is_avoided_where_it_costs_memory() -> None:
    """One large concatenation whose first part is ready long before a peak elsewhere."""
    net, shape = Net(8), (1, 8, 8, 4)
    x = net.tensor(*shape)
    small = net.conv(x, shape, 1)
    wide = net.conv(net.conv(x, shape, 40), (1, 8, 8, 40), 40)
    late = net.conv(wide, (1, 8, 8, 40), 31)
    data, roomy = net.plan([x], [net.concat([small, late], 3, 1, 8, 8, 32)])
    assert copies(roomy) == 0
    graph = parse_model(data).main
    plan = build_plan(graph, load_board("host"), PlanOptions(memory="min"))
    assert copies(plan) == 2
    # Reserved, its 32 channels would live beside a map of 40.
    assert plan.lower_bound < 64 * (32 + 40)


@pytest.mark.parametrize("seed", range(3))
def test_random_graphs(seed: int, tmp_path: Path, rng: np.random.Generator) -> None:
    """Random mixes of convolutions, splits and concatenations on one map."""
    cases = {f"{seed}/{i}": random_graph(10 * seed + i) for i in range(8)}
    assert_equal(cases, tmp_path, rng, samples=1)
    assert_equal(cases, tmp_path / "kept", rng, samples=1, plan=PlanOptions(keep_input=True))


def random_graph(seed: int) -> bytes:
    net = Net(seed)
    x = net.tensor(1, 3, 4, 8)
    live = {x: 8}
    for _ in range(12):
        kind = net.rng.integers(0, 3)
        t = int(net.rng.choice(list(live)))
        if kind == 0:
            channels = int(net.rng.integers(1, 6)) * 2
            live[net.conv(t, (1, 3, 4, live[t]), channels)] = channels
        elif kind == 1 and live[t] % 2 == 0:
            half = live[t] // 2
            live.update(dict.fromkeys(net.split(t, 3, 2, 1, 3, 4, half), half))
        elif kind == 2 and len(live) > 1:
            u = int(net.rng.choice(list(live)))
            total = live[t] + live[u]
            live[net.concat([t, u], 3, 1, 3, 4, total)] = total
    return net.builder.build([x], list(live)[-2:] if len(live) > 2 else [list(live)[-1]])
