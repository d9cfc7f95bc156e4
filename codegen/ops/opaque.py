"""Operators that no C can be written for, as far as planning them needs: their operands' bytes.

`codegen plan` works on every valid file. An opaque operator reads its computed inputs and writes
its outputs, each whole and without gaps, and shares memory with none of them.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace

from codegen.graph import DType, Graph, Node, Tensor
from codegen.ops.base import Access, Call, Lowered

SUMMARY = "cannot be built"


def opaque(graph: Graph, node: Node, computed: Container[int]) -> Lowered:
    """A stand-in for what the operator would become.

    `computed` are the tensors that an operator or the caller writes; others that it reads, such
    as state, lie in memory of their own.
    """
    if not node.outputs:
        return Lowered(calls=(), summary=SUMMARY)
    read = [t for t in dict.fromkeys(node.inputs) if t in computed]
    call = Call(
        kernel="",
        header="",
        args="",
        params=(),
        inputs=tuple(_whole(graph.tensors[t]) for t in read),
        outputs=tuple(_whole(graph.tensors[t]) for t in node.outputs),
    )
    return Lowered(calls=(call,), summary=SUMMARY)


def _whole(tensor: Tensor) -> Access:
    return Access(tensor.index, (1, 1, 1, tensor.elements), dense=True)


def with_plain_types(graph: Graph) -> Graph:
    """The same graph for planning alone: tensors without whole-byte elements become bytes.

    Types without a size (strings, resources) and empty tensors count as one byte.
    """
    return replace(graph, tensors=tuple(map(_plain, graph.tensors)))


def _plain(tensor: Tensor) -> Tensor:
    if tensor.dtype.bits >= 8 and tensor.elements:
        return tensor
    return replace(tensor, dtype=DType.UINT8, shape=(max(1, tensor.nbytes),))
