"""ADD_N: the sum of several tensors of one shape, in their order."""

from __future__ import annotations

from codegen.graph import DType
from codegen.ops.base import Alias, Call, Lowered, OpContext, OpSpec, whole
from codegen.ops.copy import reshaped_copy
from codegen.ops.elements import SUFFIX

TYPES = (DType.FLOAT32, DType.INT32)
MOST_INPUTS = 8


def lower(context: OpContext) -> Lowered:
    """Shapes: inputs and y of one shape."""
    y, count = context.output(), len(context.node.inputs)
    inputs = [context.input(i) for i in range(count)]
    context.require_type(y, *TYPES)
    for tensor in inputs:
        context.require_type(tensor, y.dtype)
        context.require_shape(y, tensor.shape)
    if count > MOST_INPUTS:
        raise context.unsupported(
            f"{count} inputs are more than {MOST_INPUTS}", "add them in several operators"
        )
    if count == 1:
        return Lowered(calls=(reshaped_copy(inputs[0], y),), view_of=inputs[0].index)
    call = Call(
        kernel=f"cg_add_n_{SUFFIX[y.dtype]}_{count}",
        header="cg_add_n.h",
        args="",
        params=(),
        inputs=tuple(whole(tensor, Alias.ELEMENT) for tensor in inputs),
        outputs=(whole(y),),
        pointwise=True,
    )
    return Lowered(calls=(call,), summary=f"{count} inputs")


SPEC = OpSpec(
    name="ADD_N",
    max_version=1,
    lower=lower,
    types=TYPES,
    notes="up to eight inputs",
)
