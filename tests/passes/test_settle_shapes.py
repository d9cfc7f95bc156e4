"""Sizes that the file leaves open: found from the inputs, equal to those of the interpreter."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from codegen.cli import cli
from codegen.errors import Unsupported
from codegen.importer import InputShape, open_inputs, parse_model
from codegen.pipeline import BuildOptions, prepare_graph
from tests.tflite_builder import ModelBuilder


def rows_first() -> bytes:
    """x[-1,-1,-1,3], convolved, then as [batch, rows, columns * 4] whatever its size is."""
    builder = ModelBuilder()
    x = builder.tensor((1, 1, 1, 3), scale=0.5, signature=(-1, -1, -1, 3), name="image")
    w = builder.tensor((4, 2, 2, 3), scale=0.25, data=[(7 * i) % 19 - 9 for i in range(48)])
    bias = builder.tensor((4,), "int32", scale=0.125, data=[5, -5, 0, 40])
    y = builder.tensor((1, 1, 1, 4), scale=0.5, signature=(-1, -1, -1, 4))
    builder.op("CONV_2D", [x, w, bias], [y], padding="SAME", stride_h=2, stride_w=1)
    sizes = builder.tensor((4,), "int32")
    builder.op("SHAPE", [y], [sizes], out_type="INT32")

    def ints(*values: int) -> int:
        return builder.tensor((len(values),), "int32", data=list(values))

    batch_and_rows = builder.tensor((2,), "int32")
    builder.op("STRIDED_SLICE", [sizes, ints(0), ints(2), ints(1)], [batch_and_rows])
    wanted = builder.tensor((3,), "int32")
    builder.op("CONCATENATION", [batch_and_rows, ints(-1)], [wanted], axis=0)
    z = builder.tensor((1, 1, 4), scale=0.5, signature=(-1, -1, -1))
    builder.op("RESHAPE", [y, wanted], [z])
    halves = [builder.tensor((1, 1, 2), scale=0.5, signature=(-1, -1, -1)) for _ in range(2)]
    axis = builder.tensor((), "int32", data=[2])
    builder.op("SPLIT", [axis, z], halves, num_splits=2)
    return builder.build([x], halves)


@pytest.mark.parametrize("sizes", [(1, 6, 5, 3), (2, 7, 4, 3), (1, 1, 1, 3)])
def test_shapes_follow_from_the_inputs(sizes: tuple[int, ...], tmp_path: Path) -> None:
    net = tmp_path / "net.tflite"
    net.write_bytes(rows_first())
    n, h, w, _ = sizes
    graph = prepare_graph(
        parse_model(net.read_bytes(), shapes=[InputShape(None, sizes)]), BuildOptions()
    )
    assert [graph.tensors[t].shape for t in graph.outputs] == [(n, (h + 1) // 2, w * 2)] * 2
    shape = ",".join(map(str, sizes))
    args = ["verify", str(net), "--board", "host", "--samples", "2", "--shape", f"image={shape}"]
    result = CliRunner().invoke(cli, args)
    assert result.exit_code == 0, result.output
    assert "note:" not in result.output


def test_placeholders_are_used_and_noted(tmp_path: Path) -> None:
    net = tmp_path / "net.tflite"
    net.write_bytes(rows_first())
    result = CliRunner().invoke(cli, ["verify", str(net), "--board", "host", "--samples", "2"])
    assert result.exit_code == 0, result.output
    assert "note: the file leaves axis 1, 2 of input tensor 0" in result.stderr
    assert [t.name for t in open_inputs(parse_model(net.read_bytes()).main)] == ["image"]


@pytest.mark.parametrize(
    ("name", "sizes", "message"),
    [
        (None, (1, 6, 5, 4), "the file fixes axis 3"),
        (None, (1, 6, 5), "it has 4 dimensions"),
        ("picture", (1, 6, 5, 3), "no inputs have the name 'picture'; the model has: image="),
        (None, (1, 60000, 60000, 3), "pass 2 GiB"),
    ],
)
def test_shapes_that_are_not_possible(
    name: str | None, sizes: tuple[int, ...], message: str
) -> None:
    with pytest.raises(Unsupported, match=message):
        parse_model(rows_first(), shapes=[InputShape(name, sizes)])


def test_a_shape_without_a_name_needs_a_single_input() -> None:
    builder = ModelBuilder()
    x, y = (builder.tensor((1, 2), scale=0.5, signature=(-1, -1)) for _ in range(2))
    z = builder.tensor((1, 2), scale=0.5, signature=(-1, -1))
    builder.op("ADD", [x, y], [z])
    with pytest.raises(Unsupported, match="names none of 2 inputs"):
        parse_model(builder.build([x, y], [z]), shapes=[InputShape(None, (1, 3))])


@pytest.mark.parametrize("words", ["1,0,3", "1;2", "1,-1", "x=", ""])
def test_words_that_are_no_shape(words: str, tmp_path: Path) -> None:
    net = tmp_path / "net.tflite"
    net.write_bytes(rows_first())
    result = CliRunner().invoke(cli, ["plan", str(net), "--board", "host", "--shape", words])
    assert result.exit_code == 2
    assert "is no shape such as 1,96,96,3" in result.stderr


def test_a_fixed_file_is_held_against_its_operators() -> None:
    """Nothing is guessed where the file leaves nothing open."""
    builder = ModelBuilder()
    x = builder.tensor((1, 4), scale=0.5)
    y = builder.tensor((1, 5), scale=0.5)
    builder.op("RELU", [x], [y])
    graph = prepare_graph(parse_model(builder.build([x], [y])), BuildOptions())
    assert graph.tensors[y].shape == (1, 5)
