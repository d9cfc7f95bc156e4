"""Which operators of a graph the build would refuse, and why."""

from __future__ import annotations

from codegen import ops
from codegen.graph import Model
from codegen.passes import simplified
from codegen.target import PORTABLE


def unsupported_operators(model: Model) -> dict[int, str]:
    """Operator index -> the reason why no C can be written for it, in the main graph.

    Operators that a pass removes are not among them.
    """
    _, reasons = ops.lower_possible(simplified(model), PORTABLE)
    return reasons
