"""Verification against TFLite Micro's interpreter."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from codegen.boards import load_board
from codegen.importer import parse_model
from codegen.pipeline import BuildOptions, build
from codegen.plan import PlanOptions
from codegen.verify.inputs import random_set
from codegen.verify.session import Session, make_session, verify_host
from tests.ops.weighted import Format, Layer, weighted_model

DENSE = Layer("FULLY_CONNECTED", (1, 40), 200)
FORM = Format("int8", "int8", "int32", (-3, 0, 7), scale_out=0.02)


@pytest.mark.parametrize(("reference", "equal"), [("tflm", True), ("litert", False)])
def test_only_its_own_rounding_is_equal(
    reference: str, equal: bool, tmp_path: Path, rng: np.random.Generator
) -> None:
    """A layer that TFLite Micro rounds otherwise, built for either runtime."""
    pytest.importorskip("tflite_micro")
    data = weighted_model(rng, (DENSE, FORM))
    model, board = parse_model(data), load_board("host")
    micro = build(
        model, "case", board, BuildOptions(name="net", plan=PlanOptions(reference="tflm"))
    )
    tensors = [model.main.tensors[t] for t in model.main.inputs]
    sets = [random_set(tensors, rng) for _ in range(20)]
    expected = make_session(model, data, micro, sets)
    options = BuildOptions(name="net", plan=PlanOptions(reference=reference))
    session = Session(build(model, "case", board, options), expected.cases)
    assert verify_host(session, lambda text: None).equal is equal
