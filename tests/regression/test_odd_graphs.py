"""Graphs that no one draws but converters write: every way in which borders and views can meet."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from codegen.errors import CodegenError
from codegen.importer import parse_model
from codegen.pipeline import BuildOptions
from codegen.plan import PlanOptions
from tests.emit.programs import make_build
from tests.ops.equality import assert_equal
from tests.regression.nets import PLAIN, Net

GRAPHS: dict[str, Callable[[], bytes]] = {}


def graph(make: Callable[[], bytes]) -> Callable[[], bytes]:
    GRAPHS[make.__name__] = make
    return make


@graph
def input_is_output() -> bytes:
    net = Net()
    x = net.input((1, 4, 4, 2))
    return net.build(net.conv(x, 2), x)


@graph
def only_inputs_as_outputs() -> bytes:
    net = Net()
    x, y = net.input((2, 3)), net.input((5,))
    return net.build(y, x)


@graph
def output_read_on() -> bytes:
    net = Net()
    first = net.conv(net.input((1, 5, 5, 2)), 3)
    second = net.pool(first, (2, 2), (1, 1))
    return net.build(second, first, net.binary("ADD", first, second))


@graph
def output_twice() -> bytes:
    net = Net()
    y = net.conv(net.input((1, 5, 5, 2)), 3)
    return net.build(y, net.pool(y, (2, 2), (2, 2)), y)


@graph
def constant_outputs() -> bytes:
    net = Net()
    x = net.input((1, 3))
    c = net.constant((2, 2))
    return net.build(c, net.binary("ADD", x, x), net.reshape(net.constant((6,)), (3, 2)), c)


@graph
def nothing_depends_on_the_input() -> bytes:
    net = Net()
    net.input((1, 3))
    return net.build(net.constant((4,)))


@graph
def inputs_that_nobody_reads() -> bytes:
    net = Net()
    net.input((7,))
    x = net.input((1, 4, 4, 2))
    net.input((1, 64, 64, 3))
    return net.build(net.conv(x, 2))


@graph
def results_that_nobody_reads() -> bytes:
    net = Net()
    x = net.conv(net.input((1, 6, 6, 4)), 4, quant=PLAIN)
    parts = net.split(x, 4, 3)
    net.conv(x, 9)
    return net.build(net.binary("ADD", parts[1], parts[3]))


@graph
def the_same_tensor_on_every_input() -> bytes:
    net = Net()
    x = net.conv(net.input((1, 3, 4, 2)), 2, quant=PLAIN)
    y = net.concat([x, x, x], 3)
    z = net.concat([y, y], 1)
    return net.build(net.binary("MAXIMUM", z, z), net.binary("SUB", z, z), net.concat([x, x], 2))


@graph
def inputs_concatenated_twice() -> bytes:
    net = Net()
    a, b = net.input((1, 2, 3, 2)), net.input((1, 2, 3, 4))
    inner = net.concat([a, b], 3)
    return net.build(net.concat([net.concat([b, a], 3), inner], 1), inner)


@graph
def forty_parts() -> bytes:
    net = Net()
    x = net.input((1, 4, 4, 1))
    parts = [net.conv(x, 1 + i % 3, (1, 1), quant=PLAIN) for i in range(40)]
    return net.build(net.pool(net.concat(parts, 3), (2, 2), (2, 2)))


@graph
def split_of_split() -> bytes:
    net = Net()
    x = net.conv(net.input((1, 8, 4, 4)), 8, quant=PLAIN)
    top, bottom = net.split(x, 2, 1)
    left, right = net.split(top, 2, 3)
    parts = [*net.split(left, 2, 1), *net.split(right, 2, 1)]
    whole = net.concat(parts[::-1], 3)
    return net.build(net.conv(bottom, 2, (3, 1)), whole, net.conv(parts[2], 3))


@graph
def reshape_of_reshape() -> bytes:
    net = Net()
    x = net.input((1, 4, 6, 2))
    first = net.reshape(net.reshape(x, (48,)), (2, 2, 2, 2, 3))
    second = net.reshape(net.reshape(net.conv(x, 2), (6, 8)), (48,))
    return net.build(first, second, net.reshape(second, (3, 4, 4)))


@graph
def outputs_that_share_bytes() -> bytes:
    net = Net()
    x = net.conv(net.input((1, 4, 4, 4)), 4, quant=PLAIN)
    rows = net.split(x, 2, 1)
    return net.build(x, *rows, net.reshape(rows[0], (32,)), *net.split(rows[1], 2, 2))


@graph
def chain_over_the_input() -> bytes:
    net = Net()
    x = net.input((1, 5, 5, 3))
    for kind in ("RELU", "RELU6", "HARD_SWISH", "TANH"):
        quant = (1 / 128, 0) if kind == "TANH" else (0.04, 2)
        x = net.result(kind, [x], (1, 5, 5, 3), quant, 1)
    return net.build(net.binary("MUL", x, x))


@graph
def one_element() -> bytes:
    net = Net()
    x = net.input((1, 1, 1, 1))
    y = net.conv(net.conv(x, 1, (3, 3), depthwise=True), 1, (1, 1))
    y = net.pool(y, (5, 5), (3, 3), kind="AVERAGE_POOL_2D")
    return net.build(net.dense(net.reshape(y, (1, 1)), 1), net.binary("ADD", x, y))


@graph
def scalars() -> bytes:
    net = Net()
    x, y = net.input(()), net.input(())
    return net.build(net.binary("ADD", x, y), net.reshape(y, (1,)), net.reshape(x, (1, 1, 1, 1, 1)))


@graph
def rank_five() -> bytes:
    net = Net()
    x, y = net.input((2, 1, 3, 2, 4)), net.input((1, 5, 3, 1, 4))
    z = net.binary("MUL", x, y)
    halves = net.split(net.concat([z, z], 2), 2, 3)
    return net.build(net.concat(halves, 0), net.result("RELU", [z], net.shape(z), (0.1, 0), 1))


@graph
def batch_of_seven() -> bytes:
    net = Net()
    x = net.conv(net.input((7, 5, 4, 3)), 6, stride=(2, 1), quant=PLAIN)
    halves = net.split(x, 2, 3)
    y = net.concat([halves[1], net.conv(halves[0], 3, depthwise=True, quant=PLAIN)], 3)
    return net.build(net.binary("ADD", y, net.constant((6,))), net.split(y, 7, 0)[3])


PLANS = {
    "default": PlanOptions(),
    "kept": PlanOptions(keep_input=True, order="model", arena="pingpong"),
    "caller": PlanOptions(caller_io=True),
    "both": PlanOptions(caller_io=True, keep_input=True, order="bfs"),
    "two-ended": PlanOptions(order="dfs", arena="two-ended"),
}


def refusal(data: bytes, plan: PlanOptions) -> str:
    """What a build says that is refused; empty for those that work."""
    try:
        make_build(data, options=BuildOptions(name="net", plan=plan))
    except CodegenError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("plan", PLANS)
def test_equal(plan: str, tmp_path: Path, rng: np.random.Generator) -> None:
    options = PLANS[plan]
    models = {name: make() for name, make in GRAPHS.items()}
    refused = {name for name, data in models.items() if refusal(data, options)}
    if not options.caller_io:
        assert not refused
    cases = {name: data for name, data in models.items() if name not in refused}
    assert len(cases) > len(models) / 2
    assert_equal(cases, tmp_path, rng, samples=2, sanitize=True, plan=options)


def test_refused_borders_say_what_to_do() -> None:
    """Only outputs that no operator makes for themselves cannot lie in the caller's buffers."""
    plan = PlanOptions(caller_io=True)
    refused = {name: text for name, make in GRAPHS.items() if (text := refusal(make(), plan))}
    assert {"input_is_output", "output_twice", "constant_outputs"} <= set(refused)
    for text in refused.values():
        assert "\n" not in text and text.endswith("build with --io-buffers arena")


@pytest.mark.parametrize("shape", [(0,), (1, 0, 4, 2), (0, 3)])
def test_empty_tensors_are_refused_in_one_line(shape: tuple[int, ...]) -> None:
    net = Net()
    x = net.input(shape)
    data = net.build(net.result("RELU", [x], shape, PLAIN, 1))
    with pytest.raises(CodegenError, match="without elements") as caught:
        make_build(data)
    assert "\n" not in str(caught.value)
    assert parse_model(data).main.nodes[0].op == "RELU"
