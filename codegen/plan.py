"""The plan: every decision about order, memory and transfers, ready to be printed as C.

A plan is a list of layers in execution order. A layer is a list of steps: kernel calls over views,
and loops whose body's addresses are affine in the loop variables. `plan_json` writes it as the
self-contained document that `codegen.planner.checker` proves without this module's help.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codegen.board_schema import Board
from codegen.graph import Graph, Node
from codegen.layout import Layout, dense_layout
from codegen.npu.program import Copy
from codegen.ops.base import Call, Lowered, Table, TableKind
from codegen.ops.control import TRIPS
from codegen.target import WEIGHTS_GROWTH
from codegen.targets.npu import Work

if TYPE_CHECKING:
    from codegen.npu.plan import NpuPlan

FORMAT_VERSION = 1


class Home(enum.Enum):
    """What kind of memory a buffer is part of."""

    ARENA = "arena"
    CONSTANT = "constant"
    STATE = "state"
    CALLER_INPUT = "caller_input"
    CALLER_OUTPUT = "caller_output"


@dataclass(frozen=True)
class Buffer:
    """Bytes with one address for a span of layers.

    Attributes:
        name: unique in the plan.
        home: part of an arena, a constant, state that lives on between runs, or memory that the
            caller of the C code gives.
        memory: the board memory; empty for the caller's.
        offset: bytes from the start of that memory's arena or state; 0 where there is neither.
        size: bytes.
        first, last: positions of the layers between which its bytes count, both inclusive;
            -1 stands for "before the first layer".
        tensors: what lies here, one after the other or as views of each other; none for scratch.
        index: number of the constant, or of the model's input or output for the caller's memory.
    """

    name: str
    home: Home
    memory: str
    offset: int
    size: int
    first: int
    last: int
    tensors: tuple[int, ...] = ()
    index: int = 0


@dataclass(frozen=True)
class BranchBuffer:
    """One of the two buffers that the operators of a branch write in turn.

    Attributes:
        name: unique in the plan.
        memory, offset, size: as in `Buffer`.
        buffers: names of the plan's buffers that lie here one after the other.
    """

    name: str
    memory: str
    offset: int
    size: int
    buffers: tuple[str, ...]


@dataclass(frozen=True)
class Affine:
    """constant + sum of coefficient * loop variable, in bytes.

    `cycles` adds factor * ((variable + shift) mod modulus) for each (variable, shift, modulus,
    factor): buffers that are used in turn.
    """

    constant: int
    terms: tuple[tuple[str, int], ...] = ()
    cycles: tuple[tuple[str, int, int, int], ...] = ()


@dataclass(frozen=True)
class View:
    """Where a kernel finds its map; strides in bytes, see runtime_c/include/cg_view.h."""

    tensor: int
    buffer: str
    offset: Affine
    row: int
    pixel: int
    height: int
    width: int
    pixel_bytes: int
    ring: int = 0
    row0: int = 0
    col0: int = 0


@dataclass(frozen=True)
class Range:
    """The part of the output that one call computes: [y0, y1) x [x0, x1) x [c0, c1)."""

    y0: int
    y1: int
    x0: int
    x1: int
    c0: int
    c1: int


@dataclass(frozen=True, eq=False)
class KernelStep:
    """One kernel call over a range of its views.

    `image` is which image of a batch it computes; `row` is added to both ends of its rows.
    """

    call: Call
    inputs: tuple[View, ...]
    outputs: tuple[View, ...]
    range: Range
    image: Affine
    row: Affine
    scratch: str | None = None


@dataclass(frozen=True, eq=False)
class DmaStart:
    """Start of a transfer between memory and the scratchpad; it is waited for by its ticket.

    Attributes:
        ticket: number of the transfer in the run.
        store: from the scratchpad to memory; else the other way.
        buffer: in memory, and `memory`: bytes from its start.
        scratch: bytes from the start of the scratchpad.
        copy: its shape and strides.
    """

    ticket: Affine
    store: bool
    buffer: str
    memory: Affine
    scratch: Affine
    copy: Copy


@dataclass(frozen=True, eq=False)
class DmaWait:
    """Wait for the transfer with this ticket."""

    ticket: Affine


@dataclass(frozen=True)
class ScratchView:
    """A map in the scratchpad, from the first channel of the tile on; see `View`."""

    tensor: int
    offset: Affine
    row: int
    pixel: int
    ring: int
    row0: Affine
    col0: Affine


@dataclass(frozen=True, eq=False)
class NpuStart:
    """Start of a command: a tile of an operator, all in the scratchpad.

    Attributes:
        work: the operator.
        inputs, output: its maps.
        weights: offset of the block of packed weights in the scratchpad, None without any;
            `block`: where it starts in the operator's constant.
        sums: offset of the int32 partial sums, None without.
        y0, x0, c0: first row, column and channel of the tile, `size` how many of each.
        k0: the first input channel, `depth` how many.
        first, last: whether the slice of the input channels is the first, the last one.
    """

    work: Work
    inputs: tuple[ScratchView, ...]
    output: ScratchView
    weights: Affine | None
    block: Affine | None
    sums: Affine | None
    y0: Affine
    x0: Affine
    c0: Affine
    size: tuple[int, int, int]
    k0: Affine
    depth: int
    first: bool
    last: bool


@dataclass(frozen=True, eq=False)
class NpuWait:
    """Wait for the command under way."""


@dataclass(frozen=True, eq=False)
class CacheStep:
    """Clean (before a transfer reads) or invalidate a whole buffer in cacheable memory."""

    clean: bool
    buffer: str


EngineStep = DmaStart | DmaWait | NpuStart | NpuWait | CacheStep


@dataclass(frozen=True, eq=False)
class Loop:
    """`body` with `variable` = 0 .. count - 1."""

    variable: str
    count: int
    body: tuple[Step, ...]


Step = KernelStep | EngineStep | Loop


@dataclass(frozen=True)
class Form:
    """One way to compute an operator: its kernels, their scratch in bytes, modelled cycles."""

    kernels: tuple[str, ...]
    scratch: int
    cost: int
    taken: bool


@dataclass(frozen=True)
class Part:
    """One subgraph of a control operator.

    Attributes:
        first, end: positions of its layers, [first, end).
        enter: (outer, inner): while it runs, the inner tensor is what the outer one is, in its
            place.
        leave: (inner, outer): when it is done, the outer tensor is what the inner one is, in its
            place.
    """

    first: int
    end: int
    enter: tuple[tuple[int, int], ...]
    leave: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Control:
    """What an IF or a WHILE does after its own steps.

    Attributes:
        loops: the second part runs, and the first one again, as long as the condition, which the
            first part makes, is true; else one of the two runs as the condition says.
        condition: the tensor.
        parts: condition and body of a loop; what runs if the condition is true, and if it is not.
    """

    loops: bool
    condition: int
    parts: tuple[Part, Part]

    @property
    def words(self) -> tuple[str, str]:
        """What the parts are called."""
        return ("cond", "body") if self.loops else ("then", "else")


@dataclass(frozen=True, eq=False)
class Layer:
    """What one operator became: steps, and copies that shared memory makes superfluous.

    `lowered` has the calls that were chosen; `forms` what they were chosen from, if there was more.
    The layers of its subgraphs, if `control` names such, follow it.
    """

    node: Node
    lowered: Lowered
    steps: tuple[Step, ...]
    dropped: tuple[Call, ...] = ()
    note: str = ""
    forms: tuple[Form, ...] = ()
    control: Control | None = None

    @property
    def has_code(self) -> bool:
        """Whether it is a function of the C code."""
        return bool(self.steps) or self.control is not None


@dataclass(frozen=True, eq=False)
class Constant:
    """A table in flash; equal tables of one kind are stored once, under their first owner."""

    index: int
    table: Table
    memory: str
    owner: str

    @property
    def nbytes(self) -> int:
        return self.table.values.nbytes


@dataclass(frozen=True)
class MemoryUse:
    """Bytes taken of one memory of the board, and what the board grants."""

    used: int
    size: int


@dataclass(frozen=True)
class PlanOptions:
    """What the user asked of the planner; `memory` a key of `planner.memory_modes.MODES`."""

    order: str = "auto"
    arena: str = "auto"
    memory: str = "balanced"
    keep_input: bool = False
    caller_io: bool = False
    kernels: str = "auto"
    reference: str = "litert"
    optimize: str = "speed"
    weights_growth: float = WEIGHTS_GROWTH


@dataclass(frozen=True, eq=False)
class Plan:
    """Everything the emitter prints. Layers stand in execution order, those of subgraphs too.

    `lower_bound` is what the arenas need at least, given which buffers lie in which memory, and
    `counted_bound` what they need for the most bytes live at once;
    `proven` says that no offsets are better than those of `arena_bytes`; `arena_seconds` is what
    finding them took. `branches` are the pairs of buffers of the arena strategy `pingpong`; `npu`
    is the schedule of a board with an NPU.
    """

    graph: Graph
    board: Board
    options: PlanOptions
    order_strategy: str
    arena_strategy: str
    arena_seconds: float
    layers: tuple[Layer, ...]
    buffers: tuple[Buffer, ...]
    constants: tuple[Constant, ...]
    tensor_buffers: Mapping[int, str]
    layouts: Mapping[int, Layout]
    arena_bytes: Mapping[str, int]
    state_bytes: Mapping[str, int]
    lower_bound: int
    counted_bound: int
    proven: bool
    memories: Mapping[str, MemoryUse]
    branches: tuple[tuple[BranchBuffer, BranchBuffer], ...]
    npu: NpuPlan | None = None

    def buffer(self, name: str) -> Buffer:
        """The buffer called `name`; KeyError if there is none."""
        for buffer in self.buffers:
            if buffer.name == name:
                return buffer
        raise KeyError(name)

    def layout(self, t: int) -> Layout:
        """Where a tensor lies in its buffer; constants and the like lie without gaps."""
        return self.layouts.get(t, dense_layout(self.graph.tensors[t]))

    @property
    def total_arena(self) -> int:
        """Bytes of all arenas together."""
        return sum(self.arena_bytes.values())

    @property
    def total_state(self) -> int:
        """Bytes of all state together."""
        return sum(self.state_bytes.values())

    @property
    def outer_layers(self) -> tuple[Layer, ...]:
        """The layers that stand in no subgraph: what one run goes through, each once."""
        outer, end = [], 0
        for position, layer in enumerate(self.layers):
            if position >= end:
                outer.append(layer)
                end = position + 1 if layer.control is None else layer.control.parts[1].end
        return tuple(outer)

    @property
    def has_unbounded_loop(self) -> bool:
        """Whether a loop runs as often as its condition holds, which only run time knows."""
        return any(
            layer.control is not None and layer.control.loops and TRIPS not in layer.node.options
            for layer in self.layers
        )

    def constant_bytes(self, kind: TableKind) -> int:
        """Flash taken by one kind of constants."""
        return sum(c.table.bytes_of(kind) for c in self.constants)


def kernel_steps(steps: tuple[Step, ...]) -> Iterator[KernelStep]:
    """Every kernel step, loops entered once."""
    for step in steps:
        if isinstance(step, Loop):
            yield from kernel_steps(step.body)
        elif isinstance(step, KernelStep):
            yield step


def engine_steps(steps: tuple[Step, ...]) -> Iterator[EngineStep]:
    """Every step of DMA, NPU and cache, loops entered once."""
    for step in steps:
        if isinstance(step, Loop):
            yield from engine_steps(step.body)
        elif not isinstance(step, KernelStep):
            yield step


def layer_numbers(plan: Plan) -> dict[int, str]:
    """Position -> number of a layer that has code; in a subgraph `3 body 1`."""
    return dict(_numbers(plan, 0, len(plan.layers), ""))


def _numbers(plan: Plan, first: int, end: int, prefix: str) -> Iterator[tuple[int, str]]:
    position, number = first, 0
    while position < end:
        layer = plan.layers[position]
        label = f"{prefix}{number}"
        if layer.has_code:
            yield position, label
            number += 1
        position += 1
        if layer.control is not None:
            for part, word in zip(layer.control.parts, layer.control.words, strict=True):
                yield from _numbers(plan, part.first, part.end, f"{label} {word} ")
            position = layer.control.parts[1].end
