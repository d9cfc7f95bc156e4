"""DENSIFY: a constant that the file stores without its zeros, with them.

The importer has put the zeros in (importer/sparsity.py), so that the operator folds away.
"""

from __future__ import annotations

from codegen.graph import DType
from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.copy import reshaped_copy
from codegen.ops.movement import moved_type

TYPES = (DType.FLOAT32, DType.FLOAT16, DType.INT8)


def lower(context: OpContext) -> Lowered:
    """Shapes: x, a sparse constant, of any shape -> y of the same one."""
    x, y = context.input(0), context.output()
    context.require_type(x, *TYPES)
    moved_type(context, x, y)
    context.require_shape(y, x.shape)
    if not x.sparse:
        raise context.invalid(f"{x.label} is not stored sparsely")
    context.require_constant(x)
    return Lowered(calls=(reshaped_copy(x, y),), view_of=x.index)


SPEC = OpSpec(
    name="DENSIFY",
    max_version=1,
    lower=lower,
    types=TYPES,
    notes="of constants, before the build; FULLY_CONNECTED alone takes sparse constants, too",
)
