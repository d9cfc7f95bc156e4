"""Damaged models through the whole build: a refusal in one line or the C files, nothing else."""

from __future__ import annotations

import math
import random
import time
from functools import cache
from pathlib import Path

import pytest

from codegen import ops
from codegen.boards import load_board
from codegen.errors import CodegenError
from codegen.importer import parse_model
from codegen.ops.base import OpContext
from codegen.pipeline import BuildOptions, build
from codegen.plan import PlanOptions
from tests import paths
from tests.emit.programs import run_c, two_convolutions, write
from tests.mutations import MUTATIONS
from tests.test_cli import fails, run, tree
from tests.tflite_builder import ModelBuilder
from tests.zoo import zoo

_COPIES = 30  # per kind of mutation
_SECONDS = 5.0  # of CPU time, the longest that one file may take
_DEMO = Path(__file__).resolve().parent.parent / "docs" / "demo" / "digits.tflite"
_OPTIONS = (
    BuildOptions(),
    BuildOptions(io="int8", plan=PlanOptions(keep_input=True)),
    BuildOptions(plan=PlanOptions(caller_io=True)),
)


def _builds(data: bytes) -> bool:
    try:
        build(parse_model(data), "m", load_board("host"))
    except CodegenError:
        return False
    return True


@cache
def _originals() -> tuple[bytes, ...]:
    """Valid models that build: made here, the demo's, and small real ones where there are any."""
    files = sorted(paths.app_models() + paths.optest_models(), key=lambda path: path.name)
    small = [path.read_bytes() for path in files if path.stat().st_size < 12_000]
    real = [data for data in small[::4] if _builds(data)]
    # The first two reach most of the code, so they are drawn more often.
    return (*[zoo()] * 10, *[_DEMO.read_bytes()] * 5, two_convolutions(), *real)


def test_the_originals_build() -> None:
    assert all(_builds(data) for data in dict.fromkeys(_originals()))


@pytest.mark.parametrize("kind", MUTATIONS)
def test_damage_ends_in_one_line_or_files(kind: str, seed: int) -> None:
    board = load_board("host")
    refused = 0
    for copy in range(_COPIES):
        rng = random.Random(f"{seed} {kind} {copy}")
        data = MUTATIONS[kind](rng.choice(_originals()), rng)
        start = time.process_time()
        try:
            built = build(parse_model(data), kind, board, rng.choice(_OPTIONS))
        except CodegenError as error:
            refused += 1
            assert str(error).isprintable() and len(str(error)) < 1000
        else:
            assert {f"{kind}.c", f"{kind}.h"} <= set(built.files)
        assert time.process_time() - start < _SECONDS
    assert refused > 0


@pytest.mark.parametrize("kind", MUTATIONS)
def test_the_command_refuses_damage_and_writes_nothing(
    kind: str, seed: int, tmp_path: Path
) -> None:
    path, out = tmp_path / "m.tflite", tmp_path / "out"
    for copy in range(1000):
        rng = random.Random(f"{seed} command {kind} {copy}")
        data = MUTATIONS[kind](zoo(), rng)
        if not _builds(data):
            break
    path.write_bytes(data)
    fails(run("build", path, "--board", "host", "-o", out))
    assert tree(tmp_path) == {"m.tflite"}


def _conv_over(kind: str, middle: tuple[int, ...], filters: tuple[int, ...]) -> bytes:
    """An operator of `kind` and a convolution over its result."""
    builder = ModelBuilder()
    x, y = builder.tensor((1, 4, 4, 2), scale=0.5), builder.tensor((1, 4, 4, 3), scale=0.5)
    between = builder.tensor(middle, scale=0.5)
    pads = builder.tensor((4, 2), "int32", data=[[0, 0], [1, 1], [1, 1], [0, 0]])
    w = builder.tensor(filters, scale=0.5, data=bytes(math.prod(filters)))
    builder.op(kind, [x, pads], [between], custom_name="Blend" * (kind == "CUSTOM"))
    builder.op("CONV_2D", [between, w, -1], [y], padding="VALID", stride_h=1, stride_w=1)
    return builder.build([x], [y])


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (_conv_over("CUSTOM", (1, 4, 4, 0), (3, 1, 1, 2)), "CUSTOM 'Blend'"),
        (_conv_over("PAD", (1, 6, 6, 2), (6,)), "must have four dimensions"),
    ],
)
def test_operators_between_which_nothing_fits(data: bytes, words: str) -> None:
    with pytest.raises(CodegenError, match=words):
        build(parse_model(data), "m", load_board("host"))


def test_a_shape_in_a_type_that_cannot_hold_it() -> None:
    builder = ModelBuilder()
    x, shape = builder.tensor((1, 2400), scale=0.5), builder.tensor((2,), "int8")
    builder.op("SHAPE", [x], [shape], out_type="INT32")
    with pytest.raises(CodegenError, match=r"operator 0 SHAPE .* is int8; only int32 or int64"):
        build(parse_model(builder.build([x], [shape])), "m", load_board("host"))


def _transpose(dtype: str, unused: str, *, output: bool = False) -> bytes:
    """A TRANSPOSE of one type, and an input of another that nothing reads."""
    builder = ModelBuilder()
    x, y = builder.tensor((2, 3), dtype), builder.tensor((3, 2), dtype)
    z = builder.tensor((2,), unused)
    order = builder.tensor((2,), "int32", data=[1, 0])
    builder.op("TRANSPOSE", [x, order], [y])
    return builder.build([x, z], [y, z] if output else [y])


@pytest.mark.parametrize("dtype", ["complex64", "int4", "string", "resource", "variant"])
def test_types_that_c_does_not_have(dtype: str) -> None:
    for output in (False, True):
        with pytest.raises(CodegenError, match=r'^tensor 2 "t2" \w+\[2\] is an input or output'):
            build(parse_model(_transpose("int8", dtype, output=output)), "m", load_board("host"))
    graph = parse_model(_transpose(dtype, "int8")).main
    with pytest.raises(CodegenError, match=f"^operator 0 TRANSPOSE .*is {dtype}, which has no C"):
        ops.lower(OpContext(graph, graph.nodes[0]))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64", "uint64", "bool", "int16"])
def test_types_that_are_only_moved(dtype: str, tmp_path: Path) -> None:
    """Whatever builds also compiles."""
    built = build(parse_model(_transpose(dtype, dtype)), "net", load_board("host"))
    write(built.files, tmp_path)
    run_c(tmp_path, [tmp_path / f for f in ("main_example.c", "net.c", "net_weights.c")])


def test_a_tensor_larger_than_any_microcontroller_is_refused_at_once() -> None:
    data = _conv_over("PAD", (1, 1 << 14, 1 << 13, 2), (3, 1, 1, 2))
    with pytest.raises(CodegenError, match="takes 268,435,456 bytes; no tensor may have more"):
        build(parse_model(data), "m", load_board("host"))
