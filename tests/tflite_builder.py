"""Small .tflite files for tests, written straight with the `tflite` package's table writers.

    builder = ModelBuilder()
    x = builder.tensor((1, 8, 8, 3), "int8", scale=0.5, zero_point=-3)
    w = builder.tensor((4, 3, 3, 3), "int8", scale=[0.1] * 4, data=weights, axis=0)
    y = builder.tensor((1, 4, 4, 4), "int8", scale=0.7, zero_point=5)
    builder.op("CONV_2D", [x, w, -1], [y], version=3, padding="SAME", stride_h=2, stride_w=2)
    data = builder.build([x], [y])

Options take the schema's field names in snake_case. What is not given keeps the schema's default,
which is 0 for most fields: strides and a SOFTMAX's `beta` have to be given, dilations are 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import flatbuffers
import numpy as np
import tflite
from numpy.typing import ArrayLike, NDArray

from codegen.importer.options import options_table

OptionValue = bool | int | float | str | bytes | Sequence[int] | Sequence[float]

# Option fields that may be given as the names of these enumerations.
_ENUM_FIELDS = {
    "padding": tflite.Padding,
    "fused_activation_function": tflite.ActivationFunctionType,
    "mode": tflite.MirrorPadMode,
    "in_data_type": tflite.TensorType,
    "out_data_type": tflite.TensorType,
    "out_type": tflite.TensorType,
    "output_type": tflite.TensorType,
    "idx_out_type": tflite.TensorType,
}


@dataclass(frozen=True)
class Level:
    """A level of sparse data: dense with `size` indices, or listed indices in segments."""

    size: int = 0
    segments: Sequence[int] = ()
    indices: Sequence[int] = ()
    index_type: str = "int32"


@dataclass(frozen=True)
class Sparsity:
    """How a constant is stored; see the schema's SparsityParameters."""

    traversal_order: Sequence[int]
    block_map: Sequence[int]
    levels: Sequence[Level]


@dataclass(frozen=True)
class _Tensor:
    name: str
    shape: tuple[int, ...]
    dtype: str
    buffer: int
    scales: tuple[float, ...]
    zero_points: tuple[int, ...]
    axis: int
    signature: tuple[int, ...] | None
    is_variable: bool
    sparsity: Sparsity | None


@dataclass(frozen=True)
class _Operator:
    code: int
    kind: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    options: dict[str, OptionValue]
    custom_options: bytes | None
    intermediates: tuple[int, ...]


@dataclass
class _Shared:
    """What all subgraphs of one file have in common. Buffer 0 is the empty one, by convention."""

    buffers: list[bytes] = field(default_factory=lambda: [b""])
    codes: list[tuple[str, int, str]] = field(default_factory=list)


class SubgraphBuilder:
    """One subgraph: its tensors and operators in the order in which they are added.

    `index` is how control operators name it.
    """

    def __init__(self, shared: _Shared, name: str, index: int) -> None:
        self._shared = shared
        self.name = name
        self.index = index
        self.tensors: list[_Tensor] = []
        self.operators: list[_Operator] = []
        self.inputs: tuple[int, ...] = ()
        self.outputs: tuple[int, ...] = ()

    def tensor(
        self,
        shape: Sequence[int],
        dtype: str = "int8",
        scale: float | ArrayLike | None = None,
        zero_point: int | ArrayLike | None = None,
        data: ArrayLike | bytes | None = None,
        *,
        name: str | None = None,
        axis: int = 0,
        signature: Sequence[int] | None = None,
        is_variable: bool = False,
        sparsity: Sparsity | None = None,
    ) -> int:
        """Add a tensor and return its index.

        Args:
            shape: dimensions; () is a scalar.
            dtype: the schema's type name in lower case ("int8", "float32", "int4", ...).
            scale: one number, or one per slice of `axis`; None: not quantised.
            zero_point: like `scale`; None: zeros.
            data: a constant's elements (converted to `dtype`), or its raw bytes.
            name: the tensor's name; None: "t<index>".
            axis: the quantised dimension.
            signature: shape_signature, with -1 for dimensions that are free.
            is_variable: state that lives from one run to the next.
            sparsity: how `data`, which are then the stored elements alone, fill the shape.
        """
        index = len(self.tensors)
        scales = () if scale is None else tuple(float(s) for s in np.atleast_1d(scale))
        points = (0,) * len(scales) if zero_point is None else zero_point
        self.tensors.append(
            _Tensor(
                name=f"t{index}" if name is None else name,
                shape=tuple(int(d) for d in shape),
                dtype=dtype,
                buffer=0 if data is None else self._add_buffer(_encode(data, dtype)),
                scales=scales,
                zero_points=tuple(int(z) for z in np.atleast_1d(points)),
                axis=axis,
                signature=None if signature is None else tuple(signature),
                is_variable=is_variable,
                sparsity=sparsity,
            )
        )
        return index

    def op(
        self,
        kind: str,
        inputs: Sequence[int],
        outputs: Sequence[int],
        version: int = 1,
        *,
        custom_name: str = "",
        custom_options: bytes | None = None,
        intermediates: Sequence[int] = (),
        **options: OptionValue,
    ) -> int:
        """Add an operator by its schema name and return its index; -1 in `inputs` is absent."""
        key = (kind, version, custom_name)
        if key not in self._shared.codes:
            self._shared.codes.append(key)
        self.operators.append(
            _Operator(
                self._shared.codes.index(key),
                kind,
                tuple(inputs),
                tuple(outputs),
                options,
                custom_options,
                tuple(intermediates),
            )
        )
        return len(self.operators) - 1

    def interface(self, inputs: Sequence[int], outputs: Sequence[int]) -> None:
        """Name the tensors that the caller gives and gets."""
        self.inputs, self.outputs = tuple(inputs), tuple(outputs)

    def _add_buffer(self, data: bytes) -> int:
        self._shared.buffers.append(data)
        return len(self._shared.buffers) - 1


