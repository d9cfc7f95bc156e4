"""The plan as a JSON document: all that a checker needs, and nothing of the weights' values."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from codegen.board_schema import Board
from codegen.npu.cache import cached_memories
from codegen.npu.steps import WEIGHTS
from codegen.npu.weights import block_bytes
from codegen.ops.base import Access, RowMap
from codegen.plan import (
    FORMAT_VERSION,
    Affine,
    CacheStep,
    Control,
    DmaStart,
    DmaWait,
    EngineStep,
    KernelStep,
    Layer,
    Loop,
    NpuStart,
    Plan,
    ScratchView,
    Step,
    View,
    kernel_steps,
)
from codegen.targets.npu import Size


def plan_document(plan: Plan, name: str) -> dict[str, Any]:
    """The whole plan as plain lists and dictionaries; docs/plan_format.md says what they mean."""
    used = sorted({*plan.tensor_buffers, *plan.graph.inputs, *plan.graph.outputs})
    outputs = _outputs(plan)
    if plan.npu is not None:  # maps that only ever lie in the scratchpad have no buffer
        used = sorted({*used, *(t for found in outputs.values() for t in found)})
    return {
        "format": "codegen-plan",
        "version": FORMAT_VERSION,
        "model": name,
        "board": plan.board.name,
        "order": plan.order_strategy,
        "arena": plan.arena_strategy,
        "memory": plan.options.memory,
        "lower_bound_bytes": plan.lower_bound,
        "bound_by": "count" if plan.lower_bound == plan.counted_bound else "search",
        "memories": [
            {
                "name": m.name,
                "kind": m.kind,
                "usable": m.usable,
                "alignment": m.alignment,
                "arena_bytes": plan.arena_bytes.get(m.name, 0),
                "state_bytes": plan.state_bytes.get(m.name, 0),
                "used": plan.memories[m.name].used,
            }
            for m in plan.board.memories
        ],
        **_scratchpad(plan),
        "inputs": list(plan.graph.inputs),
        "outputs": list(plan.graph.outputs),
        "keep_input": plan.options.keep_input,
        "states": [{"start": s.start, "end": s.end} for s in plan.graph.states],
        "tensors": [
            {
                "id": t,
                "name": plan.graph.tensors[t].name,
                "type": plan.graph.tensors[t].dtype.value,
                "shape": list(plan.graph.tensors[t].shape),
                "bytes": plan.graph.tensors[t].nbytes,
                "buffer": plan.tensor_buffers.get(t),
                "offset": plan.layout(t).offset,
            }
            for t in used
        ],
        "buffers": [
            {
                "name": b.name,
                "home": b.home.value,
                "memory": b.memory,
                "offset": b.offset,
                "size": b.size,
                "first": b.first,
                "last": b.last,
                "tensors": list(b.tensors),
            }
            for b in plan.buffers
        ],
        "layers": [_layer(layer, outputs[layer.node.index]) for layer in plan.layers],
    }


def _outputs(plan: Plan) -> dict[int, list[int]]:
    """Operator -> the tensors that are complete after its layer: for a cascade after its last."""
    outputs = {layer.node.index: list(layer.node.outputs) for layer in plan.layers}
    if plan.npu is not None:
        steps = plan.npu.network.steps
        for first, cascade in plan.npu.schedule.cascades.items():
            members = [step.node.index for step in steps[first : cascade.last + 1]]
            gathered = [t for member in members for t in outputs[member]]
            outputs |= {member: [] for member in members[:-1]} | {members[-1]: gathered}
    return outputs


def _scratchpad(plan: Plan) -> dict[str, Any]:
    """The scratchpad and the limits of the DMA, on a board that has them in use."""
    pad, dma = plan.board.scratchpad, plan.board.dma
    if plan.npu is None or pad is None or dma is None:
        return {}
    return {
        "scratchpad": {
            "size": pad.size,
            "used": plan.npu.issue.used(plan.npu.builder.program),
            "queue": dma.queue,
            "ranks": dma.ranks,
            "max_length": dma.max_length or 2**31 - 1,
            "cache": _cache(plan.board),
        }
    }


def _cache(board: Board) -> dict[str, Any] | None:
    """What transfers do not see through: the cache, and whose bytes it holds."""
    names = [memory.name for memory in cached_memories(board)]
    if board.cache is None or not names:
        return None
    caller = board.placement.arena[0] in names
    return {"line": board.cache.line, "memories": names, "caller": caller}


def _layer(layer: Layer, outputs: list[int]) -> dict[str, Any]:
    node = layer.node
    return {
        "operator": node.index,
        "kind": node.op,
        "summary": layer.lowered.summary,
        "macs": layer.lowered.macs,
        "inputs": [t for t in node.inputs if t >= 0],
        "outputs": [*outputs, *_gathered(layer)],
        "note": layer.note,
        "forms": [asdict(form) for form in layer.forms],
        "views": _views(layer),
        "steps": [_step(step) for step in layer.steps],
        **({"control": _control(layer.control)} if layer.control is not None else {}),
    }


def _control(control: Control) -> dict[str, Any]:
    return {
        "loops": control.loops,
        "condition": control.condition,
        "parts": [
            {
                "first": part.first,
                "end": part.end,
                "enter": [list(pair) for pair in part.enter],
                "leave": [list(pair) for pair in part.leave],
            }
            for part in control.parts
        ],
    }


def _gathered(layer: Layer) -> list[int]:
    """What the layer brings together for itself, row by row."""
    calls = (step.call for step in kernel_steps(layer.steps))
    found = (call.inputs[gather.position].tensor for call in calls for gather in call.gathers)
    return list(dict.fromkeys(found))


def _views(layer: Layer) -> list[dict[str, Any]]:
    """Which bytes of its inputs are bytes of its outputs, where copies are not needed."""
    return [
        {"source": _part(call.inputs[0]), "result": _part(call.outputs[0])}
        for call in layer.dropped
    ]


def _part(access: Access) -> dict[str, Any]:
    box = _box(access)
    return {"tensor": access.tensor} | {key: box[key] for key in ("map", "start", "size")}


def _step(step: Step) -> dict[str, Any]:
    if isinstance(step, Loop):
        body = [_step(inner) for inner in step.body]
        return {"loop": step.variable, "count": step.count, "body": body}
    if isinstance(step, KernelStep):
        return _kernel(step)
    return _engine(step)


def _engine(step: EngineStep) -> dict[str, Any]:
    if isinstance(step, DmaStart):
        return {
            "dma_start": _affine(step.ticket),
            "store": step.store,
            "buffer": step.buffer,
            "memory": _affine(step.memory),
            "scratch": _affine(step.scratch),
            "copy": vars(step.copy),
        }
    if isinstance(step, DmaWait):
        return {"dma_wait": _affine(step.ticket)}
    if isinstance(step, NpuStart):
        return _command(step)
    if isinstance(step, CacheStep):
        return {"cache": "clean" if step.clean else "invalidate", "buffer": step.buffer}
    return {"npu_wait": True}


def _command(step: NpuStart) -> dict[str, Any]:
    work = step.work
    return {
        "npu_start": work.node.index,
        "kind": work.kind.value,
        "first_output": [_affine(step.y0), _affine(step.x0), _affine(step.c0)],
        "size": list(step.size),
        "first_depth": _affine(step.k0),
        "depth": step.depth,
        "first": step.first,
        "last": step.last,
        "rows": vars(work.rows),
        "columns": vars(work.columns),
        "multiplier": work.multiplier,
        "reads": [_scratch_view(view, work.source) for view in step.inputs],
        "writes": _scratch_view(step.output, work.result),
        "weights": step.weights and _affine(step.weights),
        "weights_at": step.block and _affine(step.block),
        "weights_bytes": block_bytes(work, step.size[2], step.depth, step.last),
        "weights_buffer": None if step.weights is None else WEIGHTS.format(work.node.index),
        "sums": step.sums and _affine(step.sums),
    }


def _scratch_view(view: ScratchView, size: Size) -> dict[str, Any]:
    return {
        "tensor": view.tensor,
        "offset": _affine(view.offset),
        "row": view.row,
        "pixel": view.pixel,
        "ring": view.ring,
        "row0": _affine(view.row0),
        "col0": _affine(view.col0),
        "map": [size.h, size.w, size.c],
    }


def _kernel(step: KernelStep) -> dict[str, Any]:
    call, r = step.call, step.range
    return {
        "kernel": call.kernel,
        "range": [r.y0, r.y1, r.x0, r.x1, r.c0, r.c1],
        "image": _affine(step.image),
        "row": _affine(step.row),
        "rows_per_step": call.rows_per_step,
        "scratch": step.scratch,
        "scratch_bytes": call.scratch,
        "reads": [
            _view(view) | _geometry(access)
            for view, access in zip(step.inputs, call.inputs, strict=True)
        ],
        "writes": [
            _view(view) | {"box": _box(access)}
            for view, access in zip(step.outputs, call.outputs, strict=True)
        ],
    }


def _view(view: View) -> dict[str, Any]:
    return {
        "tensor": view.tensor,
        "buffer": view.buffer,
        "offset": _affine(view.offset),
        "row": view.row,
        "pixel": view.pixel,
        "height": view.height,
        "width": view.width,
        "pixel_bytes": view.pixel_bytes,
        "ring": view.ring,
        "row0": view.row0,
        "col0": view.col0,
    }


def _affine(value: Affine) -> dict[str, Any]:
    cycles = {"cycles": [list(turn) for turn in value.cycles]} if value.cycles else {}
    return {"constant": value.constant, "terms": [list(t) for t in value.terms], **cycles}


def _geometry(access: Access) -> dict[str, Any]:
    return {"alias": access.alias.value, "rows": _rows(access.rows), "box": _box(access)}


def _rows(rows: RowMap) -> dict[str, Any]:
    if rows.table:
        return {"table": [list(pair) for pair in rows.table]}
    return {"stride": rows.stride, "offset": rows.offset, "span": rows.span}


def _box(access: Access) -> dict[str, Any]:
    """The whole map of the tensor and the part that the call touches, as (n, h, w, c)."""
    start = access.box.start if access.box else (0, 0, 0, 0)
    return {
        "map": list(access.map),
        "start": list(start),
        "size": list(access.extent),
        "shared": access.shared,
        "dense": access.dense,
        "whole": access.whole,
    }
