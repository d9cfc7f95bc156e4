"""SELECT_V2: a where the condition holds, else b, with broadcasting of all three; any type.

The reference moves codes whatever their scales are; so does this.
"""

from __future__ import annotations

from codegen.graph import DType, Tensor
from codegen.ops.base import Lowered, OpContext, OpSpec
from codegen.ops.broadcast import Kernel, broadcast_calls, operand_summary, require_broadcast
from codegen.ops.movement import MOVED_TYPES, moved_type


def choice(context: OpContext) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Condition, both values and the output; the condition is bool, the others of one type.

    Raises:
        Unsupported, InvalidModel: for other types.
    """
    condition, a, b, y = (*(context.input(i) for i in range(3)), context.output())
    context.require_type(condition, DType.BOOL)
    moved_type(context, a, b, y)
    return condition, a, b, y


def select(condition: Tensor, a: Tensor, b: Tensor, y: Tensor) -> Lowered:
    """y = a where the condition holds, else b, for shapes that broadcast."""
    kernel = Kernel(
        f"cg_select_{a.dtype.bits}", "cg_select.h", "cg_select_args", ("condition", "a", "b")
    )
    tensors = (condition, a, b, y)
    return Lowered(calls=broadcast_calls(kernel, tensors), summary=operand_summary(*tensors))


def lower(context: OpContext) -> Lowered:
    """Shapes: condition, a and b of any shapes that broadcast -> y of the common one.

    Single elements may have any ranks, which then need not broadcast to that of y.
    """
    condition, a, b, y = choice(context)
    if not condition.elements == a.elements == b.elements == y.elements == 1:
        require_broadcast(context, (condition, a, b), y)
    return select(condition, a, b, y)


SPEC = OpSpec(
    name="SELECT_V2",
    max_version=2,
    lower=lower,
    types=MOVED_TYPES,
    notes="broadcasting of the condition and both values",
)
