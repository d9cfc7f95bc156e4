"""Variables: linked, planned, reset and run in sequences as the interpreter does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen.boards import load_board
from codegen.errors import CodegenError
from codegen.importer import parse_model
from codegen.passes import link
from codegen.pipeline import Build, build
from codegen.plan import Home, PlanOptions
from codegen.planner.order import STRATEGIES
from tests.ops.equality import assert_equal
from tests.ops.sequences import assert_sequences_equal
from tests.tflite_builder import ModelBuilder, SubgraphBuilder

Q: dict[str, Any] = {"scale": 0.1, "zero_point": -5}
SHAPE = (1, 4, 6)


class Streaming:
    """A model with variables, which a CALL_ONCE initialises."""

    def __init__(self) -> None:
        self.main = ModelBuilder()
        self.once = self.main.subgraph("NoOp")
        self.main.op("CALL_ONCE", [], [], init_subgraph_index=1)

    def variable(self, name: str, first: Any = None) -> int:
        """The main graph's handle of a new variable, with its value before the first run."""
        if first is not None:
            handle = self._handle(self.once, name)
            value = self.once.tensor(np.shape(first), data=first, **Q)
            self.once.op("ASSIGN_VARIABLE", [handle, value], [])
        return self._handle(self.main, name)

    def _handle(self, graph: SubgraphBuilder, name: str) -> int:
        handle = graph.tensor((), "resource")
        graph.op("VAR_HANDLE", [], [handle], container="", shared_name=name)
        return handle

    def read(self, handle: int, shape: tuple[int, ...] = SHAPE) -> int:
        result = self.main.tensor(shape, **Q)
        self.main.op("READ_VARIABLE", [handle], [result])
        return result

    def assign(self, handle: int, value: int) -> None:
        self.main.op("ASSIGN_VARIABLE", [handle, value], [])

    def op(self, kind: str, inputs: list[int], shape: tuple[int, ...], **options: Any) -> int:
        result = self.main.tensor(shape, **Q)
        self.main.op(kind, inputs, [result], **options)
        return result

    def ints(self, *values: int) -> int:
        return self.main.tensor((len(values),), "int32", data=values)


FIRST = np.arange(24).reshape(SHAPE) % 50 - 20


def delay_line() -> bytes:
    """The last four frames of six channels: old rows move up, the input becomes the last one."""
    s = Streaming()
    handle, x = s.variable("v", np.full(SHAPE, -5)), s.main.tensor((1, 1, 6), **Q)
    line = s.op("CONCATENATION", [s.read(handle), x], (1, 5, 6), axis=1)
    begin, size = s.ints(0, 1, 0), s.ints(1, 4, 6)
    s.assign(handle, s.op("SLICE", [line, begin, size], SHAPE))
    y = s.op("MAXIMUM", [line, line], (1, 5, 6))
    return s.main.build([x], [y])


def accumulator(dtype_first: Any = FIRST) -> bytes:
    """v = v + x, made in the state's own place; the sum is the output."""
    s = Streaming()
    handle, x = s.variable("v", dtype_first), s.main.tensor(SHAPE, **Q)
    total = s.op("ADD", [s.read(handle), x], SHAPE, fused_activation_function="NONE")
    s.assign(handle, total)
    y = s.op("RELU", [total], SHAPE)
    return s.main.build([x], [y])


def swap() -> bytes:
    """Two variables exchange their values, one of which takes in the input."""
    s = Streaming()
    a, b = s.variable("a", FIRST), s.variable("b", -FIRST)
    x = s.main.tensor(SHAPE, **Q)
    old_a, old_b = s.read(a), s.read(b)
    s.assign(a, old_b)
    s.assign(b, s.op("MAXIMUM", [old_a, x], SHAPE))
    y = s.op("MINIMUM", [old_a, old_b], SHAPE)
    return s.main.build([x], [y])


def plain_swap() -> bytes:
    s = Streaming()
    a, b = s.variable("a", FIRST), s.variable("b", -FIRST)
    x = s.main.tensor(SHAPE, **Q)
    old_a, old_b = s.read(a), s.read(b)
    s.assign(a, old_b)
    s.assign(b, old_a)
    return s.main.build([x], [s.op("MAXIMUM", [old_a, x], SHAPE)])


def old_value_out() -> bytes:
    """The output is the value before the assignment."""
    s = Streaming()
    handle, x = s.variable("v", FIRST), s.main.tensor(SHAPE, **Q)
    old = s.read(handle)
    s.assign(handle, x)
    return s.main.build([x], [old])


def assigned_twice() -> bytes:
    """Reads see the assignment before them; only the last one lives on."""
    s = Streaming()
    handle, x = s.variable("v", FIRST), s.main.tensor(SHAPE, **Q)
    old = s.read(handle)
    s.assign(handle, s.op("MAXIMUM", [old, x], SHAPE))
    between = s.read(handle)
    s.assign(handle, s.op("MINIMUM", [between, old], SHAPE))
    y = s.op("ADD", [s.read(handle), between], SHAPE, fused_activation_function="NONE")
    return s.main.build([x], [y])


def read_late() -> bytes:
    """What was read before an assignment is used after it."""
    s = Streaming()
    handle, x = s.variable("v", FIRST), s.main.tensor(SHAPE, **Q)
    old = s.read(handle)
    s.assign(handle, x)
    wide = s.op("RESHAPE", [old, s.ints(1, 24)], (1, 24))
    flat = s.op("RESHAPE", [x, s.ints(1, 24)], (1, 24))
    return s.main.build([x], [s.op("MAXIMUM", [wide, flat], (1, 24))])


