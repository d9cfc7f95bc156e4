"""The layer graph: what the importer makes of a .tflite file and what every pass maps to another.

All classes are frozen. Tensors are named by their index in `Graph.tensors`; passes keep the
indices of the file and append new tensors behind them, so that an index always means the same
tensor in the file, in the plan and in an error message.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from codegen.errors import InvalidModel

Attribute = int | float | bool | str | bytes | tuple[int, ...] | tuple[float, ...] | None


class DType(enum.Enum):
    """Element types of TFLite tensors; the value is the schema's name in lower case."""

    FLOAT64 = "float64"
    FLOAT32 = "float32"
    FLOAT16 = "float16"
    BFLOAT16 = "bfloat16"
    FLOAT8_E4M3FN = "float8_e4m3fn"
    FLOAT8_E5M2 = "float8_e5m2"
    INT64 = "int64"
    INT32 = "int32"
    INT16 = "int16"
    INT8 = "int8"
    INT4 = "int4"
    INT2 = "int2"
    UINT64 = "uint64"
    UINT32 = "uint32"
    UINT16 = "uint16"
    UINT8 = "uint8"
    UINT4 = "uint4"
    BOOL = "bool"
    COMPLEX64 = "complex64"
    COMPLEX128 = "complex128"
    STRING = "string"
    RESOURCE = "resource"
    VARIANT = "variant"

    @property
    def bits(self) -> int:
        """Bits per element; 0 for types without a fixed size (string, resource, variant)."""
        return _BITS[self]

    @property
    def in_c(self) -> bool:
        """Whether C has a type of the same size that can hold the elements."""
        return self.bits >= 8 and self not in _BEYOND_C

    @property
    def numpy(self) -> np.dtype[np.generic] | None:
        """The numpy type with the same layout, or None where numpy has none."""
        name = self.value
        if self.bits < 8 or self in (DType.BFLOAT16, DType.FLOAT8_E4M3FN, DType.FLOAT8_E5M2):
            return None
        return np.dtype(name).newbyteorder("<") if name != "bool" else np.dtype(np.bool_)

    @property
    def size(self) -> int:
        """Bytes per element.

        Raises:
            ValueError: for types that have no whole number of bytes per element.
        """
        if self.bits < 8:
            raise ValueError(f"{self.value} has no fixed size in bytes")
        return self.bits // 8


_BITS: Mapping[DType, int] = {
    DType.FLOAT64: 64,
    DType.FLOAT32: 32,
    DType.FLOAT16: 16,
    DType.BFLOAT16: 16,
    DType.FLOAT8_E4M3FN: 8,
    DType.FLOAT8_E5M2: 8,
    DType.INT64: 64,
    DType.INT32: 32,
    DType.INT16: 16,
    DType.INT8: 8,
    DType.INT4: 4,
    DType.INT2: 2,
    DType.UINT64: 64,
    DType.UINT32: 32,
    DType.UINT16: 16,
    DType.UINT8: 8,
    DType.UINT4: 4,
    DType.BOOL: 8,
    DType.COMPLEX64: 64,
    DType.COMPLEX128: 128,
    DType.STRING: 0,
    DType.RESOURCE: 0,
    DType.VARIANT: 0,
}

_BEYOND_C = (DType.COMPLEX64, DType.COMPLEX128, DType.FLOAT8_E4M3FN, DType.FLOAT8_E5M2)

_LABEL_NAME = 60  # characters of a tensor's name that messages show


@dataclass(frozen=True)
class Quantization:
    """real = scale * (q - zero_point); one pair for the tensor or one per slice of `axis`.

    Scales are the file's float32 values held exactly in Python floats.
    """

    scales: tuple[float, ...]
    zero_points: tuple[int, ...]
    axis: int = 0

    @property
    def per_channel(self) -> bool:
        return len(self.scales) > 1

    @property
    def scale(self) -> float:
        """The scale of a per-tensor quantisation (the first one otherwise)."""
        return self.scales[0]

    @property
    def zero_point(self) -> int:
        """The zero point of a per-tensor quantisation (the first one otherwise)."""
        return self.zero_points[0]


