"""The PL081 port on QEMU: real registers, real linked list items, the interpreter's bytes.

A plain run takes the smallest model; `--full` takes kws, ic and vww too.
"""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from codegen.importer import load_model
from codegen.verify.inputs import random_set
from codegen.verify.session import make_session, verify_emulator
from tests.npu.test_models import MODELS, NAMES, built
from tests.paths import requires_models

BOARD = "mps2-an505-dma"

pytestmark = [
    requires_models,
    pytest.mark.skipif(
        not (shutil.which("qemu-system-arm") and shutil.which("arm-none-eabi-gcc")),
        reason="needs qemu-system-arm and arm-none-eabi-gcc",
    ),
]


def equal(name: str, rng: np.random.Generator) -> None:
    assert MODELS is not None
    path = MODELS / "app" / f"{NAMES[name]}.tflite"
    result = built(name, BOARD)
    tensors = [result.plan.graph.tensors[t] for t in result.plan.graph.inputs]
    session = make_session(load_model(path), path.read_bytes(), result, [random_set(tensors, rng)])
    found = verify_emulator(session, lambda text: None)
    assert found.equal, found


def test_small_model(rng: np.random.Generator) -> None:
    equal("ad", rng)


@pytest.mark.full
@pytest.mark.parametrize("name", ["kws", "ic", "vww"])
def test_models(name: str, rng: np.random.Generator) -> None:
    equal(name, rng)
