"""The stack bound in the header: the deepest layer, by measured figures per kernel and core."""

from __future__ import annotations

import json
from functools import cache
from typing import cast

from codegen.plan import Plan, kernel_steps
from codegen.resources import data_dir

LIMIT = 600
"""No kernel may need more for a whole inference, in bytes; also the bound where none is known."""


@cache
def _table() -> dict[str, dict[str, int]]:
    path = data_dir("runtime_c") / "kernels" / "stack.json"
    if not path.is_file():
        return {}
    return cast(dict[str, dict[str, int]], json.loads(path.read_text(encoding="utf-8")))


def stack_bound(plan: Plan) -> int:
    """Bytes of stack that one run() needs at most on the plan's core, calls included.

    Figures are those of `runtime_c/kernels/stack.json`, measured with -fstack-usage on functions
    that call each kernel the way a layer does. A core without figures takes the worst of all.
    """
    kernels = {s.call.kernel for layer in plan.layers for s in kernel_steps(layer.steps)}
    core = plan.board.cpu.core

    def worst(kernel: str) -> int:
        figures = _table().get(kernel, {})
        return figures.get(core, max(figures.values(), default=LIMIT))

    return max(map(worst, kernels), default=LIMIT)
