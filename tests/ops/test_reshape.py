"""RESHAPE against the reference: both ways to give the shape, -1, scalars; views and copies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from codegen.plan import PlanOptions
from tests.ops.equality import assert_equal
from tests.ops.movement import TYPES, assert_refused, layer_notes, moving_model, quant
from tests.tflite_builder import ModelBuilder


def reshape_model(shape: Any, out: Any, wanted: Any = None, **options: Any) -> bytes:
    constants = [] if wanted is None else [np.array(wanted, np.int64)]
    return moving_model("RESHAPE", shape, [out], constants, **options)


CASES = {
    "shape": reshape_model((1, 3, 4, 2), (6, 4), (6, 4)),
    "-1": reshape_model((2, 3, 4), (2, 12), (2, -1)),
    "-1 that is 1": reshape_model((2, 3), (2, 1, 3), (2, -1, 3)),
    "option": reshape_model((2, 3, 4), (4, 6), new_shape=(4, 6)),
    "option -1": reshape_model((2, 3, 4), (4, 6), new_shape=(-1, 6)),
    "both": reshape_model((2, 3, 4), (4, 6), (4, 6), new_shape=(24,)),
    "to a scalar": reshape_model((1, 1), (), (), dtype="int32"),
    "to a scalar, old option": reshape_model((1, 1), (), new_shape=(0,)),
    "from a scalar": reshape_model((), (1, 1, 1), (1, 1, -1)),
    "rank 6": reshape_model((4, 9), (2, 2, 1, 3, 1, 3), (2, 2, 1, 3, 1, 3)),
}


def test_shapes(tmp_path: Path, rng: np.random.Generator) -> None:
    types = {t: reshape_model((2, 3, 4), (6, 4), (6, 4), dtype=t) for t in TYPES}
    assert_equal(CASES | types, tmp_path, rng, samples=2)


def test_copies_between_the_callers_buffers(tmp_path: Path, rng: np.random.Generator) -> None:
    plan = PlanOptions(caller_io=True)
    assert_equal(CASES, tmp_path, rng, samples=1, sanitize=True, plan=plan)


def test_is_a_view() -> None:
    assert "no code" in layer_notes(CASES["shape"])[0]


def test_refusals() -> None:
    assert_refused(reshape_model((2, 3), (4, 2), (4, 2)), r"RESHAPE: .*int8\[2,3\] cannot become")
    assert_refused(reshape_model((2, 3), (2, 3), (3, 2)), r"where the operator makes \[3, 2\]")
    assert_refused(reshape_model((2, 3), (2, 3), (-1, -1)), r"\[-1, -1\] is no shape")
    assert_refused(reshape_model((2, 3), (4, 2), (4, -1)), r"6 elements do not fill \[4, -1\]")
    builder = ModelBuilder()
    x, shape = builder.tensor((2, 3), **quant("int8")), builder.tensor((2,), "int32")
    y = builder.tensor((3, 2), **quant("int8"))
    builder.op("RESHAPE", [x, shape], [y])
    assert_refused(builder.build([x, shape], [y]), "computed at run time; only a constant")
