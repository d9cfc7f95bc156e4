"""Nothing reads memory that the plan calls dead, and nothing live is lost.

The checker proves plans; this holds the C against them. After every layer a hook fills all bytes of
the arena in which the plan keeps nothing with a pattern that changes from layer to layer. Whatever
reads such a byte gives wrong numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from codegen.boards import load_board
from codegen.importer import parse_model
from codegen.pipeline import Build, BuildOptions, build
from codegen.plan import Home, PlanOptions
from codegen.planner import arena, order
from codegen.verify.program import build_host_program
from codegen.verify.session import sources_of
from codegen.verify.sources import GeneratedSources
from tests import oracle
from tests.ops.equality import input_sets
from tests.paths import MODELS, requires_models
from tests.regression.nets import Net, inverted_residual, long_skips
from tests.zoo import zoo


def dead_ranges(built: Build, position: int) -> list[tuple[int, int]]:
    """[from, to) of the arena where no buffer is needed behind the layer at `position`."""
    live = np.zeros(built.plan.total_arena, np.bool_)
    for buffer in built.plan.buffers:
        if buffer.home is Home.ARENA and buffer.first <= position < buffer.last:
            live[buffer.offset : buffer.offset + buffer.size] = True
    edges = np.flatnonzero(np.diff(np.concatenate([[1], live, [1]]).astype(np.int8)))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]


def ends(built: Build) -> Iterator[int]:
    """Where each layer of a run ends; one with subgraphs where the last of these does."""
    outer = built.plan.outer_layers
    for position, layer in enumerate(built.plan.layers):
        if layer in outer and layer.has_code:
            yield position if layer.control is None else layer.control.parts[1].end - 1


def poisoned(built: Build) -> GeneratedSources:
    """The sources with hooks that fill dead ranges; the program needs -D..._HOOKS_HEADER."""
    upper = built.name.upper()
    positions = [-1, *ends(built)]
    cases = []
    for number, position in enumerate(positions):
        ranges = dead_ranges(built, position)
        fills = " ".join(
            f"memset(arena + {a}, {number * 37 % 251 + 1}, {b - a});" for a, b in ranges
        )
        cases.append(f"    case {number - 1}: {fills} break;")
    hooks = [
        "#include <string.h>",
        "static void poison(int32_t layer, uint8_t *arena)",
        "{",
        "    switch (layer) {",
        *cases,
        "    default: break;",
        "    }",
        "}",
        f"#define {upper}_BEFORE_LAYER(index) poison((index) == 0 ? -1 : -2, arena_ram)",
        f"#define {upper}_AFTER_LAYER(index) poison(index, arena_ram)",
        "",
    ]
    sources = sources_of(built)
    return replace(sources, files={**sources.files, f"{built.name}_hooks.h": "\n".join(hooks)})


def assert_untouched(cases: dict[str, tuple[bytes, PlanOptions]], workdir: Path) -> None:
    """Every case, poisoned, equals the interpreter on every one of two runs."""
    models = [parse_model(data) for data, _ in cases.values()]
    builds = [
        build(model, "case", load_board("host"), BuildOptions(name=f"m{i}", plan=plan))
        for i, (model, (_, plan)) in enumerate(zip(models, cases.values(), strict=True))
    ]
    flags = [f'-DM{i}_HOOKS_HEADER="m{i}_hooks.h"' for i in range(len(builds))]
    rng = np.random.default_rng(1)
    with build_host_program([poisoned(b) for b in builds], workdir, flags=flags) as program:
        for number, (label, (data, _)) in enumerate(cases.items()):
            sets = input_sets(models[number], 2, rng)
            for values, wanted in zip(sets, oracle.run_afresh(data, sets), strict=True):
                for _ in range(2):
                    run = program.run(number, [v.tobytes() for v in values])
                    assert list(run.outputs) == [array.tobytes() for array in wanted], label


def branches() -> bytes:
    """Splits, slices of rows and concatenations whose parts the planner places in each other."""
    net = Net(3)
    x = net.conv(net.input((1, 8, 6, 4)), 8, quant=(0.05, -3))
    left, right = net.split(x, 2, 3)
    low, high = net.split(net.conv(left, 4, quant=(0.05, -3)), 2, 1)
    joined = net.concat(
        [net.concat([high, low], 1), right, net.conv(right, 2, quant=(0.05, -3))], 3
    )
    return net.build(net.conv(joined, 3, (5, 2), (2, 1)), low)


def lags() -> bytes:
    """A chain in which each output may overlap its input, downwards and upwards."""
    net = Net(4)
    x = net.input((1, 17, 5, 2))
    for channels, kernel, stride, dilation in (
        (6, (3, 3), (1, 1), (1, 1)),
        (6, (4, 2), (2, 1), (1, 1)),
        (12, (2, 2), (1, 1), (3, 2)),
        (3, (1, 1), (1, 1), (1, 1)),
        (9, (3, 3), (1, 2), (1, 1)),
    ):
        depthwise = channels % net.shape(x)[3] == 0 and kernel != (1, 1)
        x = net.conv(x, channels, kernel, stride, dilation=dilation, depthwise=depthwise)
    return net.build(net.pool(x, (3, 2), (2, 2)))


def test_small_networks(tmp_path: Path) -> None:
    nets = {
        "inverted": inverted_residual(),
        "skips": long_skips(),
        "branches": branches(),
        "lags": lags(),
        "zoo": zoo(),
    }
    cases = {
        f"{name} {rule} {keep}": (data, PlanOptions(order=rule, keep_input=keep))
        for name, data in nets.items()
        for rule, keep in (("auto", False), ("model", True))
    }
    for name in order.STRATEGIES:
        cases[f"branches {name}"] = (nets["branches"], PlanOptions(order=name))
    for strategy in arena.STRATEGIES:
        for name in ("branches", "lags", "skips"):
            cases[f"{name} {strategy}"] = (nets[name], PlanOptions(arena=strategy))
    assert_untouched(cases, tmp_path)


@requires_models
@pytest.mark.parametrize(
    "name", ["mlcommons-tiny__pretrainedResnet_quant", "mlcommons-tiny__vww_96_int8"]
)
def test_real_models(name: str, tmp_path: Path) -> None:
    assert MODELS is not None
    path = MODELS / "app" / f"{name}.tflite"
    assert_untouched({name: (path.read_bytes(), PlanOptions())}, tmp_path)
