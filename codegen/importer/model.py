"""A whole .tflite file: header, subgraphs, signatures and the batch size."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

import tflite

from codegen.errors import InvalidModel, Unsupported
from codegen.graph import Graph, Model, Tensor
from codegen.importer.flat import MAX_TABLES, numbers, root, tables, text
from codegen.importer.operators import (
    OperatorCode,
    check_indices,
    executable_order,
    has_value,
    read_code,
    read_node,
    subgraph_references,
)
from codegen.importer.shapes import InputShape, pin_inputs
from codegen.importer.sparsity import MAX_EXPANDED
from codegen.importer.tensors import Buffers, is_too_large, read_buffers, read_tensor

_IDENTIFIER = b"TFL3"
_SCHEMA_VERSION = 3


@dataclass(frozen=True)
class _File:
    """What all subgraphs of a file share."""

    data: bytes
    codes: tuple[OperatorCode, ...]
    buffers: Buffers


def load_model(path: Path, *, batch: int | None = None, shapes: Sequence[InputShape] = ()) -> Model:
    """Read a .tflite file; see `parse_model`.

    Raises:
        InvalidModel: also if the file cannot be read. The message starts with the path.
        Unsupported: if `batch` or `shapes` cannot be set.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InvalidModel(f"{path}: cannot be read: {error.strerror}") from None
    try:
        return parse_model(data, batch=batch, shapes=shapes)
    except InvalidModel as error:
        raise InvalidModel(f"{path}: {error}") from None


def parse_model(
    data: bytes, *, batch: int | None = None, shapes: Sequence[InputShape] = ()
) -> Model:
    """Make the graph of a .tflite file from its bytes, believing nothing in them.

    Every operator and type of the schema is imported, whether code can be written for it or not.

    Args:
        data: the file.
        batch: the size of the first dimension wherever the file leaves it open; None keeps the
            file's placeholder, which converters set to 1.
        shapes: sizes for inputs that leave more than the batch open, the batch among them. What
            follows from them inside is found later, by passes/settle_shapes.

    Raises:
        InvalidModel: if the file is damaged or contradicts itself.
        Unsupported: if the file fixes another batch or another shape than is asked for.
    """
    model = _open(data)
    codes = tuple(read_code(table) for table in tables(model, "OperatorCodes", "operator code"))
    buffers = read_buffers(list(tables(model, "Buffers", "buffer")), data)
    _check_metadata(model, len(buffers.data))
    shared = _File(data, codes, buffers)
    graphs = [_read_graph(index, table, shared) for index, table in enumerate(_subgraphs(model))]
    _check_calls(graphs)
    _check_signatures(model, graphs)
    pinned = [_pin_batch(graph, batch, is_main=graph is graphs[0]) for graph in graphs]
    if shapes:
        pinned[0] = pin_inputs(graphs[0], shapes)
    return Model(
        graphs=tuple(pinned),
        description=text(model.Description()),
        sha256=hashlib.sha256(data).hexdigest(),
        size=len(data),
    )


def _open(data: bytes) -> Any:
    if len(data) < 8:
        raise InvalidModel(f"not a TensorFlow Lite model: it has only {len(data)} bytes")
    if data[4:8] != _IDENTIFIER:
        raise InvalidModel("not a TensorFlow Lite model: the identifier TFL3 is missing")
    model = root(tflite.Model, data, "the model's header")
    if model.Version() != _SCHEMA_VERSION:
        raise InvalidModel(
            f"schema version {model.Version()} is not supported, only {_SCHEMA_VERSION} is"
        )
    return model


def _check_metadata(model: Any, buffers: int) -> None:
    for entry in tables(model, "Metadata", "metadata entry"):
        if entry.Buffer() >= buffers:
            raise InvalidModel(f"{entry._tab.where} names buffer {entry.Buffer()} of {buffers}")


def _subgraphs(model: Any) -> list[Any]:
    subgraphs = list(tables(model, "Subgraphs", "subgraph"))
    if not subgraphs:
        raise InvalidModel("the file holds no subgraph, so there is nothing to run")
    if sum(g.TensorsLength() + g.OperatorsLength() for g in subgraphs) > MAX_TABLES:
        raise InvalidModel("the subgraphs hold absurdly many tensors and operators: damaged file")
    return subgraphs


def _read_tensors(entries: Iterable[Any], buffers: Buffers) -> tuple[Tensor, ...]:
    """All tensors of a subgraph.

    Raises:
        InvalidModel: also for sparse tensors that take too much memory together.
    """
    tensors: list[Tensor] = []
    sparse = 0
    for index, table in enumerate(entries):
        tensors.append(read_tensor(index, table, buffers))
        sparse += tensors[-1].nbytes if tensors[-1].sparse else 0
        if sparse > MAX_EXPANDED:
            raise InvalidModel(f"the sparse tensors take more than {MAX_EXPANDED:,} bytes together")
    return tuple(tensors)


