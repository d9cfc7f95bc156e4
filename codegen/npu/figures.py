"""What a timeline means in figures: totals, a row per layer, Chrome's trace format, lanes to draw.

Events come from the model of time or from the `sim` port's trace, which are the same but for
their source.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from codegen.npu.banks import meeting_cycles
from codegen.npu.issue import Act
from codegen.npu.network import limits
from codegen.npu.timeline import Clock, Event
from codegen.npu.weights import whole_bytes

if TYPE_CHECKING:
    from codegen.npu.plan import NpuPlan


@dataclass(frozen=True)
class LayerFigures:
    """One operator of the NPU or the CPU, in cycles and bytes.

    `compute` counts starts; `exposed` is the time before its commands in which no engine computes;
    `compulsory` bytes are its weights, and the model's inputs and outputs that it touches.
    """

    operator: int
    kind: str
    engine: str
    commands: int
    compute: int
    dma: int
    exposed: int
    moved: int
    compulsory: int

    @property
    def utilisation(self) -> float:
        """Part of the time from the end of what ran before in which its engine computes."""
        whole = self.compute + self.exposed
        return self.compute / whole if whole else 0.0


@dataclass(frozen=True)
class Figures:
    """Totals of a run, and its layers.

    `meeting` counts the cycles in which a transfer and a command are in one of the scratchpad's
    `banks`.
    """

    total: int
    compute: int
    starts: int
    dma: int
    exposed: int
    moved: int
    compulsory: int
    limit: int
    meeting: int
    banks: int
    layers: tuple[LayerFigures, ...]

    def to_json(self) -> dict[str, Any]:
        """The entry "timeline" of `codegen verify --json`."""
        return {
            "total_cycles": self.total,
            "compute_cycles": self.compute,
            "start_cycles": self.starts,
            "dma_cycles": self.dma,
            "exposed_dma_cycles": self.exposed,
            "bytes_moved": self.moved,
            "compulsory_bytes": self.compulsory,
            "limit_cycles": self.limit,
            "bank_conflict_cycles": self.meeting,
        }

    def lines(self) -> Iterator[str]:
        """The table per layer for a terminal."""
        yield (
            f"{'op':>4}  {'kind':<18} {'engine':<6}{'commands':>9}{'compute':>10}{'DMA':>9}"
            f"{'exposed':>9}{'bytes':>10}{'needed':>10}{'busy':>7}"
        )
        for row in self.layers:
            yield (
                f"{row.operator:>4}  {row.kind:<18} {row.engine:<6}{row.commands:>9,}"
                f"{row.compute:>10,}{row.dma:>9,}{row.exposed:>9,}{row.moved:>10,}"
                f"{row.compulsory:>10,}{100 * row.utilisation:>6.1f}%"
            )
        yield (
            f"{self.total:,} cycles, {self.total / max(1, self.limit):.3f} of the limit; "
            f"{100 * self.exposed / max(1, self.total):.1f} % exposed; {self.moved:,} bytes moved, "
            f"{self.moved / max(1, self.compulsory):.3f} of the compulsory ones"
        )
        if self.banks > 1:
            yield f"{self.meeting:,} cycles with a transfer in a bank of the command under way"


def figures(npu: NpuPlan, events: Sequence[Event], total: int) -> Figures:
    """Sum up the events of one run."""
    net, program = npu.network, npu.builder.program
    rows = {s.node.index: _Row() for s in net.steps}
    tickets = transfer_of_ticket(npu)
    end = 0
    for event in sorted(events, key=lambda e: e.start):
        if event.lane in ("NPU", "CPU"):
            row = rows[program.commands[event.number].node]
            row.commands += 1
            row.compute += event.end - event.start
            row.exposed += max(0, event.start - end)
            end = max(end, event.end)
        else:
            row = rows[program.transfers[tickets[event.number]].work.node.index]
            row.dma += event.end - event.start
            row.moved += event.bytes
    limit = limits(net)
    layers = tuple(_layer(npu, number, rows) for number in range(len(net.steps)))
    if layers:
        layers = (*layers[:-1], _with_tail(layers[-1], total - end))
    return Figures(
        total=total,
        compute=sum(r.compute for r in layers),
        starts=sum(e.lane == "NPU" for e in events) * _start_cycles(npu),
        dma=sum(r.dma for r in layers),
        exposed=sum(r.exposed for r in layers),
        moved=sum(r.moved for r in layers),
        compulsory=limit.compulsory,
        limit=int(limit.cycles),
        meeting=_meeting(npu, events, tickets),
        banks=net.board.scratchpad.banks if net.board.scratchpad else 1,
        layers=layers,
    )


def _meeting(npu: NpuPlan, events: Sequence[Event], tickets: Sequence[int]) -> int:
    """Cycles of transfers, set-up left out, in a bank that a command works in at that time."""
    clock, transfers = Clock(npu.network.board), npu.builder.program.transfers
    commands = sorted((e.start, e.end, e.banks) for e in events if e.lane == "NPU")
    moves = (
        (e.end - clock.moving(transfers[tickets[e.number]]), e.end, e.banks)
        for e in events
        if e.lane.isdigit()
    )
    return sum(meeting_cycles(commands, move) for move in moves)


@dataclass
class _Row:
    commands: int = 0
    compute: int = 0
    dma: int = 0
    exposed: int = 0
    moved: int = 0


def _start_cycles(npu: NpuPlan) -> int:
    return npu.network.board.npu.start_cycles if npu.network.board.npu else 0


def _layer(npu: NpuPlan, number: int, rows: dict[int, _Row]) -> LayerFigures:
    net = npu.network
    step = net.steps[number]
    row = rows[step.node.index]
    needed = whole_bytes(step.work) if step.work else 0
    first_reader = {
        t: min(i for i, s in enumerate(net.steps) if t in s.reads)
        for t in net.inputs
        if net.last[t] >= 0
    }
    needed += sum(net.bytes[t] for t, reader in first_reader.items() if reader == number)
    needed += sum(net.bytes[t] for t in step.writes if t in net.outputs)
    engine = "NPU" if step.work else "CPU"
    return LayerFigures(
        step.node.index,
        step.node.op,
        engine,
        row.commands,
        row.compute,
        row.dma,
        row.exposed,
        row.moved,
        needed,
    )


def _with_tail(layer: LayerFigures, tail: int) -> LayerFigures:
    """The last layer, with the time after its last command in which results are stored."""
    values = {**vars(layer), "exposed": layer.exposed + max(0, tail)}
    return LayerFigures(**values)


def transfer_of_ticket(npu: NpuPlan) -> list[int]:
    """By ticket, the position of the transfer in the program."""
    return [a.number for a in npu.issue.actions if a.act is Act.DMA_START]


def event_name(npu: NpuPlan, event: Event) -> str:
    """What an event is, in a few words."""
    program = npu.builder.program
    if event.lane in ("NPU", "CPU"):
        command = program.commands[event.number]
        kinds = {s.node.index: s.node.op for s in npu.network.steps}
        if command.work is None:
            return f"{command.node} {kinds[command.node]}"
        t = command.tile
        return f"{command.node} {kinds[command.node]} rows {t.y0}..{t.y1 - 1}"
    transfer = program.transfers[transfer_of_ticket(npu)[event.number]]
    what = (
        f"weights of {transfer.work.node.index}" if transfer.tensor < 0 else f"t{transfer.tensor}"
    )
    return f"{transfer.way.value} {what}, {event.bytes:,} bytes"


def chrome_trace(npu: NpuPlan, events: Sequence[Event]) -> dict[str, Any]:
    """Chrome's trace event format (chrome://tracing, Perfetto); one microsecond is one cycle."""
    lanes = list(dict.fromkeys(e.lane for e in sorted(events, key=lambda e: _lane_order(e.lane))))
    names = [
        {"ph": "M", "pid": 1, "tid": i, "name": "thread_name", "args": {"name": lane_label(lane)}}
        for i, lane in enumerate(lanes)
    ]
    boxes = [
        {
            "ph": "X",
            "pid": 1,
            "tid": lanes.index(e.lane),
            "ts": e.start,
            "dur": e.end - e.start,
            "name": event_name(npu, e),
        }
        for e in events
    ]
    return {"displayTimeUnit": "ns", "traceEvents": [*names, *boxes]}


