"""LSTM on float data: the constants of its kernels for float and for int8 weights."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from codegen.fixed_point import ACTIVATION_CLAMPS
from codegen.graph import DType, Tensor
from codegen.ops.base import OpContext, Param, weights
from codegen.ops.float32 import LARGEST_FLOAT
from codegen.ops.lstm_operands import Gate, Lstm, LstmForm, Params, clip, constant


def float_form(context: OpContext, lstm: Lstm) -> LstmForm:
    """float32 data; the matrices are float32, or int8 with one scale each (hybrid).

    Raises:
        Unsupported: for other types, and for an activation that is neither tanh nor a clamp.
    """
    for tensor in (lstm.x, context.output(), lstm.state, lstm.cell):
        context.require_type(tensor, DType.FLOAT32)
    matrix = next(gate.input for gate in lstm.gates if gate.input is not None)
    context.require_type(matrix, DType.FLOAT32, DType.INT8)
    hybrid = matrix.dtype is DType.INT8
    params = [p for gate in lstm.gates for p in _gate(context, gate, hybrid)]
    params += _rules(context)
    params += _matrix(context, "projection", lstm.projection, hybrid)
    params.append(("projection_bias", constant(context, lstm.projection_bias, DType.FLOAT32)))
    params.append(("projection_clip", clip(context, "proj_clip")))
    if not hybrid:
        return LstmForm("cg_lstm_f32", params, 16 * lstm.units, units="rules.units")
    params.append(("asymmetric", int(bool(context.option("asymmetric_quantize_inputs")))))
    codes = max(lstm.inputs + lstm.outputs, lstm.units)
    return LstmForm("cg_lstm_hybrid", params, 16 * lstm.units + codes, units="rules.units")


def _gate(context: OpContext, gate: Gate, hybrid: bool) -> Iterator[tuple[str, Param]]:
    name = gate.name
    yield from _matrix(context, f"{name}.input", gate.input, hybrid)
    yield from _matrix(context, f"{name}.recurrent", gate.recurrent, hybrid)
    yield f"{name}.vectors.bias", constant(context, gate.bias, DType.FLOAT32)
    if hybrid and gate.peephole is not None:
        context.require_type(gate.peephole, DType.INT8)
        scale = np.float32(_scale(context, gate.peephole))
        factors = context.require_constant(gate.peephole).astype(np.float32) * scale
        yield f"{name}.vectors.peephole", weights(factors.reshape(-1))
    else:
        yield f"{name}.vectors.peephole", constant(context, gate.peephole, DType.FLOAT32)
    yield f"{name}.vectors.norm", constant(context, gate.norm, DType.FLOAT32)


def _matrix(
    context: OpContext, name: str, matrix: Tensor | None, hybrid: bool
) -> Iterator[tuple[str, Param]]:
    """A matrix, with its scale if it is int8."""
    yield name, constant(context, matrix, DType.INT8 if hybrid else DType.FLOAT32)
    if hybrid and matrix is not None:
        yield f"{name}_scale", _scale(context, matrix)


def _scale(context: OpContext, operand: Tensor) -> float:
    quant = context.require_quant(operand)
    if quant.zero_point:
        raise context.invalid(f"{operand.label} has the zero point {quant.zero_point}, not 0")
    return quant.scale


def _rules(context: OpContext) -> Params:
    """The curve of candidates and cells, and the limit of these."""
    activation = context.str_option("fused_activation_function", "TANH")
    low, high = ACTIVATION_CLAMPS.get(activation, (None, None))
    if activation != "TANH" and activation not in ACTIVATION_CLAMPS:
        raise context.unsupported(f"the activation {activation} is not supported", "use tanh")
    return [
        ("rules.is_tanh", int(activation == "TANH")),
        ("rules.act_min", -LARGEST_FLOAT if low is None else float(low)),
        ("rules.act_max", LARGEST_FLOAT if high is None else float(high)),
        ("rules.cell_clip", clip(context, "cell_clip")),
    ]
