"""The call that copies a tensor, or a box of it, byte by byte: what views fall back to."""

from __future__ import annotations

from codegen.graph import Tensor
from codegen.ops.base import Access, Call

_KERNEL = "cg_copy"


def copy_call(x: Access, y: Access, element_bytes: int) -> Call:
    """Copy the box of `x` to the box of `y`; both have the same extent (n, h, w, c)."""
    return Call(
        kernel=_KERNEL,
        header="cg_copy.h",
        args="cg_copy_args",
        params=(("element_bytes", element_bytes),),
        inputs=(x,),
        outputs=(y,),
    )


def is_copy(call: Call) -> bool:
    """Whether the call only moves bytes, so that a shared place makes it superfluous."""
    return call.kernel == _KERNEL


def reshaped_copy(x: Tensor, y: Tensor) -> Call:
    """Copy all of `x` to `y`, whose shape differs but whose elements stand in the same order."""
    flat = (1, 1, 1, x.elements)
    return copy_call(
        Access(x.index, flat, dense=True), Access(y.index, flat, dense=True), x.dtype.size
    )
