"""Multiply-accumulates per operator, for every operator that does them in numbers.

Counted are those of the mathematical definition: taps that fall into the padding count, additions
of biases do not. The figures need shapes only, so that they exist for operators which no code can
be written for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from codegen.graph import Graph, Node

Shape = tuple[int, ...]


def macs(graph: Graph, node: Node) -> int:
    """Multiply-accumulates of one run of `node`; 0 for operators without, or malformed ones."""
    count = _COUNTERS.get(node.op)
    if count is None or not node.outputs:
        return 0
    return count(_Operands(graph, node))


class _Operands:
    """The shapes that the counters look at; () for an operand that is absent."""

    def __init__(self, graph: Graph, node: Node) -> None:
        self._graph, self.node = graph, node

    def input(self, position: int) -> Shape:
        index = self.node.input(position)
        return self._graph.tensors[index].shape if index >= 0 else ()

    @property
    def output(self) -> int:
        """Elements of the first output."""
        return self._graph.tensors[self.node.outputs[0]].elements


def _conv_2d(operands: _Operands) -> int:
    """Filter [out, h, w, in per group]."""
    weights = operands.input(1)
    return operands.output * math.prod(weights[1:]) if len(weights) == 4 else 0


def _depthwise_conv_2d(operands: _Operands) -> int:
    """Filter [1, h, w, out]."""
    weights = operands.input(1)
    return operands.output * math.prod(weights[1:3]) if len(weights) == 4 else 0


def _transpose_conv(operands: _Operands) -> int:
    """Operands (output shape, filter [out, h, w, in], input): each input spreads over a window."""
    weights, source = operands.input(1), operands.input(2)
    return math.prod(source) * math.prod(weights[:3]) if len(weights) == 4 else 0


def _conv_3d(operands: _Operands) -> int:
    """Filter [d, h, w, in per group, out]."""
    weights = operands.input(1)
    return operands.output * math.prod(weights[:4]) if len(weights) == 5 else 0


def _fully_connected(operands: _Operands) -> int:
    """Weights [out, in]."""
    weights = operands.input(1)
    return operands.output * weights[1] if len(weights) == 2 else 0


def _batch_matmul(operands: _Operands) -> int:
    """[..., m, k] x [..., k, n], the first one stored transposed if adj_x says so."""
    left = operands.input(0)
    if len(left) < 2:
        return 0
    return operands.output * (left[-2] if operands.node.options.get("adj_x") else left[-1])


def _lstm(operands: _Operands) -> int:
    """Every step multiplies the gates' input and recurrent matrices and the projection's."""
    matrices = [operands.input(position) for position in (*range(1, 9), 16)]
    steps = math.prod(operands.input(0)[:-1])
    return steps * sum(math.prod(matrix) for matrix in matrices if len(matrix) == 2)


def _rnn(operands: _Operands) -> int:
    """Every step multiplies the input's and the recurrent matrix."""
    matrices = [operands.input(position) for position in (1, 2)]
    return math.prod(operands.input(0)[:-1]) * sum(math.prod(matrix) for matrix in matrices)


def _svdf(operands: _Operands) -> int:
    """Weights over features [filters, in] and over time [filters, memory]."""
    features, time = operands.input(1), operands.input(2)
    if len(features) != 2 or len(time) != 2:
        return 0
    return math.prod(operands.input(0)[:-1]) * (math.prod(features) + math.prod(time))


_COUNTERS: Mapping[str, Callable[[_Operands], int]] = {
    "BATCH_MATMUL": _batch_matmul,
    "CONV_2D": _conv_2d,
    "CONV_3D": _conv_3d,
    "DEPTHWISE_CONV_2D": _depthwise_conv_2d,
    "FULLY_CONNECTED": _fully_connected,
    "LSTM": _lstm,
    "RNN": _rnn,
    "SVDF": _svdf,
    "TRANSPOSE_CONV": _transpose_conv,
    "UNIDIRECTIONAL_SEQUENCE_LSTM": _lstm,
    "UNIDIRECTIONAL_SEQUENCE_RNN": _rnn,
}
