"""What the `sim` port is told of a board and a model."""

from __future__ import annotations

from dataclasses import dataclass

from codegen.board_schema import SCRATCHPAD, Board
from codegen.emit.files import environment
from codegen.npu.cache import cached_memories
from codegen.pipeline import Build
from codegen.plan import Layer
from codegen.verify.sources import EngineSources

_UNLIMITED = 2**31 - 1


@dataclass(frozen=True)
class SimLayer:
    """A layer as the simulator names it, and what it takes on the CPU."""

    name: str
    cpu_cycles: int


def engine_sources(build: Build) -> EngineSources | None:
    """The files that a model with NPU and DMA needs to run; None for one without."""
    board = build.plan.board
    if build.plan.npu is None or board.dma is None:
        return None
    cycles = {s.node.index: s.cpu_cycles for s in build.plan.npu.network.steps}
    layers = [_layer(layer, cycles) for layer in build.plan.layers if layer.steps]
    hooks = _render("sim_hooks.h.j2", name=build.name, layers=layers)
    return EngineSources(_board_header(board), hooks, board.dma.port)


def _layer(layer: Layer, cycles: dict[int, int]) -> SimLayer:
    return SimLayer(layer.node.op, cycles[layer.node.index])


def _board_header(board: Board) -> str:
    """The profile as macros; rates stand by the number of the memory, 0 where there is no path."""
    assert board.dma is not None and board.npu is not None and board.scratchpad is not None
    rates = {(p.source, p.destination): p.bytes_per_cycle for p in board.dma.paths}
    cap = board.dma.bytes_per_cycle or float("inf")
    names = [m.name for m in board.memories]
    return _render(
        "cg_sim_board.h.j2",
        dma=board.dma,
        npu=board.npu,
        scratchpad=board.scratchpad,
        line=board.cache.line if board.cache else 32,
        max_length=board.dma.max_length or _UNLIMITED,
        max_stride=board.dma.max_stride or _UNLIMITED,
        loads=[min(cap, rates.get((name, SCRATCHPAD), 0)) for name in names],
        stores=[min(cap, rates.get((SCRATCHPAD, name), 0)) for name in names],
        cacheable=[int(m in cached_memories(board)) for m in board.memories],
    )


def _render(template: str, **values: object) -> str:
    return environment().get_template(f"verify/{template}").render(**values)