class ModelBuilder(SubgraphBuilder):
    """A whole file; it is itself the builder of the main subgraph."""

    def __init__(self, description: str = "test", name: str = "main") -> None:
        super().__init__(_Shared(), name, 0)
        self._description = description
        self._subgraphs: list[SubgraphBuilder] = [self]
        self._signature: tuple[Sequence[str], Sequence[str]] | None = None

    def subgraph(self, name: str) -> SubgraphBuilder:
        """Start a further subgraph; its index is its position, counted from 1."""
        graph = SubgraphBuilder(self._shared, name, len(self._subgraphs))
        self._subgraphs.append(graph)
        return graph

    def signature(self, inputs: Sequence[str], outputs: Sequence[str]) -> None:
        """Give the main subgraph's inputs and outputs names in a signature."""
        self._signature = (inputs, outputs)

    def build(self, inputs: Sequence[int], outputs: Sequence[int]) -> bytes:
        """The file's bytes, with these tensors as the main subgraph's inputs and outputs."""
        self.interface(inputs, outputs)
        fb = flatbuffers.Builder(4096)
        shared = self._shared
        buffers = [_write_buffer(fb, data) for data in shared.buffers]
        codes = [_write_code(fb, *code) for code in shared.codes]
        graphs = [_write_subgraph(fb, graph) for graph in self._subgraphs]
        signatures = [_write_signature(fb, self, *self._signature)] if self._signature else []
        model = _table(
            fb,
            "Model",
            version=3,
            operator_codes=_offsets(fb, codes),
            subgraphs=_offsets(fb, graphs),
            description=fb.CreateString(self._description),
            buffers=_offsets(fb, buffers),
            signature_defs=_offsets(fb, signatures) if signatures else None,
        )
        fb.Finish(model, file_identifier=b"TFL3")
        return bytes(fb.Output())


def _encode(data: ArrayLike | bytes, dtype: str) -> bytes:
    if isinstance(data, bytes):
        return data
    if dtype in ("int4", "uint4"):
        nibbles = np.asarray(data).ravel().astype(np.int64) & 15
        nibbles = np.append(nibbles, [0] * (nibbles.size % 2)).astype(np.uint8)
        return (nibbles[0::2] | (nibbles[1::2] << 4)).astype(np.uint8).tobytes()
    return np.ascontiguousarray(np.asarray(data), dtype=np.dtype(dtype)).tobytes()


def _camel(snake: str) -> str:
    return "".join(part[0].upper() + part[1:] for part in snake.split("_"))


def _table(fb: Any, table: str, /, **fields: Any) -> int:
    """Write a table from its fields (offsets for vectors, strings, tables); None is left out."""
    getattr(tflite, f"{table}Start")(fb)
    for name, value in fields.items():
        if value is not None:
            getattr(tflite, f"{table}Add{_camel(name)}")(fb, value)
    return int(getattr(tflite, f"{table}End")(fb))


def _vector(fb: Any, values: ArrayLike, dtype: str) -> int:
    return int(fb.CreateNumpyVector(np.asarray(values, dtype=np.dtype(dtype))))


def _offsets(fb: Any, offsets: Sequence[int]) -> int:
    fb.StartVector(4, len(offsets), 4)
    for offset in reversed(offsets):
        fb.PrependUOffsetTRelative(offset)
    return int(fb.EndVector())


def _write_buffer(fb: Any, data: bytes) -> int:
    """A buffer; the schema forces its data to 16 bytes, which runtimes rely on."""
    if not data:
        return _table(fb, "Buffer")
    fb.StartVector(1, len(data), 16)
    fb.head -= len(data)
    fb.Bytes[fb.head : fb.head + len(data)] = data
    return _table(fb, "Buffer", data=fb.EndVector())


def _write_code(fb: Any, kind: str, version: int, custom_name: str) -> int:
    code = getattr(tflite.BuiltinOperator, kind)
    return _table(
        fb,
        "OperatorCode",
        deprecated_builtin_code=min(code, 127),
        custom_code=fb.CreateString(custom_name) if custom_name else None,
        version=version,
        builtin_code=code,
    )


