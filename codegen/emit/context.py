"""Plan -> what the templates print: plain text and numbers, every name already a C identifier."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from codegen.emit.engine import (
    ArgsText,
    EngineText,
    engine_headers,
    engine_text,
    layer_args,
    layer_works,
)
from codegen.emit.expressions import affine_text
from codegen.emit.literals import C_TYPES, array_lines, array_type, float_literal, int_literal
from codegen.emit.names import comment, comment_lines
from codegen.emit.shared import sharing_of, view_names
from codegen.graph import State, Tensor
from codegen.ops.base import Param, Table, nhwc
from codegen.plan import (
    Affine,
    Buffer,
    Constant,
    Control,
    Home,
    KernelStep,
    Layer,
    Loop,
    Plan,
    Step,
    View,
    kernel_steps,
)
from codegen.planner.constants import initial_table


@dataclass(frozen=True)
class ViewText:
    """One view initialiser: `const cg_src x0 = { base, row, pixel, ring, row0, col0 };`."""

    name: str
    base: str
    row: int
    pixel: int
    ring: int
    row0: int
    col0: int


@dataclass(frozen=True)
class CallText:
    """One kernel call with everything declared before it; `function` is what the layer calls."""

    function: str
    args_type: str
    params: tuple[tuple[str, str], ...]
    sources: tuple[ViewText, ...]
    results: tuple[ViewText, ...]
    range: tuple[str, ...]
    arguments: str


@dataclass(frozen=True)
class LoopText:
    """`for (int32_t v = 0; v < count; v++)` around steps."""

    variable: str
    count: int
    body: tuple[StepText, ...]


StepText = CallText | EngineText | LoopText


@dataclass(frozen=True)
class TapText:
    """A finished tensor that a debug build hands out, image by image."""

    tensor: int
    images: int
    base: str
    row: int
    pixel: int
    height: int
    width: int
    pixel_bytes: int


@dataclass(frozen=True)
class LayerText:
    """One layer function and the comment above it; those that it calls stand before it."""

    index: int
    function: str
    operator: str
    macs: int
    comment: tuple[str, ...]
    args: tuple[ArgsText, ...]
    steps: tuple[StepText, ...]
    taps: tuple[TapText, ...]
    control: ControlText | None = None


@dataclass(frozen=True)
class ControlText:
    """`while (condition) second` with `first` in front of each test, or `if` and `else`."""

    loops: bool
    condition: str
    first: tuple[LayerText, ...]
    second: tuple[LayerText, ...]


@dataclass(frozen=True)
class ConstantText:
    """One table in flash."""

    name: str
    c_type: str
    count: int
    memory: str
    comment: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class PortText:
    """One input or output of the model, for the header's macros and accessors."""

    index: int
    name: str
    c_type: str
    shape: tuple[int, ...]
    elements: int
    nbytes: int
    scale: str | None
    zero_point: int
    low: int
    high: int
    pointer: str
    alignment: int


@dataclass(frozen=True)
class ArenaText:
    """The arena, or the state, in one memory."""

    memory: str
    nbytes: int
    alignment: int


@dataclass(frozen=True)
class ResetText:
    """One state: how reset() gives it its first value, a table or one byte repeated."""

    address: str
    nbytes: int
    table: str | None
    fill: int
    comment: str


@dataclass(frozen=True)
class BranchText:
    """One of the two buffers of a branch: a macro for its address."""

    macro: str
    address: str
    comment: str


@dataclass(frozen=True)
class PlaceText:
    """The placement macro of one memory; `section` is None where the default lands there."""

    memory: str
    kind: str
    section: str | None
    address: int | None


