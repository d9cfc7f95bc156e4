"""RESHAPE: the same bytes under another shape, a view wherever lifetimes allow."""

from __future__ import annotations

from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.copy import reshaped_copy


def lower(context: OpContext) -> Lowered:
    """Shapes: x of any shape -> y with as many elements and the same type."""
    x, y = context.input(0), context.output()
    if x.elements != y.elements or x.dtype is not y.dtype:
        raise context.invalid(f"{x.label} {x.describe()} cannot become {y.describe()}")
    return Lowered(calls=(reshaped_copy(x, y),), view_of=x.index)


SPEC = OpSpec(name="RESHAPE", max_version=1, lower=lower)
