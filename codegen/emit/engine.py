"""Steps of DMA, NPU and cache as what the templates print."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codegen.emit.expressions import affine_text
from codegen.ops.base import Param, Table
from codegen.plan import (
    Affine,
    Buffer,
    CacheStep,
    DmaStart,
    DmaWait,
    EngineStep,
    Home,
    Layer,
    NpuStart,
    Plan,
    ScratchView,
    engine_steps,
)
from codegen.targets.npu import Kind, Work

if TYPE_CHECKING:
    from codegen.emit.context import Namer


@dataclass(frozen=True)
class EngineText:
    """One call of cg_hal.h, and the struct that it takes, line by line (`struct` empty: none)."""

    call: str
    struct: str = ""
    lines: tuple[str, ...] = ()


@dataclass(frozen=True)
class ArgsText:
    """The constants of an operator's commands, or nothing (`type` empty)."""

    name: str
    type: str
    params: tuple[tuple[str, str], ...]


_OPERATIONS = {
    "cg_conv_2d_s8": "CG_NPU_CONV_2D",
    "cg_depthwise_conv_2d_s8": "CG_NPU_DEPTHWISE_CONV_2D",
    "cg_fully_connected_s8": "CG_NPU_FULLY_CONNECTED",
    "cg_average_pool_2d_s8": "CG_NPU_AVERAGE_POOL_2D",
    "cg_max_pool_2d_s8": "CG_NPU_MAX_POOL_2D",
    "cg_add_s8": "CG_NPU_ADD",
    "cg_mul_s8": "CG_NPU_MUL",
    "cg_lookup_8": "CG_NPU_LOOKUP",
    "cg_softmax_s8": "CG_NPU_SOFTMAX",
}


def engine_text(namer: Namer, step: EngineStep) -> EngineText:
    """The call that a step is."""
    if isinstance(step, DmaStart):
        return EngineText(f"CG_TRY({_transfer(namer, step)});")
    if isinstance(step, DmaWait):
        return EngineText(f"CG_TRY(cg_dma_wait({affine_text(step.ticket)}));")
    if isinstance(step, NpuStart):
        return EngineText(
            "CG_TRY(cg_npu_start(&command));", "cg_npu_command", tuple(_command(step))
        )
    if isinstance(step, CacheStep):
        buffer = namer.buffers[step.buffer]
        function = "cg_cache_clean" if step.clean else "cg_cache_invalidate"
        return EngineText(f"{function}({namer.address(step.buffer, Affine(0))}, {buffer.size}u);")
    return EngineText("CG_TRY(cg_npu_wait());")


def _transfer(namer: Namer, step: DmaStart) -> str:
    """The call of the fewest dimensions."""
    pad, copy = scratch_address(step.scratch), step.copy
    memory = namer.address(step.buffer, step.memory)
    to, source = (memory, pad) if step.store else (pad, memory)
    near, far = (copy.scratch_row, copy.scratch_plane), (copy.memory_row, copy.memory_plane)
    from_strides, to_strides = (near, far) if step.store else (far, near)
    number = memory_index(namer.plan, namer.buffers[step.buffer])
    arguments = [affine_text(step.ticket), str(number), to, source, str(copy.length)]
    if copy.rank > 1:
        arguments += [str(copy.rows), str(to_strides[0]), str(from_strides[0])]
    if copy.rank > 2:
        arguments += [str(copy.planes), str(to_strides[1]), str(from_strides[1])]
    return f"cg_dma_{copy.rank}d({', '.join(arguments)})"


def memory_index(plan: Plan, buffer: Buffer) -> int:
    """The board's number of the memory; what the caller gives counts as the first arena's."""
    names = [m.name for m in plan.board.memories]
    outside = buffer.home in (Home.CALLER_INPUT, Home.CALLER_OUTPUT)
    return names.index(plan.board.placement.arena[0] if outside else buffer.memory)


