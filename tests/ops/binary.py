"""What the tests of two-operand operators share: models of many operators, and their sweeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from codegen import ops
from codegen.importer import parse_model
from codegen.ops.base import Lowered, OpContext
from tests.tflite_builder import ModelBuilder

Shape = tuple[int, ...]
Quant = tuple[float, int]
Quants = tuple[Quant | None, Quant | None, Quant | None]
NO_QUANTS: Quants = (None, None, None)

# Equal shapes, then broadcasting in one direction, in both, and past four dimensions; the last
# ones do not merge into four.
SHAPES: tuple[tuple[Shape, Shape], ...] = (
    ((), ()),
    ((5,), (5,)),
    ((3, 4, 5, 6), (3, 4, 5, 6)),
    ((2, 3, 2, 3, 2), (2, 3, 2, 3, 2)),
    ((1, 1, 9, 1), (1, 1, 9, 1)),
    ((3, 4, 5, 6), ()),
    ((3, 4, 5, 6), (1, 1, 1, 1)),
    ((3, 4, 5, 6), (6,)),
    ((3, 4, 5, 6), (1, 1, 1, 6)),
    ((3, 4, 5, 6), (3, 1, 1, 6)),
    ((3, 4, 5, 6), (4, 5, 1)),
    ((3, 4, 5, 6), (3, 1, 5, 1)),
    ((3, 4, 5, 6), (4, 1, 6)),
    ((3, 4, 5, 6), (3, 1, 1, 1)),
    ((3, 1, 5, 1), (1, 4, 1, 6)),
    ((3, 4, 1), (1, 7)),
    ((1, 8, 8, 1), (1, 8, 8, 5)),
    ((3, 4, 5, 1), (4, 1, 1)),
    ((2, 3, 4, 5, 2), (2,)),
    ((2, 3, 4, 5, 2), (1, 1, 4, 5, 2)),
    ((2, 3, 4, 5, 2), (1, 3, 1, 5, 1)),
    ((2, 1, 3, 1, 4), (1, 3, 1, 2, 1)),
    ((2, 1, 3, 1, 4, 1), (1, 2, 1, 2, 1, 2)),
)


@dataclass(frozen=True)
class Binary:
    """One operator; quantisations are (scale, zero point), left out for types without codes.

    `types` are those of the operands and of the output. `constant`: "a", "b" or neither.
    `twice`: the same tensor is both operands.
    """

    op: str
    a: Shape = (2, 3, 5, 7)
    b: Shape = (2, 3, 5, 7)
    types: tuple[str, str] = ("int8", "int8")
    quants: Quants = ((0.05, 3), (0.08, -7), (0.1, 5))
    activation: str | None = None
    constant: str = ""
    twice: bool = False
    options: Mapping[str, bool] = field(default_factory=dict)


def codes(dtype: str, quant: Quant | None) -> tuple[float | None, int | None]:
    """The quantisation of a tensor; that of uint8 means the same as the int8 one."""
    if quant is None or dtype not in ("int8", "uint8", "int16"):
        return None, None
    shift = {"int8": 0, "uint8": 128, "int16": -quant[1]}[dtype]
    return quant[0], quant[1] + shift


def constant_values(shape: Shape, dtype: str, rng: np.random.Generator) -> NDArray[np.generic]:
    """Any 8-bit codes; of other types few enough values that some are equal, and none is 0."""
    if dtype in ("int8", "uint8"):
        return rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max + 1, shape).astype(dtype)
    values = rng.integers(1, 5, shape) * rng.choice((-1, 1), shape)
    return np.abs(values) > 2 if dtype == "bool" else values.astype(dtype)


def binary_model(cases: Sequence[Binary], rng: np.random.Generator) -> bytes:
    """One model of all the operators, each with operands and an output of its own."""
    builder = ModelBuilder()
    inputs: list[int] = []
    outputs: list[int] = []
    for case in cases:
        operands = []
        shapes = {"a": case.a} if case.twice else {"a": case.a, "b": case.b}
        for (name, shape), quant in zip(shapes.items(), case.quants, strict=False):
            constant = case.constant == name
            data = constant_values(shape, case.types[0], rng) if constant else None
            operands.append(
                builder.tensor(shape, case.types[0], *codes(case.types[0], quant), data)
            )
            inputs += [] if constant else [operands[-1]]
        y_shape = np.broadcast_shapes(*shapes.values())
        y = builder.tensor(y_shape, case.types[1], *codes(case.types[1], case.quants[2]))
        fused = {} if case.activation is None else {"fused_activation_function": case.activation}
        builder.op(case.op, (operands * 2)[:2], [y], **fused, **case.options)
        outputs.append(y)
    return builder.build(inputs, outputs)


def lowered(case: Binary, rng: np.random.Generator) -> Lowered:
    """The operator of a case, lowered by itself."""
    graph = parse_model(binary_model([case], rng)).main
    return ops.lower(OpContext(graph, graph.nodes[0]))


def shape_cases(case: Binary) -> list[Binary]:
    """Every pair of shapes, swapped for every other one, with constants on either side."""
    cases = []
    for i, (a, b) in enumerate(SHAPES):
        a, b = (a, b) if i % 2 else (b, a)
        cases.append(replace(case, a=a, b=b))
        cases.append(replace(case, a=b, b=a, constant="ab"[i // 2 % 2]))
    return [*cases, replace(case, twice=True)]


def quant_cases(case: Binary, rng: np.random.Generator) -> list[Binary]:
    """Zero points at both ends, and scales of the operands and the output that differ a lot."""
    ends = [
        replace(case, quants=((0.05, za), (0.08, zb), (0.1, zy)))
        for za, zb, zy in ((-128, 127, 0), (127, 127, -128), (-128, -128, 127), (127, -128, 3))
    ]
    ratios = [
        replace(case, quants=((0.02, -3), (0.02 * b, 8), (0.02 * max(b, 1.0) * y, -1)))
        for b in (1e-3, 0.1, 1.0, 7.0, 1e3)
        for y in (1e-3, 0.5, 1.0, 1.9, 1e3)
    ]
    return ends + ratios
