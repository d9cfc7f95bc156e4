"""The types of quantised data, and how kernels for them are called."""

from __future__ import annotations

from codegen.graph import DType, Tensor
from codegen.ops.base import OpContext

SUFFIXES = {DType.INT8: "s8", DType.UINT8: "u8", DType.INT16: "s16"}
"""Type -> what ends the name of a C kernel for it."""

CODES = tuple(SUFFIXES)


def same_codes(context: OpContext, *tensors: Tensor) -> str:
    """Check that all tensors are of one quantised type; the suffix of their kernel.

    Raises:
        Unsupported: for another type, or different ones.
    """
    context.require_type(tensors[0], *CODES)
    for tensor in tensors[1:]:
        context.require_type(tensor, tensors[0].dtype)
    return SUFFIXES[tensors[0].dtype]
