"""Simple recurrent layers over a sequence or one step: y = curve(W x + R y' + bias).

y' is the last output, which is the state. Data are float32, the matrices float32 or int8 (hybrid).
"""

from __future__ import annotations

from codegen.fixed_point import ACTIVATION_CLAMPS
from codegen.graph import DType, Tensor
from codegen.ops.base import Access, Call, Lowered, OpContext, Param, all_rows, weights
from codegen.ops.float32 import LARGEST_FLOAT, float_bias

_INPUT, _RECURRENT, _BIAS, _STATE = 1, 2, 3, 4

Params = tuple[tuple[str, Param], ...]


def lower_rnn(context: OpContext, steps: int, batch: int, time_major: bool) -> Lowered:
    """Shapes: x[..., inputs] -> y[..., units], and the new state[batch, units].

    Raises:
        Unsupported: for types and activations that the kernel lacks.
        InvalidModel: for operands whose shapes do not go together.
    """
    x, y, state = context.input(0), context.output(), context.input(_STATE)
    for tensor in (x, y, state):
        context.require_type(tensor, DType.FLOAT32)
    inputs, units = x.shape[-1], state.shape[-1]
    if not state.is_variable or state.shape != (batch, units):
        raise context.invalid(f"{state.label} {state.describe()} is no state of {batch} rows")
    context.require_shape(y, (*x.shape[:-1], units))
    hybrid = context.input(_INPUT).dtype is DType.INT8
    bias = float_bias(context, context.input(_BIAS), units)
    rows, cols = (steps, batch) if time_major else (batch, steps)
    call = Call(
        kernel="cg_rnn_f32",
        header="cg_rnn_f32.h",
        args="cg_rnn_f32_args",
        params=(
            ("steps", steps),
            ("batch", batch),
            ("time_major", int(time_major)),
            ("inputs", inputs),
            ("units", units),
            *_matrix(context, "input", context.input(_INPUT), (units, inputs)),
            *_matrix(context, "recurrent", context.input(_RECURRENT), (units, units)),
            ("bias", bias),
            *_curve(context),
            ("asymmetric", int(bool(context.option("asymmetric_quantize_inputs")))),
        ),
        inputs=(
            Access(x.index, (1, rows, cols, inputs), rows=all_rows(rows)),
            Access(state.index, (1, 1, 1, state.elements), rows=all_rows(1), dense=True),
        ),
        outputs=(
            Access(y.index, (1, rows, cols, units)),
            Access(context.output(1).index, (1, 1, 1, state.elements), dense=True, whole=True),
        ),
        scratch=4 * units + (max(inputs, units) if hybrid else 0),
    )
    summary = f"{steps} steps, {inputs} -> {units} units"
    return Lowered(calls=(call,), summary=summary, macs=steps * batch * units * (inputs + units))


def _matrix(context: OpContext, name: str, matrix: Tensor, shape: tuple[int, int]) -> Params:
    """A matrix of floats, or of codes with their scale; both have the type of the first."""
    context.require_type(matrix, DType.FLOAT32, DType.INT8)
    if matrix.dtype is not context.input(_INPUT).dtype:
        raise context.invalid(f"{matrix.label} is {matrix.dtype.value}, other than the first")
    if matrix.shape != shape:
        raise context.invalid(f"{matrix.label} {matrix.describe()} is not {list(shape)}")
    values = weights(context.require_constant(matrix))
    if matrix.dtype is DType.FLOAT32:
        return ((f"{name}.real", values), (f"{name}.codes", None))
    quant = context.require_quant(matrix)
    if quant.zero_point:
        raise context.invalid(f"{matrix.label} has the zero point {quant.zero_point}, not 0")
    return ((f"{name}.real", None), (f"{name}.codes", values), (f"{name}.scale", quant.scale))


def _curve(context: OpContext) -> Params:
    activation = context.str_option("fused_activation_function", "NONE")
    if activation != "TANH" and activation not in ACTIVATION_CLAMPS:
        raise context.unsupported(f"the activation {activation} is not supported", "use tanh")
    low, high = ACTIVATION_CLAMPS.get(activation, (None, None))
    return (
        ("is_tanh", int(activation == "TANH")),
        ("act_min", -LARGEST_FLOAT if low is None else low),
        ("act_max", LARGEST_FLOAT if high is None else high),
    )
