"""What the tests of one-variable operators share: models of many operators, and their tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codegen import ops
from codegen.boards import load_board
from codegen.importer import parse_model
from codegen.ops.base import Lowered, OpContext, Table
from codegen.pipeline import BuildOptions, build
from codegen.verify.program import build_host_program
from codegen.verify.session import sources_of
from tests.oracle import run_reference
from tests.tflite_builder import ModelBuilder

ALL_CODES = np.arange(256).astype(np.uint8)
CODES = ("int8", "uint8", "int16", "int32")
ZERO_POINTS = (-128, -7, 0, 5, 127)
ALL_INT16 = np.arange(-(2**15), 2**15).astype(np.int16)
SYMMETRIC = (1 / 32768, 0)
"""The quantisation of int16 results in [-1, 1]."""


@dataclass(frozen=True)
class Unary:
    """One operator; `x` and `y` are (scale, zero point), ignored for types without codes."""

    op: str
    x: tuple[float, int] | None = None
    y: tuple[float, int] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    types: tuple[str, str] = ("int8", "int8")
    shape: tuple[int, ...] = (2, 8, 8, 8)


def unary_model(cases: Sequence[Unary]) -> bytes:
    """One model with an input and an output per case."""
    builder = ModelBuilder()
    inputs, outputs = [], []
    for case in cases:
        tensors = [
            builder.tensor(case.shape, dtype, *(quant if quant and _coded(case, dtype) else ()))
            for dtype, quant in zip(case.types, (case.x, case.y), strict=True)
        ]
        builder.op(case.op, tensors[:1], tensors[1:], **case.options)
        inputs.append(tensors[0])
        outputs.append(tensors[1])
    return builder.build(inputs, outputs)


def _coded(case: Unary, dtype: str) -> bool:
    """Whether elements are codes; int32 ones are numbers to all operators but QUANTIZE."""
    return dtype in CODES or (case.op == "QUANTIZE" and dtype == "int32")


def lowered(case: Unary) -> Lowered:
    """The operator of a case, lowered by itself."""
    graph = parse_model(unary_model([case])).main
    return ops.lower(OpContext(graph, graph.nodes[0]))


def table_of(case: Unary) -> NDArray[Any]:
    """The look-up table that the operator becomes, in the order of the codes as bytes."""
    params = dict(lowered(case).calls[0].params)
    table = params["table"]
    assert isinstance(table, Table)
    return table.values.view(case.types[1])


def reference_table(case: Unary) -> NDArray[Any]:
    """What the reference makes of every code, in the same order."""
    one_row = Unary(case.op, case.x, case.y, case.options, case.types, shape=(256,))
    return run_reference(unary_model([one_row]), [[ALL_CODES.view(case.types[0])]])[0][0]


def assert_tables_equal(cases: Sequence[Unary]) -> None:
    for case in cases:
        np.testing.assert_array_equal(table_of(case), reference_table(case), err_msg=str(case))


def compiled_outputs(data: bytes, inputs: Sequence[NDArray[Any]], workdir: Path) -> list[bytes]:
    """The outputs of the generated C, built with sanitizers, for one set of inputs."""
    built = build(parse_model(data), "case", load_board("host"), BuildOptions(name="net"))
    with build_host_program([sources_of(built)], workdir, sanitize=True) as program:
        result = program.run(0, [values.tobytes() for values in inputs], reset=False)
    assert result.status == 0
    return list(result.outputs)


def random_quant(
    rng: np.random.Generator, low: float = 1e-3, high: float = 1.0, dtype: str = "int8"
) -> tuple[float, int]:
    """A scale drawn evenly in its logarithm; zero points at the ends are frequent, int16 has 0."""
    scale = float(np.float32(np.exp(rng.uniform(np.log(low), np.log(high)))))
    zero_point = int(rng.choice([*ZERO_POINTS, rng.integers(-128, 128)]))
    return scale, {"int8": zero_point, "uint8": zero_point + 128, "int16": 0}[dtype]