def _write_subgraph(fb: Any, graph: SubgraphBuilder) -> int:
    tensors = _offsets(fb, [_write_tensor(fb, t) for t in graph.tensors])
    operators = _offsets(fb, [_write_operator(fb, o) for o in graph.operators])
    return _table(
        fb,
        "SubGraph",
        tensors=tensors,
        inputs=_vector(fb, graph.inputs, "int32"),
        outputs=_vector(fb, graph.outputs, "int32"),
        operators=operators,
        name=fb.CreateString(graph.name),
    )


def _write_tensor(fb: Any, tensor: _Tensor) -> int:
    return _table(
        fb,
        "Tensor",
        shape=_vector(fb, tensor.shape, "int32"),
        type=getattr(tflite.TensorType, tensor.dtype.upper()),
        buffer=tensor.buffer,
        name=fb.CreateString(tensor.name),
        quantization=_write_quantization(fb, tensor) if tensor.scales else None,
        is_variable=tensor.is_variable,
        shape_signature=(
            None if tensor.signature is None else _vector(fb, tensor.signature, "int32")
        ),
        has_rank=True,
        sparsity=None if tensor.sparsity is None else _write_sparsity(fb, tensor.sparsity),
    )


def _write_sparsity(fb: Any, sparsity: Sparsity) -> int:
    return _table(
        fb,
        "SparsityParameters",
        traversal_order=_vector(fb, sparsity.traversal_order, "int32"),
        block_map=_vector(fb, sparsity.block_map, "int32"),
        dim_metadata=_offsets(fb, [_write_level(fb, level) for level in sparsity.levels]),
    )


def _write_level(fb: Any, level: Level) -> int:
    if level.size:
        return _table(
            fb,
            "DimensionMetadata",
            format=tflite.DimensionType.DENSE,
            dense_size=level.size,
        )
    name = f"{level.index_type.capitalize()}Vector"
    kind = getattr(tflite.SparseIndexVector, name)
    lists = (
        _table(fb, name, values=_vector(fb, values, level.index_type))
        for values in (level.segments, level.indices)
    )
    segments, indices = lists
    return _table(
        fb,
        "DimensionMetadata",
        format=tflite.DimensionType.SPARSE_CSR,
        array_segments_type=kind,
        array_segments=segments,
        array_indices_type=kind,
        array_indices=indices,
    )


def _write_quantization(fb: Any, tensor: _Tensor) -> int:
    return _table(
        fb,
        "QuantizationParameters",
        scale=_vector(fb, tensor.scales, "float32"),
        zero_point=_vector(fb, tensor.zero_points, "int64"),
        quantized_dimension=tensor.axis,
    )


def _write_operator(fb: Any, operator: _Operator) -> int:
    table = options_table(operator.kind)
    second = table is not None and hasattr(tflite.BuiltinOptions2, table)
    union = "builtin_options_2" if second else "builtin_options"
    custom = operator.custom_options
    fields: dict[str, Any] = {
        "opcode_index": operator.code,
        "inputs": _vector(fb, operator.inputs, "int32"),
        "outputs": _vector(fb, operator.outputs, "int32"),
        "custom_options": None if custom is None else fb.CreateByteVector(custom),
        "intermediates": (
            _vector(fb, operator.intermediates, "int32") if operator.intermediates else None
        ),
    }
    if table is not None:
        enum = tflite.BuiltinOptions2 if second else tflite.BuiltinOptions
        fields[f"{union}_type"] = getattr(enum, table)
        fields[union] = _write_options(fb, table, operator.options)
    elif operator.options:
        raise ValueError(f"{operator.kind} has no options table")
    return _table(fb, "Operator", **fields)


def _write_options(fb: Any, table: str, options: dict[str, OptionValue]) -> int:
    values = {name: _option(fb, table, name, value) for name, value in options.items()}
    return _table(fb, table, **values)


def _option(fb: Any, table: str, name: str, value: OptionValue) -> Any:
    """A scalar as it is; strings and vectors written out, giving their offset."""
    if isinstance(value, str):
        enum = _ENUM_FIELDS.get(name)
        return fb.CreateString(value) if enum is None else getattr(enum, value.upper())
    if isinstance(value, bytes):
        return fb.CreateByteVector(value)
    if isinstance(value, Sequence | np.ndarray):
        array: NDArray[Any] = np.asarray(value)
        wide = "int64" if table.startswith("Stablehlo") else "int32"
        return _vector(fb, array, "float32" if array.dtype.kind == "f" else wide)
    return value


def _write_signature(
    fb: Any, graph: SubgraphBuilder, inputs: Sequence[str], outputs: Sequence[str]
) -> int:
    return _table(
        fb,
        "SignatureDef",
        inputs=_offsets(fb, _tensor_maps(fb, inputs, graph.inputs)),
        outputs=_offsets(fb, _tensor_maps(fb, outputs, graph.outputs)),
        signature_key=fb.CreateString("serving_default"),
        subgraph_index=0,
    )


def _tensor_maps(fb: Any, names: Sequence[str], tensors: Sequence[int]) -> list[int]:
    return [
        _table(fb, "TensorMap", name=fb.CreateString(name), tensor_index=index)
        for name, index in zip(names, tensors, strict=True)
    ]
