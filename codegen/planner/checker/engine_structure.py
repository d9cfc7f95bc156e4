"""Faults of steps of DMA, NPU and cache that show without running the plan."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Set

from codegen.planner.checker.document import (
    Affine,
    CacheStep,
    DmaStart,
    DmaWait,
    Loop,
    NpuStart,
    NpuWait,
    Step,
)
from codegen.planner.checker.index import Index

EngineStep = DmaStart | DmaWait | NpuStart | NpuWait | CacheStep


def engine_faults(
    index: Index, steps: Iterable[Step], variables: Set[str] = frozenset(), prefix: str = ""
) -> Iterator[str]:
    """Everything in these steps that does not resolve, kernels left out."""
    for number, step in enumerate(steps):
        path = f"{prefix}{number}"
        if isinstance(step, Loop):
            yield from engine_faults(index, step.body, {*variables, step.loop}, f"{path}.")
        elif isinstance(step, EngineStep):
            for fault in _faults(index, step, variables):
                yield f", step {path}: {fault}"


def _faults(index: Index, step: EngineStep, variables: Set[str]) -> Iterator[str]:
    for value in _affines(step):
        names = [name for name, *_ in (*value.terms, *value.cycles)]
        for name in names:
            if name not in variables:
                yield f"no loop has the variable {name}"
    if index.document.scratchpad is None:
        yield "there is no scratchpad"
    if isinstance(step, DmaStart | CacheStep):
        yield from _buffer(index, step.buffer)
    if isinstance(step, DmaStart) and step.store and _is_fixed(index, step.buffer):
        yield f"stores to {step.buffer}, which is constant or the caller's input"
    if isinstance(step, NpuStart):
        yield from _command(index, step)


def _is_fixed(index: Index, name: str) -> bool:
    return name in index.buffers and index.buffers[name].home in ("constant", "caller_input")


def _buffer(index: Index, name: str) -> Iterator[str]:
    if name not in index.buffers:
        yield f"buffer {name} does not exist"


def _command(index: Index, step: NpuStart) -> Iterator[str]:
    for view in (*step.reads, step.writes):
        if view.tensor not in index.tensors:
            yield f"tensor {view.tensor} does not exist"
        elif math.prod(view.map) != index.tensors[view.tensor].bytes:
            yield f"map {list(view.map)} is not {index.label(view.tensor)}"
    if step.writes.tensor in index.document.inputs:
        yield f"writes {index.label(step.writes.tensor)}, which is the model's input"
    for name in [step.weights_buffer] if step.weights_buffer is not None else []:
        yield from _buffer(index, name)
    parts = (step.weights, step.weights_at, step.weights_buffer)
    if any(part is None for part in parts) != all(part is None for part in parts):
        yield "says in part only where its weights are"


def _affines(step: EngineStep) -> Iterator[Affine]:
    if isinstance(step, DmaStart):
        yield from (step.dma_start, step.memory, step.scratch)
    elif isinstance(step, DmaWait):
        yield step.dma_wait
    elif isinstance(step, NpuStart):
        yield from (*step.first_output, step.first_depth)
        optional = (step.weights, step.weights_at, step.sums)
        yield from (value for value in optional if value is not None)
        for view in (*step.reads, step.writes):
            yield from (view.offset, view.row0, view.col0)
