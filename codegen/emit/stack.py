"""The stack bound in the header: the deepest layer, by measured figures per kernel and core."""

from __future__ import annotations

import json
from functools import cache
from typing import cast

from codegen.emit.shared import sharing_of
from codegen.ops.base import Call
from codegen.plan import Plan, kernel_steps
from codegen.resources import data_dir
from codegen.target import Optimize

LIMIT = 600
"""No kernel may need more for a whole inference, in bytes; also the bound where none is known."""

_CALLER = "cg_copy"
"""What a layer runs itself before it calls those of its subgraphs."""

FOR_SIZE = "/size"
"""Behind a kernel's name: its figures as `--optimize size` compiles it, if they differ."""

_VIEW_BYTES, _SAVED_BYTES = 24, 64

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
    commands, callers = _engine(plan)
    shared = {function.kernel for function in sharing_of(plan).functions}

    def worst(call: Call) -> int:
        around = _sharing_bytes(call) if call.kernel in shared else 0
        return callers + around + _figure(call.kernel, plan)

    def deepest(first: int, end: int) -> int:
        """What the layers [first, end) need; those of subgraphs on top of who calls them."""
        most = 0
        for layer in plan.layers[first:end]:
            most = max([most, *(worst(s.call) for s in kernel_steps(layer.steps))])
            for part in layer.control.parts if layer.control is not None else ():
                most = max(most, callers + _figure(_CALLER, plan) + deepest(part.first, part.end))
        return most

    return max([deepest(0, len(plan.layers)), *commands]) or LIMIT


def _figure(kernel: str, plan: Plan) -> int:
    """Bytes of a kernel that a layer calls, as it is compiled for size or not."""
    figures = _table().get(kernel, {})
    if plan.options.optimize == Optimize.SIZE.value:
        figures = _table().get(f"{kernel}{FOR_SIZE}", figures)
    return figures.get(plan.board.cpu.core, max(figures.values(), default=LIMIT))


def _sharing_bytes(call: Call) -> int:
    """What the function around a kernel and its caller keep: views, range, saved registers."""
    maps = len(call.inputs) + len(call.outputs)
    return _VIEW_BYTES * (maps + 1) + _SAVED_BYTES


def _engine(plan: Plan) -> tuple[list[int], int]:
    """What the commands of NPU and DMA need, and what a layer's callers need on top; if any."""
    if plan.npu is None or plan.board.dma is None:
        return [], 0
    figures = _ports()[plan.board.dma.port]
    worst = {key: max(f[key] for f in figures.values()) for key in ("commands", "callers")}
    found = figures.get(plan.board.cpu.core, worst)
    return [found["commands"]], found["callers"]