class Namer:
    """Names of constants and buffers in the C files of one model."""

    def __init__(self, plan: Plan, prefix: str) -> None:
        self.plan = plan
        self.constants = {c.index: f"{prefix}_{c.owner}" for c in plan.constants}
        self.by_key = {c.table.key: self.constants[c.index] for c in plan.constants}
        self.buffers = {b.name: b for b in plan.buffers}
        self.branches = {
            buffer: f"{prefix}_{part.name}".upper()
            for pair in plan.branches
            for part in pair
            for buffer in part.buffers
        }
        self.sharing = sharing_of(plan)

    def param(self, value: Param) -> str:
        if value is None:
            return "NULL"
        if isinstance(value, Table):
            return self.by_key[value.key]
        if isinstance(value, float):
            return float_literal(value)
        return int_literal(value)

    def buffer_base(self, buffer: Buffer) -> str:
        if buffer.home is Home.ARENA:
            return f"arena_{buffer.memory} + {buffer.offset}"
        if buffer.home is Home.STATE:
            return f"state_{buffer.memory} + {buffer.offset}"
        if buffer.home is Home.CONSTANT:
            return self.constants[buffer.index]
        kind = "input" if buffer.home is Home.CALLER_INPUT else "output"
        return f"{kind}_{buffer.index}"

    def address(self, name: str, offset: Affine) -> str:
        """`arena_sram + 128 + n * 64`: an expression of a byte pointer."""
        buffer = self.buffers[name]
        terms = "".join(f" + {variable} * {step}" for variable, step in offset.terms)
        if name in self.branches:
            return f"{self.branches[name]} + {offset.constant}{terms}"
        if buffer.home is Home.ARENA:
            return f"arena_{buffer.memory} + {buffer.offset + offset.constant}{terms}"
        if buffer.home is Home.STATE:
            return f"state_{buffer.memory} + {buffer.offset + offset.constant}{terms}"
        base = self.buffer_base(buffer)
        if not (offset.constant or terms):
            return base
        cast = f"(const uint8_t *){base}" if buffer.home is Home.CONSTANT else base
        return f"{cast} + {offset.constant}{terms}"


def _view(namer: Namer, view: View, name: str) -> ViewText:
    base = namer.address(view.buffer, view.offset)
    return ViewText(name, base, view.row, view.pixel, view.ring, view.row0, view.col0)


def _views(namer: Namer, letter: str, views: Sequence[View]) -> tuple[ViewText, ...]:
    names = view_names(letter, views)
    return tuple(_view(namer, view, name) for view, name in zip(views, names, strict=True))


def _call(namer: Namer, step: KernelStep) -> CallText:
    sources, results = _views(namer, "x", step.inputs), _views(namer, "y", step.outputs)
    plain = namer.sharing.plain_of(step)
    arguments = ["&args"] if step.call.params else []
    if plain is not None:
        arguments += [*(view.base for view in (*sources, *results)), f"&{plain.name}"]
    else:
        arguments += [*(f"&{view.name}" for view in (*sources, *results)), "&range"]
    if step.scratch is not None:
        arguments.append(namer.buffer_base(namer.buffers[step.scratch]))
    r, shared = step.range, namer.sharing.function_of(step)
    rows = (affine_text(step.row, r.y0), affine_text(step.row, r.y1))
    return CallText(
        function=shared.function if shared else step.call.kernel,
        args_type=step.call.args,
        params=tuple((field, namer.param(value)) for field, value in step.call.params),
        sources=() if plain else sources,
        results=() if plain else results,
        range=() if plain else (*rows, str(r.x0), str(r.x1), str(r.c0), str(r.c1)),
        arguments=", ".join(arguments),
    )


def _step(namer: Namer, step: Step) -> StepText:
    if isinstance(step, Loop):
        return LoopText(step.variable, step.count, tuple(_step(namer, s) for s in step.body))
    if isinstance(step, KernelStep):
        return _call(namer, step)
    return engine_text(namer, step)


def _where(namer: Namer, t: int) -> str:
    """Where a tensor lies, for comments: `sram+128`, `sram state+0`, `flash`, `caller's`."""
    if t not in namer.plan.tensor_buffers:
        return "scratchpad"
    buffer = namer.buffers[namer.plan.tensor_buffers[t]]
    if buffer.home in (Home.ARENA, Home.STATE):
        word = " state" if buffer.home is Home.STATE else ""
        return f"{buffer.memory}{word}+{buffer.offset + namer.plan.layout(t).offset}"
    return buffer.memory if buffer.home is Home.CONSTANT else "the caller's"


