"""What `codegen bench` measured, as JSON and as lines for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class LayerFigures:
    """One layer; `ticks` are instructions on an emulator and nanoseconds on this machine."""

    index: int
    operator: str
    macs: int
    ticks: int


@dataclass(frozen=True)
class Peer:
    """Another way to run the same model on this machine."""

    name: str
    microseconds: float


@dataclass(frozen=True)
class BenchResult:
    """Figures of one model on one board.

    Attributes:
        board: the profile's name.
        instructions: of one inference; None where nothing counts them.
        microseconds: of one inference on this machine, median of many; None on boards.
        layers: in execution order; empty where nothing was run.
        stack_bytes: painted and measured; None where nothing paints it.
        sizes: bytes by name, as the JSON gives them; None for what no compiler was there for.
        peers: other runtimes on this machine.
        note: why a figure is missing, or means less than usual.
    """

    board: str
    macs: int
    instructions: int | None
    microseconds: float | None
    layers: tuple[LayerFigures, ...]
    stack_bytes: int | None
    sizes: Mapping[str, int | None]
    peers: tuple[Peer, ...] = ()
    note: str = ""

    def to_json(self) -> dict[str, Any]:
        """What `codegen bench --json` prints."""
        unit = "nanoseconds" if self.microseconds is not None else "instructions"
        return {
            "board": self.board,
            "instructions": self.instructions,
            "microseconds": self.microseconds,
            "macs": self.macs,
            "instructions_per_mac": _per_mac(self.instructions, self.macs),
            "stack_bytes": self.stack_bytes,
            **self.sizes,
            "peers": {peer.name: peer.microseconds for peer in self.peers},
            "layers": [
                {"layer": f.index, "op": f.operator, "macs": f.macs, unit: f.ticks}
                for f in self.layers
            ],
            "note": self.note,
        }

    def lines(self) -> Iterator[str]:
        """A table of the layers, then the totals."""
        yield from _layer_table(self)
        if self.instructions is not None:
            per_mac = _per_mac(self.instructions, self.macs)
            rate = f", {per_mac:.3f} per MAC" if per_mac else ""
            yield f"{self.instructions:,} instructions per inference{rate}"
        if self.microseconds is not None:
            yield f"{self.microseconds:,.1f} us per inference (median)"
        for peer in self.peers:
            ratio = (self.microseconds or 0) / peer.microseconds
            yield f"{peer.name}: {peer.microseconds:,.1f} us; this code takes {ratio:.2f}x of it"
        if self.stack_bytes is not None:
            yield f"stack {self.stack_bytes:,} B, painted and measured"
        sizes = ((name.removesuffix("_bytes"), value) for name, value in self.sizes.items())
        yield ", ".join(f"{name} {value:,} B" for name, value in sizes if value is not None)
        if self.note:
            yield self.note


def _per_mac(instructions: int | None, macs: int) -> float | None:
    return round(instructions / macs, 4) if instructions is not None and macs else None


def _layer_table(result: BenchResult) -> Iterator[str]:
    if not result.layers:
        return
    unit = "ns" if result.microseconds is not None else "instructions"
    width = max(len("operator"), *(len(f.operator) for f in result.layers))
    yield f"{'layer':>5}  {'operator':<{width}}{'MAC':>14}{unit:>14}{'per MAC':>10}{'share':>8}"
    total = sum(f.ticks for f in result.layers) or 1
    for f in result.layers:
        macs, rate = (f"{f.macs:,}", f"{f.ticks / f.macs:.3f}") if f.macs else ("", "")
        yield (
            f"{f.index:>5}  {f.operator:<{width}}{macs:>14}{f.ticks:>14,}{rate:>10}"
            f"{f.ticks / total:>8.1%}"
        )
    yield ""
