"""The checker against chance: random graphs, random breakage of their plans, random geometry.

Plans of random graphs are accepted, whatever is done to break one is refused, corrupted documents
never raise, and the proof of order agrees with a kernel executed step by step in plain Python.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codegen.boards import load_board
from codegen.importer import parse_model
from codegen.pipeline import BuildOptions, prepare_graph
from codegen.plan import PlanOptions
from codegen.plan_json import plan_document
from codegen.planner.build import build_plan
from codegen.planner.checker import check_plan
from tests.planner.plans import (
    Json,
    PlanWriter,
    affine,
    at,
    chain,
    faults,
    kernel,
    leaves,
    through_json,
    window,
)
from tests.tflite_builder import ModelBuilder

OPTIONS = (PlanOptions(), PlanOptions(keep_input=True), PlanOptions(caller_io=True))


class RandomModel:
    """A graph of convolutions, sums, activations, concatenations, splits, poolings, reshapes."""

    def __init__(self, rng: np.random.Generator, operators: int) -> None:
        self.rng, self.builder = rng, ModelBuilder()
        self.batch = int(rng.choice([1, 1, 3]))
        self.shapes: dict[int, tuple[int, ...]] = {}
        self.unread: set[int] = set()
        self.inputs = [self.feature_map(self.map_shape()) for _ in range(rng.integers(1, 3))]
        makers = (self.conv, self.add, self.relu, self.concat, self.split, self.pool, self.reshape)
        while len(self.builder.operators) < operators:
            makers[rng.integers(len(makers))]()

    def map_shape(self) -> tuple[int, ...]:
        h, w, c = (int(k) for k in self.rng.integers(2, 7, 3))
        return self.batch, h, w, c

    def feature_map(self, shape: tuple[int, ...]) -> int:
        tensor = self.builder.tensor(shape, scale=0.1, zero_point=1)
        self.shapes[tensor] = shape
        self.unread.add(tensor)
        return tensor

    def pick(self, *like: int) -> int:
        """A tensor of four dimensions, of the same shape as `like` if that is given."""
        wanted = [self.shapes[t] for t in like]
        known = [t for t, s in self.shapes.items() if len(s) == 4 and (not wanted or s in wanted)]
        return int(self.rng.choice(known))

    def op(self, kind: str, inputs: Sequence[int], outputs: Sequence[int], **options: Any) -> None:
        self.builder.op(kind, inputs, outputs, **options)
        self.unread -= set(inputs)

    def conv(self) -> None:
        x = self.pick()
        n, h, w, c = self.shapes[x]
        k, stride = int(self.rng.integers(1, 4)), int(self.rng.integers(1, 3))
        channels = int(self.rng.integers(1, 7))
        weights = self.builder.tensor(
            (channels, k, k, c), scale=0.1, zero_point=0, data=np.ones((channels, k, k, c))
        )
        y = self.feature_map((n, -(-h // stride), -(-w // stride), channels))
        self.op("CONV_2D", [x, weights, -1], [y], padding="SAME", stride_h=stride, stride_w=stride)

    def add(self) -> None:
        x = self.pick()
        self.op("ADD", [x, self.pick(x)], [self.feature_map(self.shapes[x])])

    def relu(self) -> None:
        x = self.pick()
        self.op("RELU", [x], [self.feature_map(self.shapes[x])])

    def concat(self) -> None:
        x = self.pick()
        axis = int(self.rng.integers(1, 4))
        parts = [x, self.pick(x), x][: self.rng.integers(2, 4)]
        shape = list(self.shapes[x])
        shape[axis] *= len(parts)
        self.op("CONCATENATION", parts, [self.feature_map(tuple(shape))], axis=axis)

    def split(self) -> None:
        x = self.pick()
        axis = int(self.rng.integers(1, 4))
        shape = list(self.shapes[x])
        count = next(k for k in (2, 3, 5, shape[axis]) if shape[axis] % k == 0)
        shape[axis] //= count
        dimension = self.builder.tensor((), "int32", data=axis)
        parts = [self.feature_map(tuple(shape)) for _ in range(count)]
        self.op("SPLIT", [dimension, x], parts, num_splits=count)

    def pool(self) -> None:
        x = self.pick()
        n, h, w, c = self.shapes[x]
        y = self.feature_map((n, -(-h // 2), -(-w // 2), c))
        sizes = {"filter_height": 2, "filter_width": 2, "stride_h": 2, "stride_w": 2}
        self.op("MAX_POOL_2D", [x], [y], padding="SAME", **sizes)

    def reshape(self) -> None:
        x = self.pick()
        n, h, w, c = self.shapes[x]
        shape = (n, w, h, c) if self.rng.integers(2) else (n, h * w * c)
        self.op("RESHAPE", [x], [self.feature_map(shape)], new_shape=shape)

    def build(self) -> bytes:
        """The file; every tensor that nobody reads is an output."""
        return self.builder.build(self.inputs, sorted(self.unread - set(self.inputs)))


def random_plan(rng: np.random.Generator, options: PlanOptions = OPTIONS[0]) -> Json:
    data = RandomModel(rng, int(rng.integers(3, 14))).build()
    graph = prepare_graph(parse_model(data), BuildOptions())
    return through_json(plan_document(build_plan(graph, load_board("host"), options), "m"))


def test_plans_of_random_graphs_are_accepted(rng: np.random.Generator) -> None:
    for number in range(60):
        document = random_plan(rng, OPTIONS[number % 3])
        assert not faults(document), number


Breaker = Callable[[Json], Iterator[Json]]


def kernels(document: Json) -> Iterator[tuple[Json, Json]]:
    """(layer, kernel step) of every step, loops entered."""
    for layer in document["layers"]:
        for outer in layer["steps"]:
            for inner in outer.get("body", [outer]):
                yield layer, inner


def dropped_steps(document: Json) -> Iterator[Json]:
    for layer in document["layers"]:
        for i, step in enumerate(layer["steps"]):
            del layer["steps"][i]
            yield document
            layer["steps"].insert(i, step)


def repeated_steps(document: Json) -> Iterator[Json]:
    for layer in document["layers"]:
        for i, step in enumerate(layer["steps"]):
            layer["steps"].insert(i, step)
            yield document
            del layer["steps"][i]


def shorter_loops(document: Json) -> Iterator[Json]:
    for layer in document["layers"]:
        for step in layer["steps"]:
            if "loop" in step:
                step["count"] -= 1
                yield document
                step["count"] += 1


def swapped_layers(document: Json) -> Iterator[Json]:
    layers = document["layers"]
    for i in range(len(layers) - 1):
        if set(layers[i]["outputs"]) & set(layers[i + 1]["inputs"]):
            layers[i], layers[i + 1] = layers[i + 1], layers[i]
            yield document
            layers[i], layers[i + 1] = layers[i + 1], layers[i]


def shifted_views(document: Json) -> Iterator[Json]:
    for _, step in kernels(document):
        for view in (*step["reads"], *step["writes"]):
            for shift in (-1, 1):
                view["offset"]["constant"] += shift
                yield document
                view["offset"]["constant"] -= shift


def wrong_strides(document: Json) -> Iterator[Json]:
    for _, step in kernels(document):
        for view in (*step["reads"], *step["writes"]):
            for stride, count in (("row", "height"), ("pixel", "width")):
                if view[count] > 1:
                    view[stride] += 1
                    yield document
                    view[stride] -= 1


def shorter_ranges(document: Json) -> Iterator[Json]:
    for _, step in kernels(document):
        for end in (1, 3, 5):
            step["range"][end] -= 1
            yield document
            step["range"][end] += 1


def shorter_lives(document: Json) -> Iterator[Json]:
    for buffer in document["buffers"]:
        for end, change in (("first", 1), ("last", -1)):
            if buffer["home"] == "arena":
                buffer[end] += change
                yield document
                buffer[end] -= change


def smaller_buffers(document: Json) -> Iterator[Json]:
    for buffer in document["buffers"]:
        buffer["size"] -= 1
        yield document
        buffer["size"] += 1


def overlapping_buffers(document: Json) -> Iterator[Json]:
    """One buffer moved onto another, with which it lives through at least two layers."""
    live = [b for b in document["buffers"] if b["home"] == "arena"]
    for a in live:
        for b in live:
            common = min(a["last"], b["last"]) - max(a["first"], b["first"])
            if a is not b and common >= 1:
                old = a["offset"]
                a["offset"] = b["offset"]
                yield document
                a["offset"] = old


def wrong_arena_sizes(document: Json) -> Iterator[Json]:
    for memory in document["memories"]:
        if memory["kind"] == "ram":
            for change in (-1, 1):
                memory["arena_bytes"] += change
                yield document
                memory["arena_bytes"] -= change


BREAKERS: tuple[Breaker, ...] = (
    dropped_steps,
    repeated_steps,
    shorter_loops,
    swapped_layers,
    shifted_views,
    wrong_strides,
    shorter_ranges,
    shorter_lives,
    smaller_buffers,
    overlapping_buffers,
    wrong_arena_sizes,
)


@pytest.mark.parametrize("breaker", BREAKERS)
def test_every_broken_plan_is_refused(
    breaker: Breaker, rng: np.random.Generator, pytestconfig: pytest.Config
) -> None:
    enough = 10_000 if pytestconfig.getoption("--full") else 50
    broken = number = 0
    while broken < enough and number < 40:
        document = random_plan(rng, OPTIONS[number % 3])
        for changed in islice(breaker(document), enough // 2):
            broken += 1
            assert faults(changed), f"plan {number}, change {broken}"
        number += 1
    assert broken >= 8


WRONG_VALUES: tuple[Any, ...] = (None, "x", -5, 1.5, [], {}, True, 2**31, 2**80, [[]], float("nan"))


def every_kind_of_step() -> Json:
    """A small plan with a loop, a table of rows, a constant, scratch, a view and a ring."""
    plan = PlanWriter()
    x = plan.tensor((2, 2, 1, 4), plan.buffer("x", 0, 16, -1, 0))
    k = plan.tensor((1, 2, 1, 4), plan.buffer("k", 0, 8, -1, 2, home="constant"))
    shared = plan.buffer("y", 16, 16, 0, 2)
    y, z = plan.tensor((2, 2, 1, 4), shared), plan.tensor((4, 4), shared)
    plan.buffer("s", 32, 8, 0, 0)
    reads = [
        plan.read(x, rows={"table": [[0, 1], [0, 2]]}, offset=affine(0, n=8), ring=2),
        plan.read(k, shared=True),
    ]
    write = plan.write(y, offset=affine(0, n=8))
    body = kernel(reads, [write], scratch="s", scratch_bytes=8, image=affine(0, n=1))
    plan.layer("ADD", [x, k], [y], [{"loop": "n", "count": 2, "body": [body]}])
    share = {"map": [1, 1, 1, 16], "start": [0, 0, 0, 0], "size": [1, 1, 1, 16]}
    views = [{"source": {"tensor": y} | share, "result": {"tensor": z} | share}]
    plan.layer("RESHAPE", [y], [z], views=views)
    return plan.build([x], [z])


def test_missing_fields_are_named() -> None:
    document = every_kind_of_step()
    assert not faults(document)
    for path in leaves(document):
        if isinstance(path[-1], str):
            broken = copy.deepcopy(document)
            del at(broken, path[:-1])[path[-1]]
            lines = check_plan(broken).faults
            name = "stride" if path[-1] == "table" else path[-1]  # one of two kinds of row map
            assert any(f"{name}: " in line for line in lines), (path, lines)


def test_unknown_fields_are_named() -> None:
    document = every_kind_of_step()
    for path in leaves(document):
        if isinstance(at(document, path), dict):
            broken = copy.deepcopy(document)
            at(broken, path)["new\nfield"] = 1
            lines = check_plan(broken).faults
            assert any("new?field" in line for line in lines), (path, lines)


def test_wrong_values_never_raise() -> None:
    document = every_kind_of_step()
    for path in leaves(document):
        old = at(document, path)
        for value in WRONG_VALUES:
            broken = copy.deepcopy(document)
            at(broken, path[:-1])[path[-1]] = value
            lines = check_plan(broken).faults
            assert all(line.isprintable() for line in lines), lines
            if type(value) is not type(old):
                assert lines or path[-1] in ("scratch", "buffer"), (path, value)


def test_deeply_nested_loops_are_refused() -> None:
    for depth in (9, 300, 5000):
        document = chain()
        steps = document["layers"][0]["steps"]
        for level in range(depth):
            steps = [{"loop": f"n{level}", "count": 1, "body": steps}]
        document["layers"][0]["steps"] = steps
        assert check_plan(document).faults, depth


def test_endless_loops_end() -> None:
    document = every_kind_of_step()
    document["layers"][0]["steps"][0]["count"] = 2**31 - 1
    assert faults(document)


@st.composite
def row_kernels(draw: st.DrawFn) -> Json:
    """One kernel whose output lies anywhere around its input."""
    plan = PlanWriter(alignment=1)
    alias = draw(st.sampled_from(["row", "row", "row", "pixel", "element"]))
    same = alias != "row" or draw(st.booleans())
    height, width = draw(st.integers(1, 6)), draw(st.integers(1, 3))
    channels = [draw(st.integers(1, 3)) for _ in range(2)]
    if alias == "element":
        channels[1] = channels[0]
    rows = height if same else draw(st.integers(1, 6))
    span = 1 if alias != "row" else draw(st.integers(1, 4))
    pad = 0 if alias != "row" else draw(st.integers(0, 3))
    row_map = window(span, draw(st.integers(0, 3)) if alias == "row" else 1, pad)
    sizes = [height * width * channels[0], rows * width * channels[1]]
    offsets = draw(st.integers(0, sizes[1])), draw(st.integers(0, sizes[0]))
    x = plan.tensor((1, height, width, channels[0]), plan.buffer("x", offsets[0], sizes[0], -1, 0))
    y = plan.tensor((1, rows, width, channels[1]), plan.buffer("y", offsets[1], sizes[1], 0, 1))
    step = kernel(
        [plan.read(x, alias, row_map)],
        [plan.write(y)],
        rows_per_step=draw(st.integers(1, 3)),
    )
    plan.layer("OP", [x], [y], [step])
    return plan.build([x], [y])


def survives(document: Json) -> bool:
    """Execute the only kernel the most hostile way that its alias class allows.

    Every block of rows is first overwritten and then reads what it needs; pixels and elements
    are read one by one, each just before it is written.
    """
    step = document["layers"][0]["steps"][0]
    read, write = step["reads"][0], step["writes"][0]
    starts = {b["name"]: b["offset"] for b in document["buffers"]}
    rows, width = write["height"], write["width"]
    memory: dict[int, tuple[int, int, int]] = {}

    def address(view: Json, r: int, c: int, b: int) -> int:
        return int(starts[view["buffer"]] + r * view["row"] + c * view["pixel"] + b)

    def intact(r: int, columns: range, channels: range) -> bool:
        return all(memory[address(read, r, c, b)] == (r, c, b) for c in columns for b in channels)

    def overwrite(r: int, columns: range, channels: range) -> None:
        for c in columns:
            for b in channels:
                memory[address(write, r, c, b)] = (-1, -1, -1)

    columns, sources = range(width), range(read["pixel_bytes"])
    results = range(write["pixel_bytes"])
    for r in range(read["height"]):
        memory.update({address(read, r, c, b): (r, c, b) for c in columns for b in sources})
    if read["alias"] == "row":
        rule = read["rows"]
        for block in range(0, rows, step["rows_per_step"]):
            lines = range(block, min(rows, block + step["rows_per_step"]))
            for y in lines:
                overwrite(y, columns, results)
            for y in lines:
                first = y * rule["stride"] + rule["offset"]
                needed = [r for r in range(read["height"]) if first <= r < first + rule["span"]]
                if not all(intact(r, columns, sources) for r in needed):
                    return False
        return True
    for r in range(rows):
        for c in columns:
            one = range(c, c + 1)
            if read["alias"] == "pixel":
                if not intact(r, one, sources):
                    return False
                overwrite(r, one, results)
                continue
            for b in results:
                if not intact(r, one, range(b, b + 1)):
                    return False
                overwrite(r, one, range(b, b + 1))
    return True


@settings(max_examples=400, deadline=None, derandomize=True)
@given(row_kernels())
def test_order_agrees_with_a_hostile_kernel(document: Json) -> None:
    found = faults(document)
    assert ("too early" not in found) == survives(document), found
    assert not found or "too early" in found
