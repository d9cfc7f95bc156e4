"""The number formats of operators with weights, each a C kernel with the constants it takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from codegen.graph import DType, Tensor
from codegen.ops.base import OpContext, Param

Params = tuple[tuple[str, Param], ...]


@dataclass(frozen=True)
class Form:
    """One format.

    Attributes:
        types: of data, weights and result.
        kernel: the C function.
        header: its file in runtime_c/kernels.
        args: the C struct type of its constants.
        params: the constants that depend on the format, for (context, x, filters, y, axis of the
            output channels in the filters).
    """

    types: tuple[DType, DType, DType]
    kernel: str
    header: str
    args: str
    params: Callable[[OpContext, Tensor, Tensor, Tensor, int], Params]


def select_form(context: OpContext, forms: Sequence[Form]) -> Form:
    """The form for the types of inputs 0 (data) and 1 (weights) and output 0.

    Raises:
        Unsupported: naming the first tensor whose type goes with no form that fits those before.
    """
    fitting = list(forms)
    for i, tensor in enumerate((context.input(0), context.input(1), context.output())):
        context.require_type(tensor, *dict.fromkeys(form.types[i] for form in fitting))
        fitting = [form for form in fitting if form.types[i] is tensor.dtype]
    return fitting[0]


def data_types(forms: Sequence[Form]) -> tuple[DType, ...]:
    """The types of data that the forms take, each once."""
    return tuple(dict.fromkeys(form.types[0] for form in forms))
