"""What the C code is fed: seeded random values, edge values, and the user's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codegen.errors import CodegenError
from codegen.graph import DType, Graph, Tensor
from codegen.ops.transpose_conv import states_shape

Array = NDArray[Any]
InputSet = tuple[Array, ...]

_ZIP, _NPY = b"PK", b"\x93N"
"""How files of numpy.savez and numpy.save begin."""


@dataclass(frozen=True, eq=False)
class UserInputs:
    """Sets from a .npz file, and the class labels in it if there are any."""

    sets: tuple[InputSet, ...]
    labels: tuple[int, ...] | None


def random_set(tensors: Sequence[Tensor], rng: np.random.Generator) -> InputSet:
    """One random value for every element: all of an integer type's range, floats around 0."""
    return tuple(_random(tensor, rng) for tensor in tensors)


def _random(tensor: Tensor, rng: np.random.Generator) -> Array:
    dtype = _numpy(tensor)
    if tensor.dtype is DType.BOOL:
        return rng.integers(0, 2, tensor.shape).astype(np.bool_)
    if np.issubdtype(dtype, np.floating):
        return rng.normal(0, 2, tensor.shape).astype(dtype)
    low, high = np.iinfo(dtype).min, int(np.iinfo(dtype).max)
    return rng.integers(low, high + 1, tensor.shape).astype(dtype)


def edge_sets(tensors: Sequence[Tensor]) -> tuple[InputSet, ...]:
    """All smallest, all largest, all zero points."""
    return tuple(
        tuple(np.full(t.shape, _edges(t)[k], _numpy(t)) for t in tensors) for k in range(3)
    )


def _edges(tensor: Tensor) -> tuple[float | int, float | int, float | int]:
    dtype = _numpy(tensor)
    if tensor.dtype is DType.BOOL:
        return 0, 1, 0
    if np.issubdtype(dtype, np.floating):
        return -128.0, 127.0, 0.0
    zero = tensor.quant.zero_point if tensor.quant and tensor.quant.scales else 0
    return int(np.iinfo(dtype).min), int(np.iinfo(dtype).max), zero


def _numpy(tensor: Tensor) -> np.dtype[Any]:
    dtype = tensor.dtype.numpy
    if dtype is None:
        raise CodegenError(f"input {tensor.label} is {tensor.dtype.value}, which cannot be fed")
    return dtype


def with_stated_shapes(values: InputSet, graph: Graph) -> InputSet:
    """The same set, in which inputs that can only repeat a shape of the file do so.

    The interpreter reads such an operand where the C code takes the shape from the file.
    """
    stated: dict[int, tuple[int, ...]] = {}
    for node in graph.nodes:
        if node.op == "TRANSPOSE_CONV":
            shape, y = graph.tensors[node.inputs[0]], graph.tensors[node.outputs[0]]
            if states_shape(shape, y):
                stated[shape.index] = y.shape
    return tuple(
        np.array(stated.get(t, value), value.dtype)
        for t, value in zip(graph.inputs, values, strict=True)
    )


def load_npz(path: Path, tensors: Sequence[Tensor]) -> UserInputs:
    """Read input sets from a .npz file.

    Arrays are named after the inputs, or `input` / `input_0`, `input_1`, ...; each is one set in
    the input's shape, or many along a first axis (in the batch's place where that is 1).

    Raises:
        CodegenError: for a file that cannot be read or arrays that do not match the inputs.
    """
    arrays = _read_arrays(path)
    per_input = [_sets_of(path, arrays, i, t, len(tensors)) for i, t in enumerate(tensors)]
    counts = {len(sets) for sets in per_input}
    if len(counts) != 1:
        raise CodegenError(f"{path}: the inputs have {sorted(counts)} sets; give as many of each")
    if counts == {0}:
        raise CodegenError(f"{path}: holds no input at all; give at least one")
    labels = arrays.get("labels")
    return UserInputs(
        tuple(zip(*per_input, strict=True)),
        None if labels is None else _class_numbers(path, labels, len(per_input[0])),
    )


def _read_arrays(path: Path) -> dict[str, Array]:
    try:
        archive = np.load(path, allow_pickle=False)
        if isinstance(archive, np.ndarray):
            return {"input": archive}
        with archive:
            return {name: archive[name] for name in archive.files}
    except OSError as error:
        raise CodegenError(f"{path}: cannot be read: {error.strerror or error}") from None
    # A damaged archive fails in many ways, one per layer: zip, deflate, header, element type.
    except Exception as error:
        known = path.read_bytes()[:2] in (_ZIP, _NPY)  # numpy takes all others for pickles
        why = error if known else "make one with numpy.savez"
        raise CodegenError(f"{path}: is no readable .npz file: {why}") from None


def _class_numbers(path: Path, labels: Array, count: int) -> tuple[int, ...]:
    if labels.dtype.kind not in "iu":
        raise CodegenError(f"{path}: labels is {labels.dtype}; give the class numbers as integers")
    if labels.size != count:
        raise CodegenError(f"{path}: {labels.size} labels for {count} inputs; give one for each")
    return tuple(int(v) for v in labels.reshape(-1))


def _sets_of(
    path: Path, arrays: dict[str, Array], index: int, tensor: Tensor, count: int
) -> list[Array]:
    names = [tensor.name, f"input_{index}", *(["input"] if count == 1 else [])]
    name = next((n for n in names if n in arrays), None)
    if name is None:
        raise CodegenError(f"{path}: no array for input {index}; name one {' or '.join(names)}")
    array, dtype = arrays[name], _numpy(tensor)
    if array.dtype.newbyteorder("<") != dtype:
        raise CodegenError(f"{path}: {name} is {array.dtype} where the model takes {dtype}")
    array = array.astype(dtype, copy=False)
    if array.shape == tensor.shape:
        return [array]
    if array.ndim and array.shape[1:] == tensor.shape:
        return list(array)
    if array.ndim and tensor.shape[:1] == (1,) and array.shape[1:] == tensor.shape[1:]:
        return [image[np.newaxis] for image in array]
    raise CodegenError(
        f"{path}: {name} has shape {list(array.shape)} where the model takes {list(tensor.shape)}"
    )