def scratch_address(offset: Affine) -> str:
    """A place in the scratchpad as C."""
    return f"scratchpad + {affine_text(offset)}"


def _command(step: NpuStart) -> Iterator[str]:
    """The fields of a command, one line for each of its parts; what is left out is 0."""
    rows, cols, channels = step.size
    constants = args_text(step.work)
    args = f" .args = &{constants.name}," if constants.type else ""
    yield f".operation = {_OPERATIONS[step.work.call.kernel]},{args}"
    for name, view in zip(("x0", "x1"), step.inputs, strict=False):
        yield f".{name} = {_view(view)},"
    yield f".y = {_view(step.output)},"
    if step.weights is not None:
        yield f".weights = {scratch_address(step.weights)},"
    if step.sums is not None:
        yield f".sums = (int32_t *)(void *)({scratch_address(step.sums)}),"
    yield (
        f".range = {{ {affine_text(step.y0)}, {affine_text(step.y0, rows)}, "
        f"{affine_text(step.x0)}, {affine_text(step.x0, cols)}, 0, {channels} }},"
    )
    yield f".depth = {step.depth}, .first = {int(step.first)}, .last = {int(step.last)},"


def _view(view: ScratchView) -> str:
    origin = f"{affine_text(view.row0)}, {affine_text(view.col0)}"
    return f"{{ {scratch_address(view.offset)}, {view.row}, {view.pixel}, {view.ring}, {origin} }}"


def layer_works(layer: Layer) -> tuple[Work, ...]:
    """The operators whose commands a layer has, in order."""
    works = {
        s.work.node.index: s.work for s in engine_steps(layer.steps) if isinstance(s, NpuStart)
    }
    return tuple(works.values())


def layer_args(layer: Layer) -> tuple[ArgsText, ...]:
    """The constants of the commands of a layer, for each operator that has any."""
    return tuple(text for text in map(args_text, layer_works(layer)) if text.type)


def args_text(work: Work) -> ArgsText:
    """The constants of an operator's commands."""
    name = f"args_{work.node.index}"
    if work.kind in (Kind.DENSE, Kind.DEPTHWISE):
        return ArgsText(name, "cg_npu_window", tuple((k, str(v)) for k, v in _window(work).items()))
    if work.call.kernel == "cg_lookup_8":
        return ArgsText(name, "", ())
    params = tuple((field, _param(value)) for field, value in work.call.params)
    return ArgsText(name, work.call.args, params)


def _param(value: Param) -> str:
    """A constant; tables lie in the scratchpad, so that the command says where."""
    if value is None or isinstance(value, Table):
        return "NULL"
    return "INT32_MIN" if value == -(2**31) else str(value)


def _window(work: Work) -> dict[str, int]:
    return {
        "in_h": work.source.h,
        "in_w": work.source.w,
        "filter_h": work.rows.kernel,
        "filter_w": work.columns.kernel,
        "stride_h": work.rows.stride,
        "stride_w": work.columns.stride,
        "dilation_h": work.rows.dilation,
        "dilation_w": work.columns.dilation,
        "pad_top": work.rows.pad,
        "pad_left": work.columns.pad,
        "depth_multiplier": work.multiplier,
        "input_offset": work.param("input_offset"),
        "weights_offset": work.param("weights_offset"),
        "output_offset": work.param("output_offset"),
        "act_min": work.param("act_min"),
        "act_max": work.param("act_max"),
        "per_channel": work.param("per_channel"),
    }


def scratchpad_bytes(plan: Plan) -> int:
    """Bytes of the scratchpad that the program uses."""
    return plan.npu.issue.used(plan.npu.builder.program) if plan.npu else 0


def engine_headers(plan: Plan) -> set[str]:
    """The headers that layers of the NPU need."""
    if plan.npu is None:
        return set()
    works = [s.work for s in plan.npu.network.steps if s.work is not None]
    own = {w.call.header for w in works if args_text(w).type not in ("", "cg_npu_window")}
    return {"cg_hal.h", *own}
