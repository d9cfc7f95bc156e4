"""The `sim` port's trace of one run, read back."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from codegen.emit.files import environment
from codegen.errors import ToolError
from codegen.npu.figures import PICTURE_WIDTH, Figures, figures, lanes
from codegen.npu.plan import NpuPlan
from codegen.npu.timeline import Event

TRACE_VARIABLE = "CG_SIM_TRACE"
"""Of the environment: where the `sim` port writes its trace."""


@dataclass(frozen=True, eq=False)
class Simulated:
    """What the simulated hardware did in one run, and when."""

    npu: NpuPlan
    events: tuple[Event, ...]
    total: int
    figures: Figures

    def svg(self) -> str:
        """The lanes of CPU, NPU and DMA channels as a picture."""
        return (
            environment()
            .get_template("timeline.svg.j2")
            .render(
                lanes=lanes(self.npu, self.events, self.total),
                width=PICTURE_WIDTH,
                total=self.total,
            )
        )


def read_trace(path: Path, npu: NpuPlan) -> Simulated:
    """The last run that the program has traced.

    Raises:
        ToolError: if there is no complete trace.
    """
    cpu = [i for i, c in enumerate(npu.builder.program.commands) if c.work is None]
    engine = [i for i, c in enumerate(npu.builder.program.commands) if c.work is not None]
    events: list[Event] = []
    try:
        lines = path.read_text().splitlines()
    except OSError as error:
        raise ToolError(f"the simulator has left no trace: {error.strerror}") from None
    for line in lines:
        lane, number, start, end, moved, banks = line.split()
        if lane == "total":
            found = tuple(events)
            return Simulated(npu, found, int(end), figures(npu, found, int(end)))
        event = Event(lane, int(number), int(start), int(end), int(moved), int(banks))
        events.append(_known(event, cpu, engine))
    raise ToolError("the simulator's trace ends early; run it again")


def _known(event: Event, cpu: list[int], engine: list[int]) -> Event:
    """An event with the number that the plan's program knows it by (a ticket for transfers)."""
    if event.lane == "npu":
        return replace(event, lane="NPU", number=engine[event.number])
    if event.lane == "cpu":
        return replace(event, lane="CPU", number=cpu[event.number])
    return replace(event, lane=event.lane.removeprefix("dma"))
