"""Loops that do not end on every input: `verify` keeps such inputs from the interpreter."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from codegen.boards import load_board
from codegen.importer import parse_model
from codegen.pipeline import build
from codegen.verify.endless import ending
from codegen.verify.session import sources_of
from tests.ops.control import BOOL, Kind, Scope, model
from tests.test_cli import run

NUMBER = Kind((), "float32")


def doubling() -> bytes:
    """Doubles its input as long as that is below 1: for ever if it is not above 0."""

    def condition(s: Scope, x: list[int]) -> Sequence[int]:
        return [s.op("LESS", [x[0], s.constant(1.0, NUMBER)], BOOL)]

    def body(s: Scope, x: list[int]) -> Sequence[int]:
        return [s.add(x[0], x[0], NUMBER)]

    return model([NUMBER], lambda s, x: s.loop(x, [NUMBER], condition, body))


def test_sets_on_which_a_loop_does_not_end_are_left_out() -> None:
    built = build(parse_model(doubling()), "net", load_board("host"))
    sets = [(np.array(x, np.float32),) for x in (0.1, 0.0, 3.0)]
    kept = ending(sources_of(built), sets, patience=0.5)
    assert [float(values[0]) for values in kept] == [np.float32(0.1), 3.0]


def test_verify_says_how_many(tmp_path: Path) -> None:
    path = tmp_path / "net.tflite"
    path.write_bytes(doubling())
    inputs = tmp_path / "in.npz"
    np.savez(inputs, input=np.array([0.25, 5.0], np.float32))
    options = ["--board", "host", "--samples", "0", "--inputs", str(inputs)]
    result = run("verify", path, *options, "--json")
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    host = report["targets"]["host"]
    # Of the edges (-128, 127 and 0) the loop ends on one; the user's sets are always run.
    assert (report["equal"], report["endless_inputs"], host["runs"]) == (True, 2, 6)
    assert host["unseen_tensors"] == 3
