"""Element-wise operators: names of their C kernels by type, and those of one operand.

Source of what types there are: LiteRT's reference kernels.
"""

from __future__ import annotations

from collections.abc import Sequence

from codegen.graph import DType, Tensor
from codegen.ops.base import Alias, Call, OpContext, Param, whole

SUFFIX = {
    DType.INT8: "s8",
    DType.UINT8: "u8",
    DType.BOOL: "b8",
    DType.INT16: "s16",
    DType.UINT16: "u16",
    DType.INT32: "s32",
    DType.UINT32: "u32",
    DType.INT64: "s64",
    DType.UINT64: "u64",
    DType.FLOAT16: "f16",
    DType.FLOAT32: "f32",
    DType.FLOAT64: "f64",
}
"""Of the kernel for a type, and of the C type of its elements (cg_element.h)."""


def unary_operands(context: OpContext, types: Sequence[DType]) -> tuple[Tensor, Tensor]:
    """The only input and output, of one shape and of the same one of `types`.

    Raises:
        Unsupported: for another type.
        InvalidModel: for a different shape.
    """
    x, y = context.input(0), context.output()
    context.require_type(x, *types)
    context.require_type(y, x.dtype)
    context.require_shape(y, x.shape)
    return x, y


def unary_call(
    kernel: str,
    header: str,
    x: Tensor,
    y: Tensor,
    args: str = "",
    params: Sequence[tuple[str, Param]] = (),
) -> Call:
    """One pass over all elements of `x`; `args` and `params` as in `Call`."""
    return Call(
        kernel=kernel,
        header=header,
        args=args,
        params=tuple(params),
        inputs=(whole(x, Alias.ELEMENT),),
        outputs=(whole(y),),
        pointwise=True,
    )


def is_quantized(tensor: Tensor) -> bool:
    """Whether the file gives the tensor a scale."""
    return tensor.quant is not None and bool(tensor.quant.scales)