def _layer_comment(namer: Namer, layer: Layer) -> Iterator[str]:
    """What the layer computes, then a line for every tensor and where it lies."""
    read = list(dict.fromkeys(v.tensor for s in kernel_steps(layer.steps) for v in s.inputs))
    read += list(dict.fromkeys(t for work in layer_works(layer) for t in work.inputs))
    macs = f"; {layer.lowered.macs:,} MAC" if layer.lowered.macs else ""
    yield f"{layer.node.index} {layer.node.op} {layer.lowered.summary}".rstrip() + macs
    for word, tensors in (("reads", read), ("writes", layer.node.outputs)):
        for t in tensors:
            tensor = namer.plan.graph.tensors[t]
            name = tensor.name.split(";")[0]
            yield comment(f"{word:<6} {tensor.describe()} at {_where(namer, t)}: {name}")
    if layer.note:
        yield layer.note


def layers(namer: Namer) -> tuple[LayerText, ...]:
    """Every layer that has code and stands in no subgraph, numbered in execution order."""
    return _layers(namer, 0, len(namer.plan.layers), "layer_", 2)


def functions(layers: Iterable[LayerText]) -> Iterator[LayerText]:
    """All layers, those of subgraphs before the layer that calls them."""
    for layer in layers:
        if layer.control is not None:
            yield from functions((*layer.control.first, *layer.control.second))
        yield layer


def _layers(namer: Namer, first: int, end: int, prefix: str, digits: int) -> tuple[LayerText, ...]:
    """The layers [first, end) of the plan that have code, without those of their subgraphs."""
    with_code, position = [], first
    while position < end:
        layer = namer.plan.layers[position]
        if layer.has_code:
            with_code.append(layer)
        position = position + 1 if layer.control is None else layer.control.parts[1].end
    width = max(digits, len(str(len(with_code))))
    inside = prefix != "layer_"
    return tuple(
        _layer(namer, layer, i, f"{prefix}{i:0{width}d}", inside=inside)
        for i, layer in enumerate(with_code)
    )


def _layer(namer: Namer, layer: Layer, index: int, function: str, *, inside: bool) -> LayerText:
    """One layer; a debug build hands out nothing from inside of subgraphs."""
    no_taps = inside or layer_works(layer)
    return LayerText(
        index=index,
        function=function,
        operator=layer.node.op,
        macs=layer.lowered.macs,
        comment=tuple(
            part for line in _layer_comment(namer, layer) for part in comment_lines(line)
        ),
        args=layer_args(layer),
        steps=tuple(_step(namer, step) for step in layer.steps),
        taps=() if no_taps else tuple(_tap(namer, t) for t in layer.node.outputs),
        control=_control(namer, layer.control, function) if layer.control is not None else None,
    )


def _control(namer: Namer, control: Control, function: str) -> ControlText:
    t = control.condition
    first, second = (
        _layers(namer, part.first, part.end, f"{function}_{word}_", 1)
        for part, word in zip(control.parts, control.words, strict=True)
    )
    address = namer.address(namer.plan.tensor_buffers[t], Affine(namer.plan.layout(t).offset))
    return ControlText(control.loops, f"*({address}) != 0", first, second)


def _tap(namer: Namer, t: int) -> TapText:
    tensor, layout = namer.plan.graph.tensors[t], namer.plan.layout(t)
    images, height, width, channels = nhwc(tensor.shape)
    terms = (("n", layout.image),) if images > 1 else ()
    return TapText(
        tensor=t,
        images=images,
        base=namer.address(namer.plan.tensor_buffers[t], Affine(layout.offset, terms)),
        row=layout.row,
        pixel=layout.pixel,
        height=height,
        width=width,
        pixel_bytes=channels * tensor.dtype.size,
    )


def constants(namer: Namer) -> tuple[ConstantText, ...]:
    """Every table, in the order of first use."""
    return tuple(_constant(namer, c) for c in namer.plan.constants)


