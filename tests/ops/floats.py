"""Models of float operators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.tflite_builder import ModelBuilder, OptionValue

Shape = tuple[int, ...]


@dataclass(frozen=True)
class FloatOp:
    """One operator on float32.

    Attributes:
        op: the schema's name.
        inputs: shapes of the inputs that are computed.
        output: shape of the result.
        constants: what follows the inputs: a shape (random weights), values, or None (absent).
        options: of the operator.
    """

    op: str
    inputs: Sequence[Shape]
    output: Shape
    constants: Sequence[Shape | NDArray[Any] | None] = ()
    options: Mapping[str, OptionValue] = field(default_factory=dict)


def float_model(cases: Sequence[FloatOp], rng: np.random.Generator) -> bytes:
    """One model of all the operators, each with inputs and an output of its own."""
    builder = ModelBuilder()
    inputs, outputs = [], []
    for case in cases:
        computed = [builder.tensor(shape, "float32") for shape in case.inputs]
        constants = [_constant(builder, constant, rng) for constant in case.constants]
        y = builder.tensor(case.output, "float32")
        builder.op(case.op, [*computed, *constants], [y], 1, **case.options)
        inputs += computed
        outputs.append(y)
    return builder.build(inputs, outputs)


def _constant(
    builder: ModelBuilder, given: Shape | NDArray[Any] | None, rng: np.random.Generator
) -> int:
    if given is None:
        return -1
    values = rng.normal(0, 1, given).astype(np.float32) if isinstance(given, tuple) else given
    return builder.tensor(values.shape, values.dtype.name, data=values)
