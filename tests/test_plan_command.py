"""`codegen plan`: the table, its JSON, the picture, and models that cannot be built."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result

from codegen.cli import cli
from tests.emit.programs import two_convolutions
from tests.paths import app_models, requires_models
from tests.tflite_builder import ModelBuilder


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(cli, ["plan", *map(str, words)])


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "two.tflite"
    path.write_bytes(two_convolutions())
    return path


def test_json_has_every_pair_of_strategies(model: Path) -> None:
    result = run(model, "--board", "host", "--json")
    assert result.exit_code == 0, result.output
    document = json.loads(result.output)
    keys = {"order", "arena", "bytes", "lower_bound", "proven", "seconds"}
    assert set(document["chosen"]) == keys
    pairs = {(s["order"], s["arena"]) for s in document["strategies"]}
    assert all(set(s) == keys for s in document["strategies"])
    assert {"model", "dfs", "bfs", "optimal"} == {o for o, _ in pairs}
    assert {"greedy", "two-ended", "pingpong", "optimal"} == {a for _, a in pairs}
    assert len(pairs) == len(document["strategies"])
    assert document["chosen"]["bytes"] == min(s["bytes"] for s in document["strategies"])
    assert document["peak"]["op"] in ("operator 0 CONV_2D", "operator 1 CONV_2D")
    assert document["peak"]["tensors"][0]["bytes"] == 144
    assert document["unsupported"] == {}


def test_table_names_the_choice_and_draws_the_map(model: Path) -> None:
    lines = run(model, "--board", "host").output.splitlines()
    assert lines[0].split() == ["order", "arena", "bytes", "bound", "gap", "seconds"]
    assert sum("<- chosen" in line for line in lines) == 1
    assert any(line.startswith("arena in ram") for line in lines)


def test_picture(model: Path, tmp_path: Path) -> None:
    picture = tmp_path / "arena.svg"
    assert run(model, "--board", "stm32f746", "--svg", picture).exit_code == 0
    root = ElementTree.parse(picture).getroot()
    assert root.tag.endswith("svg") and len(list(root.iter())) > 10
    assert "cannot write" in run(model, "--board", "host", "--svg", tmp_path / "no/x.svg").output


def test_what_cannot_be_built_is_planned_and_marked(tmp_path: Path) -> None:
    builder = ModelBuilder()
    x, y, z = (builder.tensor((1, 8), "float32") for _ in range(3))
    builder.op("SKIP_GRAM", [x], [y])
    builder.op("SKIP_GRAM", [y], [z])
    path = tmp_path / "float.tflite"
    path.write_bytes(builder.build([x], [z]))
    result = run(path, "--board", "host", "--json")
    document = json.loads(result.output)
    assert document["chosen"]["bytes"] == document["chosen"]["lower_bound"] == 64
    assert set(document["unsupported"]) == {"0", "1"}
    assert "2 operators cannot be built" in run(path, "--board", "host").output


@requires_models
def test_real_models_of_every_kind_are_planned(seed: int) -> None:
    """A sample of the deployed models, whatever their types and operators."""
    paths = app_models()
    for path in paths[seed % 14 :: 14]:
        result = run(path, "--board", "host", "--json")
        assert result.exit_code == 0, f"{path.name}: {result.output}"
        chosen = json.loads(result.output)["chosen"]
        assert chosen["lower_bound"] <= chosen["bytes"], path.name