def _constant(namer: Namer, constant: Constant) -> ConstantText:
    values = constant.table.values
    return ConstantText(
        name=namer.constants[constant.index],
        c_type=array_type(values),
        count=max(1, values.size),
        memory=constant.memory,
        comment=f"{values.dtype.name}[{','.join(map(str, values.shape))}]",
        lines=tuple(array_lines(values)),
    )


def _port(namer: Namer, index: int, tensor: Tensor) -> PortText:
    buffer = namer.buffers[namer.plan.tensor_buffers[tensor.index]]
    quant = tensor.quant
    alignments = [m.alignment for m in namer.plan.board.memories if m.name == buffer.memory]
    integer = tensor.dtype.value in ("int8", "uint8", "int16")
    bits = tensor.dtype.bits
    low = 0 if tensor.dtype.value == "uint8" else -(2 ** (bits - 1))
    return PortText(
        index=index,
        name=comment(tensor.name),
        c_type=C_TYPES[tensor.dtype],
        shape=tensor.shape,
        elements=tensor.elements,
        nbytes=tensor.nbytes,
        scale=float_literal(quant.scale) if quant and quant.scales and integer else None,
        zero_point=quant.zero_point if quant and quant.scales else 0,
        low=low,
        high=low + 2**bits - 1,
        pointer=namer.address(buffer.name, Affine(namer.plan.layout(tensor.index).offset)),
        alignment=alignments[0] if alignments else tensor.dtype.size,
    )


def ports(namer: Namer, tensors: Sequence[int]) -> tuple[PortText, ...]:
    """The model's inputs or outputs."""
    return tuple(_port(namer, i, namer.plan.graph.tensors[t]) for i, t in enumerate(tensors))


def arenas(plan: Plan) -> tuple[ArenaText, ...]:
    """One arena per memory in use; a model without activations still has an empty one."""
    return tuple(
        ArenaText(name, size, plan.board.memory(name).alignment)
        for name, size in plan.arena_bytes.items()
    )


def states(plan: Plan) -> tuple[ArenaText, ...]:
    """One array per memory that holds state."""
    return tuple(
        ArenaText(name, size, plan.board.memory(name).alignment)
        for name, size in plan.state_bytes.items()
    )


def resets(namer: Namer) -> tuple[ResetText, ...]:
    """What reset() does for every state."""
    return tuple(_reset(namer, state) for state in namer.plan.graph.states)


def _reset(namer: Namer, state: State) -> ResetText:
    tensor, values = namer.plan.graph.tensors[state.start], initial_table(state)
    offset = Affine(namer.plan.layout(state.start).offset)
    return ResetText(
        address=namer.address(namer.plan.tensor_buffers[state.start], offset),
        nbytes=tensor.nbytes,
        table=None if values is None else namer.param(values),
        fill=state.initial[0],
        comment=comment(f"{tensor.describe()}: {tensor.name}"),
    )


def branches(namer: Namer) -> tuple[BranchText, ...]:
    """The two buffers of every branch."""
    return tuple(
        BranchText(
            macro=namer.branches[part.buffers[0]],
            address=f"arena_{part.memory} + {part.offset}",
            comment=f"branch {number}, buffer {letter}: {part.size:,} bytes of {part.memory}",
        )
        for number, pair in enumerate(namer.plan.branches)
        for letter, part in zip("ab", pair, strict=True)
    )


def places(plan: Plan) -> tuple[PlaceText, ...]:
    """The memories that the output puts anything into."""
    used = {*plan.arena_bytes, *plan.state_bytes, *(c.memory for c in plan.constants)}
    memories = tuple(
        PlaceText(m.name, m.kind, m.section, m.address)
        for m in plan.board.memories
        if m.name in used
    )
    pad = plan.board.scratchpad
    if plan.npu is None or pad is None:
        return memories
    return (*memories, PlaceText("scratchpad", "scratchpad", pad.section, pad.address))


def headers(plan: Plan) -> tuple[str, ...]:
    """The kernel headers that the layers call, sorted."""
    return tuple(
        sorted(
            {s.call.header for layer in plan.layers for s in kernel_steps(layer.steps)}
            | engine_headers(plan)
        )
    )
