"""Calls that fill whole tensors with values known now, or with one element computed at run time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from codegen.graph import Tensor
from codegen.ops.base import Access, Call, Lowered, table


def fill_call(y: Tensor, value: NDArray[np.generic]) -> Call:
    """Set every element of `y` to the one element of `value`."""
    return Call(
        kernel="cg_fill",
        header="cg_pad.h",
        args="cg_fill_args",
        params=(("element_bytes", y.dtype.size), ("value", table(value.reshape(-1)))),
        inputs=(),
        outputs=(Access(y.index, (1, 1, 1, y.elements)),),
    )


def constant_values(y: Tensor, values: NDArray[np.generic]) -> Lowered:
    """Copy a table into `y`: for results that depend on shapes alone, where they do not fold."""
    call = Call(
        kernel="cg_constant",
        header="cg_constant.h",
        args="cg_constant_args",
        params=(("element_bytes", y.dtype.size), ("values", table(values.reshape(-1)))),
        inputs=(),
        outputs=(Access(y.index, (1, 1, 1, y.elements)),),
    )
    return Lowered(calls=(call,))
