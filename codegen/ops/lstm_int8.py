"""LSTM on int8 data with an int16 cell: the constants of its kernel.

Maths: docs/numerics.md. Scales are multiplied in the order and the precision of the reference.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from codegen.graph import DType, Quantization, Tensor
from codegen.ops.base import OpContext, Param, table
from codegen.ops.lstm_operands import GATES, Gate, Lstm, LstmForm, Params, clip, constant
from codegen.ops.requantize import factor
from codegen.target import Reference

_INTERMEDIATES, _HIDDEN = 5, 4  # four sums before normalisation and the units
_TANH_EXPONENTS = range(-15, -8)  # of the cell's scale; beyond, the reference computes no tanh
_EXPONENTS = range(-30, 1)
_MOST_UNITS = 2**16  # of normalised sums


def int8_form(context: OpContext, lstm: Lstm) -> LstmForm:
    """int8 data and weights, int16 cell.

    Raises:
        Unsupported: for other types and activations, and where the reference reads past its data.
        InvalidModel: for quantisation that is missing or no power of two at the cell.
    """
    for tensor in (lstm.x, context.output(), lstm.state):
        context.require_type(tensor, DType.INT8)
    context.require_type(lstm.cell, DType.INT16)
    if context.target.reference is Reference.TFLM:
        raise context.unsupported(
            "TFLite Micro computes its int8 LSTM in other steps", "leave out --reference tflm"
        )
    if context.str_option("fused_activation_function", "TANH") != "TANH":
        raise context.unsupported("another activation than TANH", "use tanh")
    exponent, state = _cell_exponent(context, lstm), context.require_quant(lstm.state)
    hidden = _hidden_quant(context)
    limit = np.float32(clip(context, "cell_clip")) / np.float32(2.0**exponent)
    out_limit = np.float32(clip(context, "proj_clip")) / np.float32(state.scale)
    params = [p for gate in lstm.gates for p in _gate(context, lstm, gate, exponent)]
    params += [
        ("cell_bits", 15 + exponent),
        ("has_tanh", int(exponent in _TANH_EXPONENTS)),
        ("peepholes", lstm.outputs * (lstm.batch if lstm.time_major else 1)),
        ("cell_clip", int(np.clip(limit, 0, 32767))),
        *_factor(context, "hidden", 2.0**-15 / hidden.scale * 2.0**-15),
        # Before a projection the reference takes the zero point away, and adds it in the bias.
        ("hidden_zero_point", -hidden.zero_point if lstm.projection else hidden.zero_point),
        ("output_zero_point", state.zero_point),
        ("projection_clip", int(np.clip(out_limit, 0, 127))),
        *_projection(context, lstm, hidden, state.scale),
    ]
    return LstmForm("cg_lstm_s8", params, 8 * lstm.units)


def _cell_exponent(context: OpContext, lstm: Lstm) -> int:
    """The cell's scale as a power of two."""
    scale = context.require_quant(lstm.cell).scale
    exponent = round(math.log2(scale))
    if 2.0**exponent != scale or exponent not in _EXPONENTS:
        raise context.unsupported(
            f"{lstm.cell.label} has the scale {scale}",
            f"use a power of two from 2^{_EXPONENTS[0]} to 2^{_EXPONENTS[-1]}",
        )
    if exponent not in _TANH_EXPONENTS and lstm.gates[0].input is None:
        raise context.unsupported(
            f"{lstm.cell.label} has the scale {scale}, with which coupled gates are undefined",
            f"use a power of two from 2^{_TANH_EXPONENTS[0]} to 2^{_TANH_EXPONENTS[-1]}",
        )
    return exponent


def _intermediate(context: OpContext, position: int) -> Quantization:
    """The quantisation of an intermediate value."""
    found = context.node.intermediates
    if len(found) > _INTERMEDIATES:
        raise context.unsupported(
            f"it has {len(found)} intermediate values of 8 bits",
            "convert the model with an LSTM whose gates have 16 bits",
        )
    tensor = context.graph.tensors[found[position]] if len(found) > position else None
    if tensor is None or tensor.quant is None or not tensor.quant.scales:
        raise context.invalid(f"it states no quantisation of its intermediate value {position}")
    return tensor.quant