@dataclass(frozen=True, eq=False)
class Tensor:
    """One tensor. `raw` holds the little-endian bytes of a constant, None for computed ones.

    `free_dims` are the axes that the file leaves open (-1 in its shape signature) and for which
    `shape` holds only a placeholder; a batch that the importer has pinned is not among them.
    `buffer` is the file's buffer that `raw` comes from (0: none); tensors may share one.
    `sparse`: the file leaves out elements that are 0; `raw` holds them all.
    """

    index: int
    name: str
    shape: tuple[int, ...]
    dtype: DType
    quant: Quantization | None = None
    raw: bytes | None = None
    is_variable: bool = False
    sparse: bool = False
    free_dims: tuple[int, ...] = ()
    buffer: int = 0

    @property
    def is_constant(self) -> bool:
        return self.raw is not None

    @property
    def elements(self) -> int:
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of the whole tensor, sub-byte types packed; 0 for types without a size."""
        return (self.elements * self.dtype.bits + 7) // 8

    @property
    def array(self) -> NDArray[np.generic]:
        """The constant's elements in the tensor's shape (read-only).

        Raises:
            InvalidModel: if the tensor is not constant or its type has no numpy layout.
        """
        dtype = self.dtype.numpy
        if self.raw is None or dtype is None:
            raise InvalidModel(f"{self.label} holds no readable constant data")
        return np.frombuffer(self.raw, dtype).reshape(self.shape)

    @property
    def label(self) -> str:
        """How messages name the tensor: index and the file's own name, which may be very long."""
        name = self.name if len(self.name) <= _LABEL_NAME else self.name[:_LABEL_NAME] + "..."
        return f'tensor {self.index} "{name}"'

    def describe(self) -> str:
        """`int8[1,25,5,64]`, for tables and comments."""
        return f"{self.dtype.value}[{','.join(map(str, self.shape))}]"


@dataclass(frozen=True)
class Node:
    """One operator. `op` is the schema's name; a custom operator is `CUSTOM` with `custom_name`.

    `inputs` holds -1 for an optional tensor that is absent. `options` holds every field of the
    builtin options table under its schema name (`stride_h`, `fused_activation_function`, ...);
    enumerations of activation and padding are their schema names ("RELU6", "SAME").
    `intermediates` are tensors that hold nothing but the quantisation of inner values.
    `subgraphs` are what a control operator runs, once `passes.embed_subgraphs` has brought it here:
    condition and body of a WHILE, both ways of an IF.
    """

    index: int
    op: str
    version: int
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    options: Mapping[str, Attribute] = field(default_factory=lambda: MappingProxyType({}))
    custom_name: str = ""
    intermediates: tuple[int, ...] = ()
    subgraphs: tuple[Subgraph, ...] = ()

    @property
    def label(self) -> str:
        """How messages name the operator: its position in the file and its kind."""
        return f"operator {self.index} {self.kind}"

    @property
    def kind(self) -> str:
        """The schema's name; `CUSTOM 'Blend'` for a custom operator."""
        return f"{self.op} {self.custom_name!r}" if self.custom_name else self.op

    def input(self, position: int) -> int:
        """Tensor index at `position`, or -1 when the list is short or says absent."""
        return self.inputs[position] if position < len(self.inputs) else -1


@dataclass(frozen=True)
class Subgraph:
    """Operators that run inside of a control operator; their tensors are numbered in its graph.

    `inputs` are the names that the control operator's operands go by inside.
    """

    name: str
    nodes: tuple[Node, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


@dataclass(frozen=True)
class State:
    """What lives on from one run to the next.

    Attributes:
        start: the tensor that holds it when a run begins.
        end: the tensor that holds it when the run is over; None if no operator changes it.
        initial: its bytes before the first run.
    """

    start: int
    end: int | None
    initial: bytes


@dataclass(frozen=True)
class Graph:
    """One subgraph. `nodes` stand in an executable order (the file's own, if that is one).

    `states` are known once `passes.link_state` has resolved variables.
    """

    name: str
    tensors: tuple[Tensor, ...]
    nodes: tuple[Node, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    states: tuple[State, ...] = ()

    def producers(self) -> dict[int, Node]:
        """Tensor index -> the node that writes it."""
        return {t: node for node in self.nodes for t in node.outputs}

    def consumers(self) -> dict[int, list[Node]]:
        """Tensor index -> the nodes that read it, in order, each once."""
        readers: dict[int, list[Node]] = {}
        for node in self.nodes:
            for t in dict.fromkeys(node.inputs):
                if t >= 0:
                    readers.setdefault(t, []).append(node)
        return readers

    def inside(self, subgraph: Subgraph) -> Graph:
        """A subgraph as a graph of its own, over the same tensors."""
        return Graph(subgraph.name, self.tensors, subgraph.nodes, subgraph.inputs, subgraph.outputs)

    def next_index(self) -> int:
        """The first number that no operator has, those of subgraphs included."""
        return 1 + max((node.index for node in all_nodes(self.nodes)), default=-1)


def all_nodes(nodes: Iterable[Node]) -> Iterator[Node]:
    """The nodes, each followed by those of its subgraphs."""
    for node in nodes:
        yield node
        for subgraph in node.subgraphs:
            yield from all_nodes(subgraph.nodes)


@dataclass(frozen=True)
class Model:
    """A whole file: the main graph first, then the subgraphs that control flow calls."""

    graphs: tuple[Graph, ...]
    description: str
    sha256: str
    size: int

    @property
    def main(self) -> Graph:
        return self.graphs[0]
