"""`codegen plan` on boards with an NPU: the schedule in figures, and by scratchpad size."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from codegen.board_schema import Board
from codegen.emit.files import environment
from codegen.errors import CodegenError, OverBudget
from codegen.graph import Graph
from codegen.npu.bound import proved_bound
from codegen.npu.figures import PICTURE_WIDTH, Figures, figures, lanes
from codegen.npu.plan import NpuPlan
from codegen.plan import PlanOptions
from codegen.planner.build import build_plan

_STEPS_PER_DOUBLING = 2
_CHART = (900.0, 360.0)
_UNITS = {"": 1, "k": 1024, "m": 1024 * 1024}


@dataclass(frozen=True)
class Point:
    """A scratchpad size and the schedule's figures there; None where an operator fits no tile."""

    size: int
    figures: Figures | None
    bound: int

    def to_json(self) -> dict[str, Any]:
        """The entry of `codegen plan --sweep --json`."""
        found = self.figures.to_json() if self.figures else None
        return {"scratchpad_bytes": self.size, "bound_cycles": self.bound, "timeline": found}


def plan_figures(npu: NpuPlan) -> Figures:
    """The modelled figures of a plan."""
    return figures(npu, npu.timeline.events, npu.timeline.total)


def schedule_of(graph: Graph, board: Board, options: PlanOptions) -> NpuPlan:
    """The schedule of a graph on a board with an NPU.

    Raises:
        CodegenError: for a board without, or a model without operators for it.
    """
    plan = build_plan(graph, board, options)
    if plan.npu is None:
        why = "the board has no NPU" if board.npu is None else "it runs no operator of the model"
        raise CodegenError(f"there is no schedule of NPU and DMA: {why}; codegen inspect says more")
    return plan.npu


def plan_json(npu: NpuPlan) -> dict[str, Any]:
    """What `codegen plan --json` prints."""
    found = plan_figures(npu)
    return {
        "timeline": found.to_json(),
        "bound_cycles": proved_bound(npu.network),
        "layers": [asdict(row) for row in found.layers],
    }


def timeline_svg(npu: NpuPlan) -> str:
    """The modelled lanes of CPU, NPU and DMA channels as a picture."""
    clock = npu.timeline
    return (
        environment()
        .get_template("timeline.svg.j2")
        .render(lanes=lanes(npu, clock.events, clock.total), width=PICTURE_WIDTH, total=clock.total)
    )


def plan_lines(npu: NpuPlan) -> Iterator[str]:
    """The table per layer and the proved bound, for a terminal."""
    yield from plan_figures(npu).lines()
    bound = proved_bound(npu.network)
    yield (
        f"proved bound for this order: {bound:,} cycles; "
        f"the schedule takes {npu.timeline.total / max(1, bound):.3f} of it"
    )


def sizes_of(text: str) -> list[int]:
    """The sizes of `scratchpad=16k..512k`, two per doubling, both ends among them.

    Raises:
        CodegenError: for any other text.
    """
    match = re.fullmatch(r"scratchpad=(\d+)([kKmM]?)\.\.(\d+)([kKmM]?)", text)
    low, high = (int(match[i]) * _UNITS[match[i + 1].lower()] for i in (1, 3)) if match else (0, 0)
    if not 0 < low <= high:
        raise CodegenError(f"--sweep {text!r} is no range of sizes such as scratchpad=16k..512k")
    sizes, step = [], 0
    while (size := round(low * 2 ** (step / _STEPS_PER_DOUBLING)) // 16 * 16) < high:
        sizes.append(size)
        step += 1
    return [*sizes, high]


def sweep(
    graph: Graph,
    board: Board,
    options: PlanOptions,
    sizes: list[int],
    progress: Callable[[str], None],
) -> list[Point]:
    """Plan for the board with scratchpads of these sizes.

    Raises:
        CodegenError: if the board has no NPU.
    """
    if board.npu is None or board.scratchpad is None:
        raise CodegenError(f"--sweep needs a board with an NPU, {board.name} has none")
    points = []
    for size in sizes:
        progress(f"scratchpad of {size:,} bytes")
        pad = board.scratchpad.model_copy(update={"size": size, "banks": 1})
        changed = board.model_copy(update={"scratchpad": pad})
        try:
            npu = schedule_of(graph, changed, options)
        except OverBudget:
            points.append(Point(size, None, 0))
            continue
        points.append(Point(size, plan_figures(npu), proved_bound(npu.network)))
    return points


def sweep_lines(points: list[Point]) -> Iterator[str]:
    """The table for a terminal."""
    yield f"{'scratchpad':>11}{'cycles':>12}{'bound':>12}{'exposed':>12}{'bytes moved':>13}"
    for point in points:
        if point.figures is None:
            yield f"{point.size:>11,}  an operator fits no tile"
            continue
        f = point.figures
        yield f"{point.size:>11,}{f.total:>12,}{point.bound:>12,}{f.exposed:>12,}{f.moved:>13,}"


def sweep_svg(points: list[Point]) -> str:
    """Latency against scratchpad size as a picture."""
    found = [(p.size, p.figures.total, p.bound) for p in points if p.figures is not None]
    width, height = _CHART
    top = max((total for _, total, _ in found), default=1)
    across = width / max(1, len(found) - 1)
    dots = [
        (i * across, height - height * total / top, height - height * bound / top, size, total)
        for i, (size, total, bound) in enumerate(found)
    ]
    return (
        environment()
        .get_template("sweep.svg.j2")
        .render(dots=dots, width=width, height=height, top=top)
    )
