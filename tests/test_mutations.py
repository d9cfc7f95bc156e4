"""Damaged models end in InvalidModel with one line, or in a model that can be inspected."""

from __future__ import annotations

import random
import time
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from codegen.errors import InvalidModel
from codegen.importer import parse_model
from codegen.inspection import inspect_model, inspection_text
from tests import paths
from tests.importer_models import conv_model
from tests.mutations import MUTATIONS
from tests.tflite_builder import ModelBuilder

_COPIES = 40  # per kind of mutation
_SECONDS = 5.0  # the longest that one file may take
_REPO = Path(__file__).resolve().parent.parent


def _many_kinds() -> bytes:
    """Subgraphs, a variable, sub-byte constants, vectors and strings in options, a custom op."""
    builder = ModelBuilder("many kinds")
    x = builder.tensor((1, 4, 4, 2), "int8", 0.5, 3, signature=(-1, 4, 4, 2))
    w = builder.tensor((3, 3), "int4", [0.5, 1.0, 2.0], data=np.arange(9) - 4)
    pads = builder.tensor((4, 2), "int32", data=np.array([[0, 0], [1, 1], [1, 1], [0, 0]]))
    state = builder.tensor((1, 8), "int16", 0.25, 0, is_variable=True)
    a, b, c = (builder.tensor((1, 6, 6, 2), "int8", 0.5, 3) for _ in range(3))
    flat = builder.tensor((1, 72), "int8", 0.5, 3)
    handle, read = builder.tensor((), "resource"), builder.tensor((2, 2), "float32")
    builder.op("MIRROR_PAD", [x, pads], [a], 2, mode="REFLECT")
    builder.op("ADD", [a, a], [b], 2, fused_activation_function="RELU6")
    builder.op("CUSTOM", [b, -1, w, state], [c], custom_name="Blend", custom_options=b"\x01\x02")
    builder.op("RESHAPE", [c], [flat], new_shape=(-1, 72))
    builder.op("VAR_HANDLE", [], [handle], container="", shared_name="memory")
    builder.op("READ_VARIABLE", [handle], [read])
    builder.op("CALL_ONCE", [], [], init_subgraph_index=1)
    builder.op(
        "STABLEHLO_TRANSPOSE", [read], [builder.tensor((2, 2), "float32")], permutation=(1, 0)
    )
    init = builder.subgraph("init")
    y, z = init.tensor((2,), "bool"), init.tensor((2,), "bool")
    init.op("LOGICAL_NOT", [y], [z])
    init.interface([y], [z])
    builder.signature(["image"], ["features"])
    return builder.build([x], [flat])


@cache
def _originals() -> tuple[bytes, ...]:
    """Valid files to damage: made here, the demo's, and small real ones where there are any."""
    files = paths.app_models() + paths.optest_models()
    small = sorted((path for path in files if path.stat().st_size < 12_000), key=lambda p: p.name)
    real = [path.read_bytes() for path in small[::4]]
    demo = (_REPO / "docs" / "demo" / "digits.tflite").read_bytes()
    return (conv_model(), _many_kinds(), demo, *real)


def test_the_originals_are_valid() -> None:
    for data in _originals():
        assert parse_model(data).main.tensors


@pytest.mark.parametrize("kind", MUTATIONS)
def test_damage_ends_in_one_line_or_a_model(kind: str, seed: int) -> None:
    refused = 0
    for copy in range(_COPIES):
        rng = random.Random(f"{seed} {kind} {copy}")
        data = MUTATIONS[kind](rng.choice(_originals()), rng)
        start = time.perf_counter()
        try:
            model = parse_model(data)
        except InvalidModel as error:
            refused += 1
            assert str(error).isprintable(), str(error)
            assert len(str(error)) < 500
        else:
            assert inspection_text(inspect_model(model, kind))
        assert time.perf_counter() - start < _SECONDS
    assert refused > 0
