"""Shapes that a user gives to inputs whose sizes the file leaves open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from codegen.errors import Unsupported
from codegen.graph import Graph, Tensor
from codegen.importer.tensors import is_too_large


@dataclass(frozen=True)
class InputShape:
    """The sizes wanted for one input; `name` is the file's, None that of the only input."""

    name: str | None
    sizes: tuple[int, ...]

    def __str__(self) -> str:
        sizes = ",".join(map(str, self.sizes))
        return sizes if self.name is None else f"{self.name}={sizes}"


def pin_inputs(graph: Graph, shapes: Sequence[InputShape]) -> Graph:
    """The graph with the sizes that are asked for in the place of placeholders.

    Raises:
        Unsupported: for an input that is not there or whose fixed sizes are others.
    """
    tensors = list(graph.tensors)
    for shape in shapes:
        tensor = _find(graph, shape)
        _check(tensor, shape)
        tensors[tensor.index] = replace(tensor, shape=shape.sizes, free_dims=())
    return replace(graph, tensors=tuple(tensors))


def open_inputs(graph: Graph) -> list[Tensor]:
    """The inputs that leave a size open, the batch not counted."""
    return [graph.tensors[t] for t in graph.inputs if graph.tensors[t].free_dims]


def _find(graph: Graph, shape: InputShape) -> Tensor:
    inputs = [graph.tensors[t] for t in graph.inputs]
    found = [t for t in inputs if shape.name in (None, t.name)]
    if len(found) == 1:
        return found[0]
    names = ", ".join(f"{t.name}={','.join(map(str, t.shape))}" for t in inputs[:4])
    if shape.name is None:
        raise Unsupported(
            f"the shape {shape} names none of {len(inputs)} inputs; write it as one of: {names}"
        )
    raise Unsupported(
        f"{len(found) or 'no'} inputs have the name {shape.name!r}; the model has: {names}"
    )


def _check(tensor: Tensor, shape: InputShape) -> None:
    asked = f"the shape {shape} is not possible for input {tensor.label} {tensor.describe()}"
    if len(shape.sizes) != len(tensor.shape):
        raise Unsupported(f"{asked}: it has {len(tensor.shape)} dimensions")
    for axis, (size, old) in enumerate(zip(shape.sizes, tensor.shape, strict=True)):
        if size != old and axis not in tensor.free_dims:
            raise Unsupported(
                f"{asked}: the file fixes axis {axis}; convert the model again with it open"
            )
    if is_too_large(shape.sizes, tensor.dtype):
        raise Unsupported(f"{asked}: it would pass 2 GiB")
