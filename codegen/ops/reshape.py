"""RESHAPE: the same bytes under another shape, a view wherever lifetimes allow."""

from __future__ import annotations

import math

from codegen.graph import DType
from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.copy import reshaped_copy
from codegen.ops.movement import MOVED_TYPES, constant_ints, moved_type


def lower(context: OpContext) -> Lowered:
    """Inputs: x of any shape, the new shape (or the option `new_shape`) -> y of that shape."""
    x, y = context.input(0), context.output()
    moved_type(context, x, y)
    wanted = _wanted_shape(context)
    if wanted is not None:
        context.require_shape(y, _resolved(context, wanted, x.elements))
    if x.elements != y.elements:
        raise context.invalid(f"{x.label} {x.describe()} cannot become {y.describe()}")
    return Lowered(calls=(reshaped_copy(x, y),), view_of=x.index)


def _wanted_shape(context: OpContext) -> tuple[int, ...] | None:
    """The shape that is asked for, -1 included; None where the file leaves it to the output.

    An int32 vector as second input counts more than the option. Old converters wrote the option
    [0] for a scalar.
    """
    shape = context.optional_input(1)
    if shape is not None and shape.dtype is DType.INT32 and len(shape.shape) == 1:
        return constant_ints(context, shape)
    option = context.option("new_shape") or ()
    if not isinstance(option, tuple):
        raise context.invalid(f"option new_shape is {option!r}, not a list of sizes")
    return () if option == (0,) else tuple(int(d) for d in option) or None


def _resolved(context: OpContext, wanted: tuple[int, ...], elements: int) -> tuple[int, ...]:
    """`wanted` with its one -1 replaced by what is left of `elements`."""
    known = math.prod(d for d in wanted if d != -1)
    if any(d < -1 for d in wanted) or wanted.count(-1) > 1:
        raise context.invalid(f"{list(wanted)} is no shape")
    if -1 in wanted and (not known or elements % known):
        raise context.invalid(f"{elements} elements do not fill {list(wanted)}")
    return tuple(elements // known if d == -1 else d for d in wanted)


SPEC = OpSpec(
    name="RESHAPE",
    max_version=1,
    lower=lower,
    types=MOVED_TYPES,
    notes="a view where lifetimes allow",
)
