"""LOGICAL_AND, LOGICAL_OR, LOGICAL_NOT."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from codegen.errors import CodegenError
from tests.ops.binary import Binary, binary_model, lowered, shape_cases
from tests.ops.equality import assert_equal
from tests.ops.unary import Unary, unary_model

KINDS = ("LOGICAL_AND", "LOGICAL_OR")
BOOLS = ("bool", "bool")


@pytest.mark.parametrize("sanitize", [False, True])
def test_compiled(sanitize: bool, tmp_path: Path, rng: np.random.Generator) -> None:
    models = {op: binary_model(shape_cases(Binary(op, types=BOOLS)), rng) for op in KINDS}
    shapes = ((), (7,), (2, 1, 3, 1, 5), (3, 5, 7))
    cases = [Unary("LOGICAL_NOT", types=BOOLS, shape=shape) for shape in shapes]
    models["LOGICAL_NOT"] = unary_model(cases)
    assert_equal(models, tmp_path, rng, sanitize=sanitize)


def test_another_type_is_refused(rng: np.random.Generator) -> None:
    with pytest.raises(CodegenError, match=r"operator 0 LOGICAL_OR .*is int8; only bool is"):
        lowered(Binary("LOGICAL_OR"), rng)
