"""LSTM over a sequence or one step: operands, shapes and the forms per type.

The operands are those of the schema's full kernel. A step has the sums of four gates, each of the
input and of the last output, peepholes at the cell, and normalised sums where factors are given:

    i, f, o = logistic(sums)     g = curve(sums)     c = f * c + i * g     y = o * curve(c)

A gate without input weights is the input gate of a coupled cell: i = 1 - f.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from codegen.fixed_point import ACTIVATION_CLAMPS
from codegen.graph import DType, Tensor
from codegen.ops.base import Access, Call, Lowered, OpContext, Param, all_rows, table, weights
from codegen.ops.float32 import LARGEST_FLOAT
from codegen.ops.requantize import factor

GATES = ("input", "forget", "cell", "output")
_INPUT_WEIGHTS, _RECURRENT_WEIGHTS, _PEEPHOLES, _BIASES, _NORMS = 1, 5, 9, 12, 20
_PROJECTION, _PROJECTION_BIAS, _STATE, _CELL = 16, 17, 18, 19
_PEEPHOLE_OF = {"input": 0, "forget": 1, "output": 2}
_HIDDEN = 4  # of the intermediates

Params = list[tuple[str, Param]]


@dataclass(frozen=True)
class Gate:
    """The constant operands of one gate; None where there is none."""

    name: str
    input: Tensor | None
    recurrent: Tensor | None
    bias: Tensor | None
    peephole: Tensor | None
    norm: Tensor | None

    @property
    def operands(self) -> tuple[Tensor | None, ...]:
        return self.input, self.recurrent, self.bias, self.peephole, self.norm


@dataclass(frozen=True)
class Lstm:
    """Everything of one node. Axis 0 of x are the steps if `time_major`, else the batch."""

    x: Tensor
    state: Tensor
    cell: Tensor
    gates: tuple[Gate, ...]
    projection: Tensor | None
    projection_bias: Tensor | None
    steps: int
    batch: int
    time_major: bool

    @property
    def units(self) -> int:
        return self.cell.shape[-1]

    @property
    def outputs(self) -> int:
        return self.state.shape[-1]

    @property
    def inputs(self) -> int:
        return self.x.shape[-1]


def lower_lstm(context: OpContext, steps: int, batch: int, time_major: bool) -> Lowered:
    """Shapes: x[..., inputs] -> y[..., outputs], and the new output and cell states.

    Raises:
        Unsupported: for types, activations and operands that no form takes.
        InvalidModel: for operands whose shapes do not go together.
    """
    lstm = _operands(context, steps, batch, time_major)
    context.require_shape(context.output(), (*lstm.x.shape[:-1], lstm.outputs))
    if lstm.x.dtype is DType.FLOAT32:
        params, kernel, element = _float_params(context, lstm), "cg_lstm_f32", 4
    else:
        params, kernel, element = _int8_params(context, lstm), "cg_lstm_s8", 2
    call = _call(context, lstm, kernel, params, 4 * element * lstm.units)
    taps = sum(t.elements for g in lstm.gates for t in (g.input, g.recurrent) if t is not None)
    taps += lstm.projection.elements if lstm.projection else 0
    summary = f"{steps} steps, {lstm.inputs} -> {lstm.units} units"
    return Lowered(calls=(call,), summary=summary, macs=taps * steps * batch)


def _operands(context: OpContext, steps: int, batch: int, time_major: bool) -> Lstm:
    gates = tuple(_gate(context, number, name) for number, name in enumerate(GATES))
    lstm = Lstm(
        context.input(0),
        context.input(_STATE),
        context.input(_CELL),
        gates,
        context.optional_input(_PROJECTION),
        context.optional_input(_PROJECTION_BIAS),
        steps,
        batch,
        time_major,
    )
    for state in (lstm.state, lstm.cell):
        if not state.is_variable or state.elements != batch * state.shape[-1]:
            raise context.invalid(f"{state.label} {state.describe()} is no state of {batch} rows")
    for gate in gates:
        _check_gate(context, lstm, gate)
    if lstm.projection is None and lstm.outputs != lstm.units:
        raise context.invalid(f"{lstm.units} units make no {lstm.outputs} outputs")
    _check_size(context, lstm.projection, lstm.outputs * lstm.units)
    _check_size(context, lstm.projection_bias, lstm.outputs)
    return lstm


def _gate(context: OpContext, number: int, name: str) -> Gate:
    peephole = _PEEPHOLE_OF.get(name)
    return Gate(
        name,
        context.optional_input(_INPUT_WEIGHTS + number),
        context.optional_input(_RECURRENT_WEIGHTS + number),
        context.optional_input(_BIASES + number),
        None if peephole is None else context.optional_input(_PEEPHOLES + peephole),
        context.optional_input(_NORMS + number),
    )


def _check_gate(context: OpContext, lstm: Lstm, gate: Gate) -> None:
    if gate.name == "input" and gate.input is None:
        return
    if gate.input is None or gate.recurrent is None or gate.bias is None:
        raise context.invalid(f"the {gate.name} gate lacks weights or biases")
    _check_size(context, gate.input, lstm.units * lstm.inputs)
    _check_size(context, gate.recurrent, lstm.units * lstm.outputs)
    for operand in (gate.bias, gate.peephole, gate.norm):
        _check_size(context, operand, lstm.units)


def _check_size(context: OpContext, operand: Tensor | None, elements: int) -> None:
    if operand is not None and operand.elements != elements:
        raise context.invalid(f"{operand.label} {operand.describe()} has not {elements} elements")


def _call(context: OpContext, lstm: Lstm, kernel: str, params: Params, scratch: int) -> Call:
    rows, cols = (lstm.steps, lstm.batch) if lstm.time_major else (lstm.batch, lstm.steps)
    after = context.node.outputs[-2:]
    sizes = (lstm.state.elements, lstm.cell.elements)
    before = (lstm.state.index, lstm.cell.index)
    return Call(
        kernel=kernel,
        header=f"{kernel}.h",
        args=f"{kernel}_args",
        params=(
            ("steps", lstm.steps),
            ("batch", lstm.batch),
            ("time_major", int(lstm.time_major)),
            ("inputs", lstm.inputs),
            ("units", lstm.units),
            ("outputs", lstm.outputs),
            *params,
        ),
        inputs=(
            Access(lstm.x.index, (1, rows, cols, lstm.inputs), rows=all_rows(rows)),
            *(
                Access(t, (1, 1, 1, size), rows=all_rows(1), dense=True)
                for t, size in zip(before, sizes, strict=True)
            ),
        ),
        outputs=(
            Access(context.output().index, (1, rows, cols, lstm.outputs)),
            *(
                Access(t, (1, 1, 1, size), dense=True, whole=True)
                for t, size in zip(after, sizes, strict=True)
            ),
        ),
        scratch=scratch,
    )


def _clip(context: OpContext, name: str) -> float:
    value = context.option(name, 0.0)
    return float(value) if isinstance(value, int | float) and value > 0 else 0.0


def _constant(context: OpContext, operand: Tensor | None, dtype: DType) -> Param:
    if operand is None:
        return None
    context.require_type(operand, dtype)
    return weights(context.require_constant(operand).reshape(-1))


def _float_params(context: OpContext, lstm: Lstm) -> Params:
    for tensor in (lstm.x, context.output(), lstm.state, lstm.cell):
        context.require_type(tensor, DType.FLOAT32)
    params: Params = []
    for gate in lstm.gates:
        names = ("input", "recurrent", "bias", "peephole", "norm")
        for name, operand in zip(names, gate.operands, strict=True):
            value = _constant(context, operand, DType.FLOAT32)
            params.append((f"{gate.name}.{name}", value))
    activation = context.str_option("fused_activation_function", "TANH")
    low, high = ACTIVATION_CLAMPS.get(activation, (None, None))
    if activation != "TANH" and activation not in ACTIVATION_CLAMPS:
        raise context.unsupported(f"the activation {activation} is not supported", "use tanh")
    return [
        *params,
        ("is_tanh", int(activation == "TANH")),
        ("act_min", -LARGEST_FLOAT if low is None else float(low)),
        ("act_max", LARGEST_FLOAT if high is None else float(high)),
        ("cell_clip", _clip(context, "cell_clip")),
        ("projection", _constant(context, lstm.projection, DType.FLOAT32)),
        ("projection_bias", _constant(context, lstm.projection_bias, DType.FLOAT32)),
        ("projection_clip", _clip(context, "proj_clip")),
    ]


def _scale(context: OpContext, name: str, real: np.float32) -> Params:
    multiplier, shift = factor(context, float(real))
    return [(f"{name}.multiplier", multiplier), (f"{name}.shift", shift)]


def _int8_params(context: OpContext, lstm: Lstm) -> Params:
    """Scales are multiplied in float32, from left to right."""
    for tensor in (lstm.x, context.output(), lstm.state):
        context.require_type(tensor, DType.INT8)
    context.require_type(lstm.cell, DType.INT16)
    state, cell = context.require_quant(lstm.state), context.require_quant(lstm.cell)
    exponent = round(math.log2(cell.scale))
    if 2.0**exponent != cell.scale or not -15 <= exponent <= -9:
        raise context.unsupported(
            f"{lstm.cell.label} has the scale {cell.scale}", "use a power of two from 2^-15 to 2^-9"
        )
    if context.str_option("fused_activation_function", "TANH") != "TANH":
        raise context.unsupported("another activation than TANH", "use tanh")
    if lstm.projection is not None and any(gate.peephole for gate in lstm.gates):
        raise context.unsupported(
            "it has int8 peepholes and a projection", "use an LSTM without one of them"
        )
    hidden = _hidden_quant(context)
    clip = np.clip(np.float32(_clip(context, "cell_clip")) / np.float32(cell.scale), 0, 32767)
    out_clip = np.float32(_clip(context, "proj_clip")) / np.float32(state.scale)
    two_15 = np.float32(2.0**-15)
    hidden_scale = two_15 / np.float32(hidden[0]) * two_15
    params = [p for gate in lstm.gates for p in _int8_gate(context, lstm, gate, exponent)]
    params += [("cell_bits", 15 + exponent), ("cell_clip", int(clip))]
    params += _scale(context, "hidden", hidden_scale)
    # Before a projection the reference takes the zero point away, and adds it back in the bias.
    hidden_zero = -hidden[1] if lstm.projection else hidden[1]
    params += [("hidden_zero_point", hidden_zero), ("output_zero_point", state.zero_point)]
    params += [("projection_clip", int(np.clip(out_clip, 0, 127)))]
    return params + _int8_projection(context, lstm, hidden, state.scale)


def _hidden_quant(context: OpContext) -> tuple[float, int]:
    """Scale and zero point of the units before projection."""
    found = context.node.intermediates
    tensor = context.graph.tensors[found[_HIDDEN]] if len(found) > _HIDDEN else None
    if tensor is None or tensor.quant is None or not tensor.quant.scales:
        raise context.invalid("it states no quantisation of its hidden values")
    return tensor.quant.scale, tensor.quant.zero_point


def _int8_projection(
    context: OpContext, lstm: Lstm, hidden: tuple[float, int], out_scale: float
) -> Params:
    if lstm.projection is None:
        return [("projection", None), ("projection_bias", None)]
    values = _constant(context, lstm.projection, DType.INT8)
    scale = np.float32(context.require_quant(lstm.projection).scale)
    scale = scale * np.float32(hidden[0]) / np.float32(out_scale)
    bias = _folded_bias(context, lstm.projection, -hidden[1], lstm.projection_bias)
    return [
        ("projection", values),
        ("projection_bias", table(bias)),
        *_scale(context, "projection_scale", scale),
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


def _int8_gate(
    context: OpContext, lstm: Lstm, gate: Gate, exponent: int
) -> Iterator[tuple[str, Param]]:
    name = gate.name
    if gate.input is None or gate.recurrent is None:
        yield f"{name}.input", None
        return
    if gate.norm is not None:
        raise context.unsupported(
            f"{gate.norm.label} normalises the sums of int8 weights", "use an LSTM without it"
        )
    q_x, q_h = context.require_quant(lstm.x), context.require_quant(lstm.state)
    unit = np.float32(2.0**-12)
    yield f"{name}.input", _constant(context, gate.input, DType.INT8)
    yield f"{name}.recurrent", _constant(context, gate.recurrent, DType.INT8)
    bias = _folded_bias(context, gate.input, q_x.zero_point, gate.bias)
    yield f"{name}.input_bias", table(bias)
    yield (
        f"{name}.recurrent_bias",
        table(_folded_bias(context, gate.recurrent, q_h.zero_point, None)),
    )
    for word, data, matrix in (("input", q_x, gate.input), ("recurrent", q_h, gate.recurrent)):
        scale = np.float32(data.scale) * np.float32(context.require_quant(matrix).scale) / unit
        yield from _scale(context, f"{name}.{word}_scale", scale)
    yield f"{name}.peephole", _constant(context, gate.peephole, DType.INT16)
    if gate.peephole is not None:
        scale = np.float32(2.0**exponent) * np.float32(context.require_quant(gate.peephole).scale)
        yield from _scale(context, f"{name}.peephole_scale", scale / unit)
