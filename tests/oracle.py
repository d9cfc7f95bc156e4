"""What every result is compared with: LiteRT's reference kernels (OpResolverType.BUILTIN_REF)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, overload

import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType
from numpy.typing import NDArray

Array = NDArray[Any]


@overload
def run_reference(
    model: bytes,
    inputs: Sequence[Sequence[Array]],
    *,
    runs: int = 1,
    all_tensors: Literal[False] = False,
) -> list[list[Array]]: ...


@overload
def run_reference(
    model: bytes,
    inputs: Sequence[Sequence[Array]],
    *,
    runs: int = 1,
    all_tensors: Literal[True],
) -> tuple[list[list[Array]], list[dict[int, Array]]]: ...


def run_reference(
    model: bytes,
    inputs: Sequence[Sequence[Array]],
    *,
    runs: int = 1,
    all_tensors: bool = False,
) -> list[list[Array]] | tuple[list[list[Array]], list[dict[int, Array]]]:
    """Run the model on each set of inputs (one array per model input), without resets between.

    Args:
        model: the .tflite file's bytes.
        inputs: the sets, each with the model's inputs in order.
        runs: how often each set is run in a row; the last run's results are returned.
        all_tensors: also give every tensor that has data after the run.

    Returns:
        Per set the outputs in order; with `all_tensors` a pair of that and, per set, a dict from
        tensor index of the main subgraph to value.
    """
    interpreter = make_interpreter(model, preserve_all=all_tensors)
    clear = b"TFLite_Detection_PostProcess" in model
    results: list[list[Array]] = []
    inner: list[dict[int, Array]] = []
    for values in inputs:
        for _ in range(runs):
            _invoke(interpreter, values, clear)
        results.append(
            [interpreter.get_tensor(d["index"]) for d in interpreter.get_output_details()]
        )
        if all_tensors:
            inner.append(_all_values(interpreter))
    return (results, inner) if all_tensors else results


def run_afresh(model: bytes, inputs: Sequence[Sequence[Array]]) -> list[list[Array]]:
    """As `run_reference`, each set by an interpreter of its own: as after a reset."""
    return [run_reference(model, [values])[0] for values in inputs]


def make_interpreter(model: bytes, *, preserve_all: bool = False) -> Any:
    """A reference interpreter with its tensors allocated.

    The reference kernels lack CEIL, ELU and ROUND; models with these run with the other kernels.
    """
    try:
        return _allocated(model, OpResolverType.BUILTIN_REF, preserve_all)
    except ValueError as error:
        if "Didn't find op for builtin opcode" not in str(error):
            raise
    return _allocated(model, OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES, preserve_all)


def make_reference_interpreter(model: bytes) -> Any:
    """One with the reference kernels alone."""
    return _allocated(model, OpResolverType.BUILTIN_REF, preserve_all=False)


def _allocated(model: bytes, kernels: OpResolverType, preserve_all: bool) -> Any:
    interpreter = Interpreter(
        model_content=model,
        experimental_op_resolver_type=kernels,
        experimental_preserve_all_tensors=preserve_all,
        num_threads=1,
    )
    interpreter.allocate_tensors()
    return interpreter


def _invoke(interpreter: Any, values: Sequence[Array], clear: bool) -> None:
    details = interpreter.get_input_details()
    for detail, value in zip(details, values, strict=True):
        interpreter.set_tensor(detail["index"], np.asarray(value))
    if clear:  # what the kernel leaves unwritten
        for detail in interpreter.get_output_details():
            interpreter.tensor(detail["index"])()[...] = 0
    interpreter.invoke()


def _all_values(interpreter: Any) -> dict[int, Array]:
    """Values by tensor index; kernels' temporaries and unused tensors have no data to read."""
    values: dict[int, Array] = {}
    for detail in interpreter.get_tensor_details():
        try:
            values[detail["index"]] = interpreter.get_tensor(detail["index"])
        except ValueError:
            continue
    return values