def _read_graph(index: int, table: Any, shared: _File) -> Graph:
    place = "" if index == 0 else f"subgraph {index}: "
    tensors = _read_tensors(tables(table, "Tensors", f"{place}tensor"), shared.buffers)
    inputs, outputs = numbers(table, "Inputs"), numbers(table, "Outputs")
    check_indices(inputs, len(tensors), f"{place}the list of inputs names")
    check_indices(outputs, len(tensors), f"{place}the list of outputs names")
    nodes = [
        read_node(i, t, shared.codes, len(tensors), shared.data)
        for i, t in enumerate(tables(table, "Operators", f"{place}operator"))
    ]
    # What the caller writes does not live from run to run, whatever the file says of it.
    tensors = tuple(
        replace(t, is_variable=t.is_variable and t.index not in inputs) for t in tensors
    )
    order = executable_order(nodes, tensors, inputs, place)
    _check_interface(tensors, inputs, outputs, {t for n in nodes for t in n.outputs}, place)
    return Graph(text(table.Name()), tensors, order, inputs, outputs)


def _check_interface(
    tensors: Sequence[Tensor],
    inputs: Sequence[int],
    outputs: Sequence[int],
    produced: set[int],
    place: str,
) -> None:
    given: set[int] = set()
    for index in inputs:
        if index in given:
            raise InvalidModel(f"{place}{tensors[index].label} is an input twice")
        given.add(index)
        if tensors[index].is_constant:
            raise InvalidModel(f"{place}the input {tensors[index].label} is a constant")
    for index in outputs:
        if index not in produced and not has_value(tensors[index], given):
            raise InvalidModel(f"{place}nothing produces the output {tensors[index].label}")


def _check_calls(graphs: Sequence[Graph]) -> None:
    """Every called subgraph exists, and none calls itself, directly or through others."""
    calls: dict[int, set[int]] = {}
    for index, graph in enumerate(graphs):
        for node in graph.nodes:
            for name, target in subgraph_references(node):
                if not 0 <= target < len(graphs):
                    raise InvalidModel(
                        f"{node.label}: {name} names subgraph {target} of {len(graphs)}"
                    )
                calls.setdefault(index, set()).add(target)
    try:
        TopologicalSorter(calls).prepare()
    except CycleError as error:
        raise InvalidModel(
            f"subgraph {error.args[1][0]} calls itself, maybe through others"
        ) from None


def _check_signatures(model: Any, graphs: Sequence[Graph]) -> None:
    """Nothing of them is kept, but a file whose signatures cannot be read is damaged."""
    for signature in tables(model, "SignatureDefs", "signature"):
        where, index = signature._tab.where, signature.SubgraphIndex()
        if index >= len(graphs):
            raise InvalidModel(f"{where} names subgraph {index} of {len(graphs)}")
        for field in ("Inputs", "Outputs"):
            for entry in tables(signature, field, f"{where} entry"):
                tensors = len(graphs[index].tensors)
                check_indices([entry.TensorIndex()], tensors, f"{entry._tab.where} names")
                text(entry.Name())


def _pin_batch(graph: Graph, batch: int | None, *, is_main: bool) -> Graph:
    """Fix the first dimension of every computed tensor that leaves it open.

    With a `batch`, sizes grow in proportion to the placeholder of the inputs, so that a tensor
    that folds other dimensions into its first one stays a multiple of the batch.
    """
    base = _placeholder(graph)
    if batch is not None and is_main:
        _check_batch(graph, batch, base)
    tensors = tuple(
        t if t.is_constant or 0 not in t.free_dims else _with_batch(t, batch, base or 1)
        for t in graph.tensors
    )
    return replace(graph, tensors=tensors)


def _placeholder(graph: Graph) -> int | None:
    """The batch that the file's shapes are written for, None if no input leaves it open."""
    free = [graph.tensors[i] for i in graph.inputs if 0 in graph.tensors[i].free_dims]
    return max(free[0].shape[0], 1) if free else None


def _with_batch(tensor: Tensor, batch: int | None, base: int) -> Tensor:
    size = max(tensor.shape[0], 1)
    if batch is not None:
        size = size // base * batch if size % base == 0 else batch
    shape = (size, *tensor.shape[1:])
    if is_too_large(shape, tensor.dtype):
        raise Unsupported(f"a batch of {batch} is not possible: {tensor.label} would pass 2 GiB")
    return replace(tensor, shape=shape, free_dims=tuple(a for a in tensor.free_dims if a))


def _check_batch(graph: Graph, batch: int, base: int | None) -> None:
    if batch < 1:
        raise Unsupported(f"a batch of {batch} is not possible; it starts at 1")
    fixed = {graph.tensors[i].shape[:1] for i in graph.inputs}
    if base is None and fixed != {(batch,)}:
        shapes = ", ".join(graph.tensors[i].describe() for i in graph.inputs)
        raise Unsupported(
            f"a batch of {batch} is not possible: the file fixes its inputs ({shapes}); "
            "convert the model again with an open first dimension"
        )