def _hidden_quant(context: OpContext) -> Quantization:
    """That of the units before projection."""
    return _intermediate(context, _HIDDEN)


def _factor(context: OpContext, name: str, real: float) -> Params:
    """A factor, rounded to float32, in fixed point."""
    multiplier, shift = factor(context, float(np.float32(real)))
    return [(f"{name}.multiplier", multiplier), (f"{name}.shift", shift)]


def _projection(context: OpContext, lstm: Lstm, hidden: Quantization, out_scale: float) -> Params:
    if lstm.projection is None:
        return [("projection", None), ("projection_bias", None)]
    values = constant(context, lstm.projection, DType.INT8)
    scale = np.float32(context.require_quant(lstm.projection).scale)
    scale = scale * np.float32(hidden.scale) / np.float32(out_scale)
    bias = _folded_bias(context, lstm.projection, -hidden.zero_point, lstm.projection_bias)
    return [
        ("projection", values),
        ("projection_bias", table(bias)),
        *_factor(context, "projection_scale", float(scale)),
    ]


def _folded_bias(
    context: OpContext, matrix: Tensor, zero_point: int, bias: Tensor | None
) -> NDArray[np.int32]:
    """The bias less what the zero point adds to every sum."""
    values = context.require_constant(matrix).reshape(matrix.shape[0], -1)
    sums = -zero_point * np.asarray(values, np.int64).sum(axis=1)
    if bias is not None:
        context.require_type(bias, DType.INT32)
        sums = sums + np.asarray(context.require_constant(bias), np.int64).reshape(-1)
    return np.asarray(sums, np.int32)


def _gate(context: OpContext, lstm: Lstm, gate: Gate, exponent: int) -> Iterator[tuple[str, Param]]:
    name = gate.name
    if gate.input is None or gate.recurrent is None:
        yield f"{name}.input", None
        return
    q_x, q_h = context.require_quant(lstm.x), context.require_quant(lstm.state)
    unit = 2.0**-12
    if gate.norm is not None:
        unit = _intermediate(context, GATES.index(name)).scale
        yield from _norm(context, lstm, gate, gate.norm)
    yield f"{name}.input", constant(context, gate.input, DType.INT8)
    yield f"{name}.recurrent", constant(context, gate.recurrent, DType.INT8)
    bias = None if gate.norm is not None else gate.bias
    input_bias = _folded_bias(context, gate.input, q_x.zero_point, bias)
    recurrent_bias = _folded_bias(context, gate.recurrent, q_h.zero_point, None)
    yield f"{name}.input_bias", table(input_bias)
    yield f"{name}.recurrent_bias", table(recurrent_bias)
    for word, data, matrix in (("input", q_x, gate.input), ("recurrent", q_h, gate.recurrent)):
        scale = np.float32(data.scale) * np.float32(context.require_quant(matrix).scale)
        yield from _factor(context, f"{name}.{word}_scale", float(scale / np.float32(unit)))
    yield f"{name}.peephole", constant(context, gate.peephole, DType.INT16)
    if gate.peephole is not None:
        if lstm.outputs > lstm.units:
            raise context.unsupported(
                "int8 peepholes of fewer units than outputs are undefined", "leave them out"
            )
        scale_of_cell = 2.0**exponent * context.require_quant(gate.peephole).scale
        yield from _factor(context, f"{name}.peephole_scale", scale_of_cell / unit)


def _norm(context: OpContext, lstm: Lstm, gate: Gate, norm: Tensor) -> Iterator[tuple[str, Param]]:
    """Factors and biases of normalised sums, which get 12 fractional bits."""
    if lstm.units >= _MOST_UNITS:
        raise context.unsupported(f"it normalises {lstm.units} sums", f"use below {_MOST_UNITS}")
    scale = context.require_quant(norm).scale
    multiplier, shift = factor(context, scale)
    yield f"{gate.name}.norm", constant(context, norm, DType.INT16)
    yield f"{gate.name}.norm_bias", constant(context, gate.bias, DType.INT32)
    yield f"{gate.name}.norm_scale.multiplier", multiplier
    yield f"{gate.name}.norm_scale.shift", shift + 12
    guard = np.float32(10000) * np.float32(scale)
    yield f"{gate.name}.least_variance", max(1, int(guard))
