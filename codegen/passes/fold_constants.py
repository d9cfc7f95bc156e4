"""Fold constants: operators that move or convert constant data run now, with numpy.

Also folded are SHAPE of any tensor whose size is fixed, and the arithmetic that exporters do on
shapes (STRIDED_SLICE, PACK, ...), so that the shape operand of a RESHAPE becomes a constant.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from codegen import ops
from codegen.errors import Unsupported
from codegen.graph import DType, Graph, Node, Tensor
from codegen.ops.base import OpContext
from codegen.ops.concatenation import same_scales
from codegen.ops.movement import constant_ints
from codegen.ops.pad_common import paddings, zero_value
from codegen.ops.padv2 import fill_value
from codegen.ops.requantize import unpacked_int4
from codegen.ops.strided_slice import slicing
from codegen.ops.transpose import permutation
from codegen.passes.fold_arithmetic import ARITHMETIC
from codegen.passes.fold_moves import MOVES
from codegen.passes.rewrite import Array, Evaluate, for_each_node, with_tensor, without
from codegen.passes.settle_shapes import leaves_shapes_open, settle, with_settled_inputs

_BEYOND_KERNELS = frozenset(("QUANTIZE", "DEQUANTIZE", *ARITHMETIC))
"""Evaluated for more types than there are kernels for; what they do not know they leave."""


def fold_constants(graph: Graph) -> Graph:
    """Replace the outputs of every foldable node by constants.

    Sizes that the file leaves open are settled on the way, as shapes decide what is constant and
    constants decide shapes.

    Raises:
        InvalidModel: for a foldable node that contradicts itself, as lowering it would.
    """
    if leaves_shapes_open(graph):
        return for_each_node(with_settled_inputs(graph), _settle_and_fold)
    return for_each_node(graph, _fold)


def _settle_and_fold(graph: Graph, node: Node) -> Graph:
    return _fold(settle(graph, node), node)


def _is_supported(context: OpContext) -> bool:
    """Whether the node would lower; one that is refused stays, to be named with all others."""
    try:
        ops.lower(context)
    except Unsupported:
        return False
    return True


def _fold(graph: Graph, node: Node) -> Graph:
    context = OpContext(graph, node)
    evaluate = _EVALUATE.get(node.op)
    if evaluate is None or not _inputs_known(graph, node):
        return graph
    if node.op in ops.registry() and node.op not in _BEYOND_KERNELS and not _is_supported(context):
        return graph
    values = evaluate(context)
    if values is None or len(values) != len(node.outputs):
        return graph
    for index, value in zip(node.outputs, values, strict=True):
        tensor = graph.tensors[index]
        if value.shape != tensor.shape or value.dtype != tensor.dtype.numpy:
            return graph
        graph = with_tensor(graph, replace(tensor, raw=np.ascontiguousarray(value).tobytes()))
    return without(graph, node)


def _inputs_known(graph: Graph, node: Node) -> bool:
    tensors = [graph.tensors[t] for t in node.inputs if t >= 0]
    if node.op == "SHAPE":
        return not any(t.free_dims for t in tensors)
    if node.op == "RANK":
        return True
    packed = DType.INT4 if node.op == "DEQUANTIZE" else None
    readable = all(
        (t.dtype.numpy is not None or t.dtype is packed) and (node.op == "DENSIFY" or not t.sparse)
        for t in tensors
    )
    return bool(tensors) and readable and all(t.is_constant for t in tensors)


def _reshaped(context: OpContext) -> list[Array]:
    return [context.input(0).array.reshape(context.output().shape)]


def _transposed(context: OpContext) -> list[Array]:
    return [np.transpose(context.input(0).array, permutation(context))]


def _slice(context: OpContext) -> list[Array]:
    begin, y = constant_ints(context, context.input(1)), context.output()
    box = tuple(slice(b, b + n) for b, n in zip(begin, y.shape, strict=True))
    return [context.input(0).array[box]]


def _strided_slice(context: OpContext) -> list[Array]:
    cut = slicing(context)
    taken = [c.start + c.stride * np.arange(c.count) for c in cut.cuts]
    return [context.input(0).array[np.ix_(*taken)].reshape(cut.shape)]


def _concatenated(context: OpContext) -> list[Array] | None:
    """None where codes are brought to another scale on the way."""
    inputs = [context.input(i) for i in range(len(context.node.inputs))]
    if not all(same_scales(context, x, context.output()) for x in inputs):
        return None
    return [np.concatenate([x.array for x in inputs], axis=context.int_option("axis"))]


def _pad(context: OpContext) -> list[Array]:
    return [_padded(context, zero_value(context.output()))]


def _padv2(context: OpContext) -> list[Array]:
    return [_padded(context, fill_value(context))]


def _padded(context: OpContext, value: Array) -> Array:
    y = np.full(context.output().shape, value)
    inner = zip(paddings(context), context.input(0).shape, strict=True)
    y[tuple(slice(before, before + size) for (before, _), size in inner)] = context.input(0).array
    return y


def _shape(context: OpContext) -> list[Array] | None:
    if context.output().dtype not in (DType.INT32, DType.INT64):
        return None
    return [np.array(context.input(0).shape, context.output().dtype.numpy)]


def _rank(context: OpContext) -> list[Array]:
    return [np.array(len(context.input(0).shape), np.int32)]


def _dequantized(context: OpContext) -> list[Array] | None:
    """Scale times code: a product of float32 and at most 17 bits, rounded once."""
    x = context.input(0)
    if x.dtype is DType.FLOAT16:
        return [x.array.astype(np.float32)]
    codes = x.dtype in (DType.INT4, DType.INT8, DType.UINT8, DType.INT16)
    if not codes or x.raw is None or not (x.quant and x.quant.scales):
        return None
    values = unpacked_int4(x.raw, x.shape) if x.dtype is DType.INT4 else x.array
    scale, zero = (_along_axis(x, values) for values in (x.quant.scales, x.quant.zero_points))
    return [(scale * (values.astype(np.float64) - zero)).astype(np.float32)]


def _along_axis(x: Tensor, values: tuple[float, ...] | tuple[int, ...]) -> NDArray[np.float64]:
    """One value for all, or one per slice of the quantised axis, ready to broadcast."""
    shape = [1] * len(x.shape)
    if x.quant and len(values) > 1:
        shape[x.quant.axis] = len(values)
    return np.array(values, np.float64).reshape(shape)


def _quantized(context: OpContext) -> list[Array] | None:
    """As docs/numerics.md states; None where the reference's conversion is undefined."""
    x, y = context.input(0), context.output()
    if x.dtype is not DType.FLOAT32 or y.dtype not in (DType.INT8, DType.UINT8, DType.INT16):
        return None
    if y.quant is None or not y.quant.scales:
        context.require_quant(y)
        return None
    scale, zero = (_along_axis(y, values) for values in (y.quant.scales, y.quant.zero_points))
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        ratio = x.array.astype(np.float32) / scale.astype(np.float32)
    if not np.all(np.abs(ratio) < 2**30):
        return None
    away = np.copysign(np.floor(np.abs(ratio.astype(np.float64)) + 0.5), ratio)
    limits = np.iinfo(y.dtype.value)
    clamped = np.clip(away + zero, limits.min, limits.max)
    return [clamped.astype(y.dtype.value)]


_EVALUATE: Mapping[str, Evaluate] = {
    **MOVES,
    **ARITHMETIC,
    "RESHAPE": _reshaped,
    "DENSIFY": _reshaped,
    "SQUEEZE": _reshaped,
    "EXPAND_DIMS": _reshaped,
    "TRANSPOSE": _transposed,
    "SLICE": _slice,
    "STRIDED_SLICE": _strided_slice,
    "CONCATENATION": _concatenated,
    "PAD": _pad,
    "PADV2": _padv2,
    "SHAPE": _shape,
    "RANK": _rank,
    "QUANTIZE": _quantized,
    "DEQUANTIZE": _dequantized,
}
