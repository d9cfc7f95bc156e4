"""What operators say about themselves is true, and docs/operators.md says the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import pytest

from codegen.errors import CodegenError
from codegen.graph import DType, Graph, Node, Quantization, Tensor, all_nodes
from codegen.importer import parse_model
from codegen.ops import lower, registry
from codegen.ops.base import OpContext
from codegen.passes import link
from codegen.passes.fold_constants import fold_constants
from tests.tflite_builder import ModelBuilder
from tests.tools.operators_doc import DOCUMENT, document
from tests.zoo import without_reference, zoo

# The input that holds data, where it is not the first.
_DATA = {
    "TRANSPOSE_CONV": 2,
    "SPLIT": 1,
    "FILL": 1,
    "EMBEDDING_LOOKUP": 1,
    "SCATTER_ND": 1,
    "SELECT": 1,
    "SELECT_V2": 1,
    "IF": 1,
}


@cache
def _graphs() -> tuple[Graph, ...]:
    """With the values of shapes and the like that fold, whose operators are still there."""
    graphs = []
    for model in (zoo(), without_reference()):
        graph = link(parse_model(model))
        pairs = zip(graph.tensors, fold_constants(graph).tensors, strict=True)
        tensors = (folded if folded.dtype is DType.INT32 else own for own, folded in pairs)
        graphs.append(replace(graph, tensors=tuple(tensors)))
    return tuple(graphs)


def _nodes(name: str) -> list[tuple[Graph, Node]]:
    """The zoo's operators of that kind, which may be of different types, with their graphs."""
    nodes = ((graph, node) for graph in _graphs() for node in graph.nodes)
    return [(graph, node) for graph, node in nodes if name == (node.custom_name or node.op)]


def test_the_page_is_up_to_date() -> None:
    assert DOCUMENT.read_text() == document(), "run python -m tests.tools.operators_doc"


def test_every_operator_is_in_the_zoo() -> None:
    names = {node.custom_name or node.op for graph in _graphs() for node in graph.nodes}
    assert names == set(registry())


@pytest.mark.parametrize("name", registry())
def test_versions_above_the_stated_one_are_refused(name: str) -> None:
    (graph, node), most = _nodes(name)[0], registry()[name].max_version
    lower(OpContext(graph, replace(node, version=most)))
    with pytest.raises(CodegenError, match=rf"version {most + 1} .* is not supported"):
        lower(OpContext(graph, replace(node, version=most + 1)))


@pytest.mark.parametrize("name", registry())
def test_the_stated_types_are_those_that_lower(name: str) -> None:
    accepted = {
        dtype for graph, node in _nodes(name) for dtype in DType if _lowers(graph, node, dtype)
    }
    assert accepted == set(registry()[name].types)


def _lowers(graph: Graph, node: Node, dtype: DType) -> bool:
    """Whether the node can be built with another type of data."""
    data = graph.tensors[node.inputs[_DATA.get(node.op, 0)]]
    try:
        lower(OpContext(_retyped(graph, node, data, dtype), node))
    except CodegenError:
        return False
    return True


def _retyped(graph: Graph, node: Node, data: Tensor, dtype: DType) -> Graph:
    """The graph with another type for all tensors of the node that have the type of its data.

    So have those of its subgraphs.

    Only the input of a node that changes the type.
    """
    changed = {
        t: _as(graph.tensors[t], dtype)
        for inner in all_nodes([node])
        for t in (*inner.inputs, *inner.outputs, *_parameters(inner))
        if t >= 0 and graph.tensors[t].dtype is data.dtype
    }
    tensors = tuple(changed.get(t.index, t) for t in graph.tensors)
    return replace(graph, tensors=tensors)


def _parameters(node: Node) -> Iterator[int]:
    return (t for graph in node.subgraphs for t in (*graph.inputs, *graph.outputs))


def _as(tensor: Tensor, dtype: DType) -> Tensor:
    """Another type with a quantisation that it can have; constants keep their values."""
    quant = tensor.quant
    if quant is not None and (dtype is DType.INT16 or dtype.value.startswith("uint")):
        same_code = tensor.dtype is DType.INT8 and dtype is DType.UINT8
        zeros = tuple(zero + 128 if same_code else 0 for zero in quant.zero_points)
        quant = Quantization(quant.scales, zeros, quant.axis)
    if quant is None:
        quant = Quantization((0.05,), (0,))
    if not tensor.is_constant:
        return replace(tensor, dtype=dtype, quant=quant)
    raw = bytes((tensor.elements * dtype.bits + 7) // 8)
    if dtype.numpy is not None:
        raw = tensor.array.astype(dtype.numpy).tobytes()
    return replace(tensor, dtype=dtype, quant=quant, raw=raw)


def test_an_output_that_no_operator_has_is_refused() -> None:
    builder = ModelBuilder()
    x, y, more = (builder.tensor((2, 3)) for _ in range(3))
    builder.op("RESHAPE", [x], [y, more])
    graph = parse_model(builder.build([x], [y, more])).main
    with pytest.raises(CodegenError, match='RESHAPE: it has no result for tensor 2 "t2"'):
        lower(OpContext(graph, graph.nodes[0]))
