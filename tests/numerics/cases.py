"""Random one-operator models for comparing the formulas with LiteRT."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tests.numerics.blocks import Q
from tests.oracle import run_reference
from tests.tflite_builder import ModelBuilder

Pair = tuple[NDArray[Any], NDArray[Any]]
ACTIVATIONS = ("NONE", "RELU", "RELU6", "RELU_N1_TO_1")


@dataclass(frozen=True)
class Constant:
    """A constant operand; `scale` is one number or one per slice of `axis`."""

    data: NDArray[Any]
    dtype: str
    scale: ArrayLike | None = None
    zero_point: ArrayLike | None = None
    axis: int = 0


class Draw:
    """Random quantisations, codes and choices."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng

    def q(self, low: float = 5e-4, high: float = 0.3) -> Q:
        """A scale drawn evenly in its logarithm; extreme zero points are frequent."""
        scale = np.float32(np.exp(self.rng.uniform(np.log(low), np.log(high))))
        return Q(scale, int(self.rng.choice([-128, 127, 0, self.below(-128, 128)])))

    def codes(self, *shape: int) -> NDArray[np.int8]:
        return self.rng.integers(-128, 128, shape).astype(np.int8)

    def below(self, low: int, end: int) -> int:
        return int(self.rng.integers(low, end))

    def pair(self, low: int, end: int) -> tuple[int, int]:
        return self.below(low, end), self.below(low, end)

    def one_of(self, choices: Sequence[Any]) -> Any:
        return choices[self.below(0, len(choices))]

    def weight_scales(self, count: int) -> NDArray[np.float32]:
        return np.exp(self.rng.uniform(-8, -2, count)).astype(np.float32)


def run_operator(
    kind: str,
    inputs: Sequence[tuple[NDArray[Any], Q | None]],
    output: tuple[Sequence[int], str, Q | None],
    version: int = 1,
    constants: Sequence[Constant] = (),
    **options: Any,
) -> NDArray[Any]:
    """Run one operator in LiteRT: variable inputs first, then constants; returns its output."""
    builder = ModelBuilder()

    def variable(shape: Sequence[int], dtype: str, q: Q | None) -> int:
        scale, zero = (None, None) if q is None else (float(q.scale), q.zero_point)
        return builder.tensor(shape, dtype, scale, zero)

    variables = [variable(x.shape, x.dtype.name, q) for x, q in inputs]
    fixed = [
        builder.tensor(c.data.shape, c.dtype, c.scale, c.zero_point, c.data, axis=c.axis)
        for c in constants
    ]
    result = variable(*output)
    builder.op(kind, [*variables, *fixed], [result], version, **options)
    ((y,),) = run_reference(builder.build(variables, [result]), [[x for x, _ in inputs]])
    return y
