"""Holds generated C against the reference interpreter, many models per compiler call.

A test makes models with `tests.tflite_builder.ModelBuilder`, then calls `assert_equal` with all of
them at once: each is built for the board `host`, all are compiled into one program, and each is run
on seeded random inputs and edge values, twice in a row, with every output compared byte by byte.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codegen.boards import load_board
from codegen.graph import DType, Model, Tensor
from codegen.importer import parse_model
from codegen.pipeline import BuildOptions, build
from codegen.plan import PlanOptions
from codegen.verify.program import build_host_program
from codegen.verify.session import sources_of
from tests import oracle

Array = NDArray[Any]


def random_input(tensor: Tensor, rng: np.random.Generator) -> Array:
    """Values over the whole range of an integer type, or a few units around 0 for floats."""
    dtype = tensor.dtype.numpy
    assert dtype is not None
    if tensor.dtype is DType.BOOL:
        return rng.integers(0, 2, tensor.shape).astype(np.bool_)
    if np.issubdtype(dtype, np.floating):
        return rng.normal(0, 4, tensor.shape).astype(dtype)
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, tensor.shape, dtype.type, endpoint=True)


def edge_inputs(tensors: Sequence[Tensor]) -> list[list[Array]]:
    """All smallest, all largest, all zero points."""
    sets: list[list[Array]] = [[], [], []]
    for tensor in tensors:
        dtype = tensor.dtype.numpy
        assert dtype is not None
        if np.issubdtype(dtype, np.integer):
            info, quant = np.iinfo(dtype), tensor.quant
            zero = quant.zero_point if quant and quant.scales else 0
            values: tuple[Any, ...] = (info.min, info.max, zero)
        else:
            values = (0, 1, 0) if tensor.dtype is DType.BOOL else (-100.0, 100.0, 0.0)
        for values_of_set, value in zip(sets, values, strict=True):
            values_of_set.append(np.full(tensor.shape, value, dtype))
    return sets


SPECIAL_FLOATS = (0.0, -0.0, 1e-45, -1e-38, 1.5e-38, 3e38, -3e38, np.inf, -np.inf, np.nan)


def special_input(model: Model, rng: np.random.Generator) -> list[Array]:
    """A random set, one element in eight of which is zero, tiny, huge, infinite or no number."""
    values = [random_input(model.main.tensors[t], rng) for t in model.main.inputs]
    for array in values:
        if np.issubdtype(array.dtype, np.floating):
            rare = rng.random(array.shape) < 1 / 8
            array[rare] = rng.choice(np.array(SPECIAL_FLOATS), array.shape)[rare]
    return values


Draw = Callable[[Tensor, np.random.Generator], Array]
"""Random values for an input."""


def input_sets(
    model: Model,
    samples: int,
    rng: np.random.Generator,
    draw: Draw = random_input,
) -> list[list[Array]]:
    """`samples` random sets and the edge sets."""
    tensors = [model.main.tensors[t] for t in model.main.inputs]
    sets = [[draw(t, rng) for t in tensors] for _ in range(samples)]
    return sets + edge_inputs(tensors)


def assert_equal(
    cases: Mapping[str, bytes],
    workdir: Path,
    rng: np.random.Generator,
    *,
    samples: int = 4,
    draw: Draw = random_input,
    sanitize: bool = False,
    flags: Sequence[str] = (),
    plan: PlanOptions | None = None,
    board: str = "host",
    tolerance: float = 0.0,
    specials: int = 0,
    reference: Mapping[str, bytes] = MappingProxyType({}),
    inputs: Mapping[str, list[list[Array]]] = MappingProxyType({}),
) -> None:
    """Build, compile and compare every case (label -> .tflite bytes).

    A `board` with an NPU runs on the simulator of its hardware.
    `draw` makes the random values. `reference` holds, for cases that the interpreter refuses,
    another model that means the same.
    `inputs` gives cases sets of their own, where not every value is allowed (indices).
    `tolerance` is the largest difference allowed in float outputs; integers must be equal.
    `specials` is how many more sets mix values into float inputs that only floats have.
    `flags` go to the compiler.
    """
    profile = load_board(board)
    models = [parse_model(data) for data in cases.values()]
    options = [BuildOptions(name=f"m{i}", plan=plan or PlanOptions()) for i in range(len(models))]
    builds = [build(m, "case", profile, o) for m, o in zip(models, options, strict=True)]
    sources = [sources_of(built) for built in builds]
    failures = []
    with build_host_program(sources, workdir, sanitize=sanitize, flags=flags) as program:
        for number, (label, data) in enumerate(cases.items()):
            sets = inputs.get(label) or input_sets(models[number], samples, rng, draw)
            sets += [special_input(models[number], rng) for _ in range(specials)]
            expected = oracle.run_reference(reference.get(label, data), sets)
            for values, wanted in zip(sets, expected, strict=True):
                for _ in range(2):
                    result = program.run(number, [v.tobytes() for v in values], reset=False)
                    found = difference(result.status, result.outputs, wanted, tolerance)
                    if found:
                        failures.append(f"{label}: {found}")
                        break
    assert not failures, f"{len(failures)} differences, first: " + "; ".join(failures[:5])


def difference(
    status: int, outputs: Sequence[bytes], wanted: Sequence[Array], tolerance: float
) -> str:
    """What is wrong with a run in a few words; nothing if it equals the reference."""
    if status:
        return f"status {status}"
    for i, (raw, array) in enumerate(zip(outputs, wanted, strict=True)):
        got = np.frombuffer(raw, array.dtype).reshape(array.shape)
        if np.issubdtype(array.dtype, np.floating):
            close = np.isclose(got, array, rtol=tolerance, atol=tolerance, equal_nan=True)
        else:
            close = got == array
        if not close.all():
            where = tuple(int(k) for k in np.argwhere(~close)[0])
            return f"output {i} at {where}: {got[where]}, reference {array[where]}"
    return ""
