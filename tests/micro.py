"""TFLite Micro's interpreter, for `--reference tflm`; tests skip where it is not installed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

Array = NDArray[Any]

_ARENA_BYTES = 4 << 20


def run_micro(model: bytes, inputs: Sequence[Sequence[Array]], outputs: int) -> list[list[Array]]:
    """Run the model on each set of inputs; per set its outputs in order."""
    runtime = pytest.importorskip("tflite_micro").runtime
    interpreter = runtime.Interpreter.from_bytes(model, arena_size=_ARENA_BYTES)
    results = []
    for values in inputs:
        for i, value in enumerate(values):
            interpreter.set_input(value, i)
        interpreter.invoke()
        results.append([np.array(interpreter.get_output(i)) for i in range(outputs)])
    return results