def _lane_order(lane: str) -> tuple[int, str]:
    return (("CPU", "NPU").index(lane) if lane in ("CPU", "NPU") else 2, lane)


def lane_label(lane: str) -> str:
    """`DMA 0` for channel 0."""
    return lane if lane in ("CPU", "NPU") else f"DMA {lane}"


@dataclass(frozen=True)
class LaneText:
    """One lane of the picture: its label and (x, width, colour, title) of every box."""

    label: str
    y: int
    boxes: tuple[tuple[float, float, str, str], ...]


PICTURE_WIDTH = 1400.0
_COLOURS = ("#4c78a8", "#f58518", "#54a24b", "#b279a2", "#e45756", "#72b7b2", "#9d755d")


def lanes(npu: NpuPlan, events: Sequence[Event], total: int) -> list[LaneText]:
    """The picture's lanes; operators have colours in turn."""
    scale = PICTURE_WIDTH / max(1, total)
    found: dict[str, list[Event]] = {}
    for event in sorted(events, key=lambda e: (_lane_order(e.lane), e.start)):
        found.setdefault(event.lane, []).append(event)
    return [
        LaneText(
            lane_label(lane),
            20 + 40 * i,
            tuple(
                (
                    e.start * scale,
                    max(0.3, (e.end - e.start) * scale),
                    _colour(npu, e),
                    event_name(npu, e),
                )
                for e in boxes
            ),
        )
        for i, (lane, boxes) in enumerate(found.items())
    ]


def _colour(npu: NpuPlan, event: Event) -> str:
    program = npu.builder.program
    if event.lane in ("NPU", "CPU"):
        node = program.commands[event.number].node
    else:
        node = program.transfers[transfer_of_ticket(npu)[event.number]].work.node.index
    return _COLOURS[node % len(_COLOURS)]