def never_changed() -> bytes:
    s = Streaming()
    handle, x = s.variable("v", FIRST), s.main.tensor(SHAPE, **Q)
    return s.main.build([x], [s.op("MAXIMUM", [s.read(handle), x], SHAPE)])


def written_before_read() -> bytes:
    """Nothing lives on: the variable only carries a value through the run."""
    s = Streaming()
    handle, x = s.variable("v"), s.main.tensor(SHAPE, **Q)
    s.assign(handle, s.op("RELU", [x], SHAPE))
    return s.main.build([x], [s.op("MAXIMUM", [s.read(handle), x], SHAPE)])


def constant_assigned() -> bytes:
    s = Streaming()
    handle, x = s.variable("v", FIRST), s.main.tensor(SHAPE, **Q)
    old = s.read(handle)
    s.assign(handle, s.main.tensor(SHAPE, data=np.full(SHAPE, 7), **Q))
    return s.main.build([x], [s.op("MAXIMUM", [old, x], SHAPE)])


CASES = {
    make.__name__: make
    for make in (
        delay_line,
        accumulator,
        swap,
        plain_swap,
        old_value_out,
        assigned_twice,
        read_late,
        never_changed,
        written_before_read,
        constant_assigned,
    )
}


def built(data: bytes, **options: Any) -> Build:
    return build(parse_model(data), "case", load_board("host"), **options)


def test_sequences(tmp_path: Path, rng: np.random.Generator) -> None:
    models = {name: make() for name, make in CASES.items()}
    assert_sequences_equal(models, tmp_path, rng, steps=50, sanitize=True)


@pytest.mark.parametrize("order", STRATEGIES)
def test_every_order(tmp_path: Path, rng: np.random.Generator, order: str) -> None:
    models = {name: make() for name, make in CASES.items()}
    assert_sequences_equal(models, tmp_path, rng, steps=6, plan=PlanOptions(order=order))


@pytest.mark.parametrize(
    ("make", "state"),
    [(delay_line, 24), (swap, 32 + 24), (never_changed, 24), (written_before_read, 0)],
)
def test_state_lies_apart(make: Callable[[], bytes], state: int) -> None:
    result = built(make())
    assert result.plan.total_state == result.summary()["state_bytes"] == state
    names = {b.name for b in result.plan.buffers if b.home is Home.STATE}
    assert len(names) == len(result.plan.graph.states)


def test_a_new_state_is_made_in_its_place() -> None:
    plan = built(accumulator()).plan
    notes = {layer.node.op: layer.note for layer in plan.layers}
    assert notes["ASSIGN_VARIABLE"].startswith("no code")
    assert notes["ADD"] == "in place"


def test_first_values_of_one_kind_take_no_flash() -> None:
    uniform, mixed = (
        built(delay_line()).files["model_case.c"],
        built(accumulator()).files["model_case.c"],
    )
    assert "memset(state_" in uniform and "memcpy(state_" not in uniform
    assert "memcpy(state_" in mixed


def uninitialised() -> bytes:
    s = Streaming()
    handle, x = s.variable("v"), s.main.tensor(SHAPE, **Q)
    return s.main.build([x], [s.op("MAXIMUM", [s.read(handle), x], SHAPE)])


def computed_initialiser() -> bytes:
    s = Streaming()
    handle = s.variable("v")
    inner = s._handle(s.once, "v")
    one, made = s.once.tensor(SHAPE, data=FIRST, **Q), s.once.tensor(SHAPE, **Q)
    s.once.op("RELU", [one], [made])
    s.once.op("ASSIGN_VARIABLE", [inner, made], [])
    x = s.main.tensor(SHAPE, **Q)
    return s.main.build([x], [s.op("MAXIMUM", [s.read(handle), x], SHAPE)])


def of_another_shape() -> bytes:
    s = Streaming()
    handle, x = s.variable("v", FIRST), s.main.tensor((1, 24), **Q)
    return s.main.build([x], [s.op("MAXIMUM", [s.read(handle, (1, 24)), x], (1, 24))])


def handle_of_codes() -> bytes:
    builder = ModelBuilder()
    x, y = (builder.tensor(SHAPE, **Q) for _ in range(2))
    handle = builder.tensor(SHAPE, **Q)
    builder.op("VAR_HANDLE", [], [handle], shared_name="v")
    builder.op("MAXIMUM", [x, handle], [y])
    return builder.build([x], [y])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (handle_of_codes, 'operator 0 VAR_HANDLE: tensor 2 "t2" is int8, not a handle'),
        (uninitialised, "variable 'v' is read before it has a value"),
        (computed_initialiser, r"CALL_ONCE: its initialiser 'NoOp' runs operator 1 RELU"),
        (of_another_shape, r"a variable is int8\[1,4,6\] at one place and int8\[1,24\] at another"),
    ],
)
def test_refusals(make: Callable[[], bytes], words: str) -> None:
    with pytest.raises(CodegenError, match=words) as caught:
        link(parse_model(make()))
    assert "\n" not in str(caught.value)


def test_an_input_marked_as_variable_is_an_input(tmp_path: Path, rng: np.random.Generator) -> None:
    builder = ModelBuilder()
    x, marked = builder.tensor(SHAPE, **Q), builder.tensor(SHAPE, is_variable=True, **Q)
    y = builder.tensor(SHAPE, **Q)
    builder.op("ADD", [x, marked], [y])
    data = builder.build([x, marked], [y])
    assert not parse_model(data).main.tensors[marked].is_variable
    assert_equal({"marked": data}, tmp_path, rng)
