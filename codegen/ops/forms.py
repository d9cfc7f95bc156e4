"""The number formats of operators with weights, each a C kernel with the constants it takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from codegen.graph import DType, Tensor
from codegen.ops.base import Access, Alias, OpContext, Param, all_rows, whole
from codegen.ops.spatial import Window

Params = tuple[tuple[str, Param], ...]
ParamsOf = Callable[[OpContext, Tensor, Tensor, Tensor, int], Params]


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
        quantises: the kernel turns data into codes first, one byte of scratch per element: of a
            convolution the whole image, else one input vector.
    """

    types: tuple[DType, DType, DType]
    kernel: str
    header: str
    args: str
    params: ParamsOf
    quantises: bool = False

    def scratch(self, elements: int) -> int:
        """Bytes of working memory to quantise so many elements at a time."""
        return elements if self.quantises else 0


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


def with_int4_weights(forms: Sequence[Form], *data: DType) -> tuple[Form, ...]:
    """The forms of these data again, for weights of 4 bits, which are stored as int8."""
    return tuple(
        replace(form, types=(form.types[0], DType.INT4, form.types[2]))
        for form in forms
        if form.types[0] in data and form.types[1] is DType.INT8
    )


def window_input(form: Form, x: Tensor, view: Window) -> Access:
    """The data of a sliding window; an image that is quantised first is read whole."""
    if form.quantises:
        return whole(x, Alias.NONE, all_rows(view.h.size))
    return whole(x, Alias.ROW, view.h.rows)


def data_types(forms: Sequence[Form]) -> tuple[DType, ...]:
    """The types of data that the forms take, each once."""
    return tuple(dict.fromkeys(form.types[0] for form in forms))
