"""Wake word models that listen all day: equal to the interpreter step by step, and after a reset.

They come with the package `pymicro-wakeword`, are int8 and keep the frames that their convolutions
still need in variables.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from codegen.boards import load_board
from codegen.importer import load_model
from codegen.pipeline import build
from tests.ops.sequences import assert_sequences_equal


def wake_word_models() -> list[Path]:
    """The package's .tflite files."""
    package = find_spec("pymicro_wakeword")
    if package is None or package.origin is None:
        pytest.skip("pymicro-wakeword is not installed")
    found = sorted(Path(package.origin).parent.rglob("*.tflite"))
    if not found:
        pytest.skip("this version of pymicro-wakeword has no models")
    return found


def test_fifty_steps_and_a_reset_in_between(tmp_path: Path, rng: np.random.Generator) -> None:
    models = {path.stem: path.read_bytes() for path in wake_word_models()}
    assert_sequences_equal(models, tmp_path, rng, steps=50)


def test_their_state_lies_apart_from_the_arena() -> None:
    for path in wake_word_models():
        built = build(load_model(path), path.stem, load_board("host"))
        states = built.plan.graph.states
        assert states and sum(built.plan.state_bytes.values()) >= sum(
            built.plan.graph.tensors[state.start].nbytes for state in states
        )
