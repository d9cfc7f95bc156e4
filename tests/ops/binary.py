"""What the tests of two-operand operators share: models of many operators, and their sweeps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from codegen import ops
from codegen.importer import parse_model
from codegen.ops.base import Lowered, OpContext
from tests.tflite_builder import ModelBuilder

Shape = tuple[int, ...]
Quant = tuple[float, int]

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
    """One operator; quantisations are (scale, zero point). `constant`: "a", "b" or neither.

    `twice`: the same tensor is both operands.
    """

    op: str
    a: Shape = (2, 3, 5, 7)
    b: Shape = (2, 3, 5, 7)
    quants: tuple[Quant, Quant, Quant] = ((0.05, 3), (0.08, -7), (0.1, 5))
    activation: str | None = None
    constant: str = ""
    twice: bool = False


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
            data = rng.integers(-128, 128, shape) if constant else None
            operands.append(builder.tensor(shape, "int8", *quant, data=data))
            inputs += [] if constant else [operands[-1]]
        y = builder.tensor(np.broadcast_shapes(*shapes.values()), "int8", *case.quants[2])
        fused = {} if case.activation is None else {"fused_activation_function": case.activation}
        builder.op(case.op, (operands * 2)[:2], [y], 2, **fused)
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
