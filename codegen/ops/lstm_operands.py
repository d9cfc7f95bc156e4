"""The operands of an LSTM, which are those of the schema's full kernel, and their shapes."""

from __future__ import annotations

from dataclasses import dataclass

from codegen.graph import DType, Tensor
from codegen.ops.base import OpContext, Param, weights

GATES = ("input", "forget", "cell", "output")
_INPUT_WEIGHTS, _RECURRENT_WEIGHTS, _PEEPHOLES, _BIASES, _NORMS = 1, 5, 9, 12, 20
_PROJECTION, _PROJECTION_BIAS, _STATE, _CELL = 16, 17, 18, 19
_PEEPHOLE_OF = {"input": 0, "forget": 1, "output": 2}

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


@dataclass(frozen=True, eq=False)
class LstmForm:
    """The kernel for a node's types, the constants that it takes, and its bytes of scratch.

    `units` is the name of the field that says how many there are.
    """

    kernel: str
    params: Params
    scratch: int
    units: str = "units"


def lstm_operands(context: OpContext, steps: int, batch: int, time_major: bool) -> Lstm:
    """All of a node's operands.

    Raises:
        InvalidModel: for operands whose shapes do not go together.
    """
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


def clip(context: OpContext, name: str) -> float:
    """The option of that name; 0 means no limit."""
    value = context.option(name, 0.0)
    return float(value) if isinstance(value, int | float) and value > 0 else 0.0


def constant(context: OpContext, operand: Tensor | None, dtype: DType) -> Param:
    """A constant operand of that type as a table; None where it is absent."""
    if operand is None:
        return None
    context.require_type(operand, dtype)
    return weights(context.require_constant(operand).reshape(-1))
