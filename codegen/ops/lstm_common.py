"""LSTM over a sequence or one step: the call of its kernel, and the form per type.

A step has the sums of four gates, each of the input and of the last output, peepholes at the cell,
and normalised sums where factors are given:

    i, f, o = logistic(sums)     g = curve(sums)     c = f * c + i * g     y = o * curve(c)

A gate without input weights is the input gate of a coupled cell: i = 1 - f.
"""

from __future__ import annotations

from codegen.graph import DType
from codegen.ops.base import Access, Call, Lowered, OpContext, all_rows
from codegen.ops.lstm_float import float_form
from codegen.ops.lstm_int8 import int8_form
from codegen.ops.lstm_operands import Lstm, LstmForm, lstm_operands


def lower_lstm(context: OpContext, steps: int, batch: int, time_major: bool) -> Lowered:
    """Shapes: x[..., inputs] -> y[..., outputs], and the new output and cell states.

    Raises:
        Unsupported: for types, activations and operands that no form takes.
        InvalidModel: for operands whose shapes do not go together.
    """
    lstm = lstm_operands(context, steps, batch, time_major)
    context.require_shape(context.output(), (*lstm.x.shape[:-1], lstm.outputs))
    form = (float_form if lstm.x.dtype is DType.FLOAT32 else int8_form)(context, lstm)
    taps = sum(t.elements for g in lstm.gates for t in (g.input, g.recurrent) if t is not None)
    taps += lstm.projection.elements if lstm.projection else 0
    summary = f"{steps} steps, {lstm.inputs} -> {lstm.units} units"
    call = _call(context, lstm, form)
    return Lowered(calls=(call,), summary=summary, macs=taps * steps * batch)


def _call(context: OpContext, lstm: Lstm, form: LstmForm) -> Call:
    rows, cols = (lstm.steps, lstm.batch) if lstm.time_major else (lstm.batch, lstm.steps)
    after = context.node.outputs[-2:]
    sizes = (lstm.state.elements, lstm.cell.elements)
    before = (lstm.state.index, lstm.cell.index)
    return Call(
        kernel=form.kernel,
        header=f"{form.kernel}.h",
        args=f"{form.kernel}_args",
        params=(
            ("steps", lstm.steps),
            ("batch", lstm.batch),
            ("time_major", int(lstm.time_major)),
            ("inputs", lstm.inputs),
            (form.units, lstm.units),
            ("outputs", lstm.outputs),
            *form.params,
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
        scratch=form.scratch,
    )
