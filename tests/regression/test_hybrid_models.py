"""Weights of one type under activations of another stop the build, with all that one needs to know.

Elsewhere a model quantised in its weights alone ("dynamic range") failed on the board, at run time.
"""

from __future__ import annotations

import numpy as np
import pytest

from codegen.errors import CodegenError
from tests.emit.programs import make_build
from tests.tflite_builder import ModelBuilder


@pytest.mark.parametrize(
    ("weights", "activations", "culprit"),
    [
        ("int16", "int8", "int16"),
        ("float32", "int8", "float32"),
    ],
)
def test_refused_with_operator_tensors_types_and_remedy(
    weights: str, activations: str, culprit: str
) -> None:
    builder = ModelBuilder()
    x, y = (builder.tensor((1, n), activations, 0.1) for n in (8, 4))
    w = builder.tensor((4, 8), weights, 0.1, data=np.ones((4, 8)))
    builder.op("FULLY_CONNECTED", [x, w], [y], version=4)
    with pytest.raises(CodegenError) as caught:
        make_build(builder.build([x], [y]))
    message = str(caught.value)
    assert message.startswith("operator 0 FULLY_CONNECTED (")
    for word in (f"{activations}[1,8]", f"{weights}[4,8]", f"is {culprit}", "int8, activations"):
        assert word in message
    assert message.endswith("(representative_dataset)") and "\n" not in message
