"""The stack bound in the header: the deepest layer, by measured figures per kernel and core."""

from __future__ import annotations

import json
from functools import cache
from typing import cast

from codegen.plan import Plan, kernel_steps
from codegen.resources import data_dir

LIMIT = 600
"""No kernel may need more for a whole inference, in bytes; also the bound where none is known."""

_CALLER = "cg_copy"
"""What a layer runs itself before it calls those of its subgraphs."""

_Figures = dict[str, int]


@cache
def _table() -> dict[str, _Figures]:
    """Kernel -> core -> bytes."""
    path = data_dir("runtime_c") / "kernels" / "stack.json"
    if not path.is_file():
        return {}
    return cast(dict[str, _Figures], json.loads(path.read_text(encoding="utf-8")))


@cache
def _ports() -> dict[str, dict[str, _Figures]]:
    """Port of NPU and DMA -> core -> bytes of its commands, and of a layer's callers."""
    path = data_dir("runtime_c") / "hal" / "ports" / "stack.json"
    return cast(dict[str, dict[str, _Figures]], json.loads(path.read_text(encoding="utf-8")))


def stack_bound(plan: Plan) -> int:
    """Bytes of stack that one run() needs at most on the plan's core, calls included.

    Figures are those of `runtime_c/kernels/stack.json`, measured with -fstack-usage on functions
    that call each kernel the way a layer does, and of `runtime_c/hal/ports/stack.json`, measured
    on whole models. A core without figures takes the worst of all.
    """
    core = plan.board.cpu.core
    commands, callers = _engine(plan)

    def worst(kernel: str) -> int:
        figures = _table().get(kernel, {})
        return callers + figures.get(core, max(figures.values(), default=LIMIT))

    def deepest(first: int, end: int) -> int:
        """What the layers [first, end) need; those of subgraphs on top of who calls them."""
        most = 0
        for layer in plan.layers[first:end]:
            most = max([most, *(worst(s.call.kernel) for s in kernel_steps(layer.steps))])
            for part in layer.control.parts if layer.control is not None else ():
                most = max(most, worst(_CALLER) + deepest(part.first, part.end))
        return most

    return max([deepest(0, len(plan.layers)), *commands]) or LIMIT


def _engine(plan: Plan) -> tuple[list[int], int]:
    """What the commands of NPU and DMA need, and what a layer's callers need on top; if any."""
    if plan.npu is None or plan.board.dma is None:
        return [], 0
    figures = _ports()[plan.board.dma.port]
    worst = {key: max(f[key] for f in figures.values()) for key in ("commands", "callers")}
    found = figures.get(plan.board.cpu.core, worst)
    return [found["commands"]], found["callers"]
