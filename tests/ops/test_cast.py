"""CAST between every two types, with the extremes of both."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from codegen.errors import CodegenError
from codegen.graph import Tensor
from tests.ops.equality import assert_equal, random_input
from tests.ops.unary import Unary, lowered, unary_model

FLOATS = ("float16", "float32", "float64")
TYPES = (*FLOATS, "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "bool")


def wide_input(tensor: Tensor, rng: np.random.Generator) -> NDArray[Any]:
    """Floats of all sizes, beyond every integer too, and what floats alone have."""
    if tensor.dtype.value not in FLOATS:
        return random_input(tensor, rng)
    sign = rng.choice((-1, 1), tensor.shape)
    values = sign * np.exp(rng.uniform(-2, 50, tensor.shape))
    ends = [s * 2.0**n + d for s in (1, -1) for n in (7, 8, 15, 16, 31, 32) for d in (-0.5, 0, 0.5)]
    special = rng.choice([np.nan, np.inf, -np.inf, -0.5, *ends], tensor.shape)
    with np.errstate(over="ignore"):
        return np.where(rng.random(tensor.shape) < 0.3, special, values).astype(tensor.dtype.numpy)


def test_halves(tmp_path: Path, rng: np.random.Generator) -> None:
    """To and from all of them, and to them from what lies between two, a little beside it, too."""
    halves = np.arange(2**16, dtype=np.uint16).view(np.float16)
    exact = np.sort(halves[np.isfinite(halves)].astype(np.float64))
    between = (exact[1:] + exact[:-1]) / 2
    floats = np.concatenate([between, between * (1 + 2.0**-20), between * (1 - 2.0**-20)])
    doubles = np.concatenate([between, between * (1 + 2.0**-40), between * (1 - 2.0**-40)])
    values = {"float16": halves, "float32": floats.astype(np.float32), "float64": doubles}
    targets = {"float16": "float32", "float32": "float16", "float64": "float16"}
    cases = {
        t: unary_model([Unary("CAST", types=(t, targets[t]), shape=v.shape)])
        for t, v in values.items()
    }
    assert_equal(cases, tmp_path, rng, inputs={t: [[v]] for t, v in values.items()})


@pytest.mark.parametrize("sanitize", [False, True])
def test_compiled(sanitize: bool, tmp_path: Path, rng: np.random.Generator) -> None:
    cases = [Unary("CAST", types=pair, shape=(3, 5, 7)) for pair in itertools.product(TYPES, TYPES)]
    models = {
        "all": unary_model(cases),
        "shape": unary_model([Unary("CAST", types=("int8", "int32"), shape=())]),
    }
    assert_equal(models, tmp_path, rng, draw=wide_input, sanitize=sanitize)


def test_integers_of_one_size_are_views() -> None:
    for pair in (("int8", "uint8"), ("bool", "int8"), ("int32", "uint32"), ("int16", "int16")):
        assert lowered(Unary("CAST", types=pair)).view_of is not None
    for pair in (("uint8", "bool"), ("float32", "int32")):
        assert lowered(Unary("CAST", types=pair)).view_of is None


def test_another_type_is_refused() -> None:
    with pytest.raises(CodegenError, match=r"operator 0 CAST .*is uint64; only float32"):
        lowered(Unary("CAST", types=("uint64", "int8")))
