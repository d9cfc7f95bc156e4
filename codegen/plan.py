"""The plan: every decision about order, memory and transfers, ready to be printed as C.

A plan is a list of layers in execution order. A layer is a list of steps: kernel calls over views,
and loops whose body's addresses are affine in the loop variables. `plan_json` writes it as the
self-contained document that `codegen.planner.checker` proves without this module's help.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from codegen.board_schema import Board
from codegen.graph import Graph, Node
from codegen.layout import Layout, dense_layout
from codegen.ops.base import Call, Lowered, Table, TableKind

FORMAT_VERSION = 1


class Home(enum.Enum):
    """What kind of memory a buffer is part of."""

    ARENA = "arena"
    CONSTANT = "constant"
    CALLER_INPUT = "caller_input"
    CALLER_OUTPUT = "caller_output"


@dataclass(frozen=True)
class Buffer:
    """Bytes with one address for a span of layers.

    Attributes:
        name: unique in the plan.
        home: part of an arena, a constant, or memory that the caller of the C code gives.
        memory: the board memory; empty for the caller's.
        offset: bytes from the start of that memory's arena; 0 where there is none.
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
    """constant + sum of coefficient * loop variable, in bytes."""

    constant: int
    terms: tuple[tuple[str, int], ...] = ()


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
class Loop:
    """`body` with `variable` = 0 .. count - 1."""

    variable: str
    count: int
    body: tuple[Step, ...]


Step = KernelStep | Loop


@dataclass(frozen=True)
class Form:
    """One way to compute an operator: its kernels, their scratch in bytes, modelled cycles."""

    kernels: tuple[str, ...]
    scratch: int
    cost: int
    taken: bool


@dataclass(frozen=True, eq=False)
class Layer:
    """What one operator became: steps, and copies that shared memory makes superfluous.

    `lowered` has the calls that were chosen; `forms` what they were chosen from, if there was more.
    """

    node: Node
    lowered: Lowered
    steps: tuple[Step, ...]
    dropped: tuple[Call, ...] = ()
    note: str = ""
    forms: tuple[Form, ...] = ()


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


@dataclass(frozen=True, eq=False)
class Plan:
    """Everything the emitter prints. Layers stand in execution order.

    `lower_bound` is what the arenas need at least, given which buffers lie in which memory;
    `proven` says that no offsets are better than those of `arena_bytes`; `arena_seconds` is what
    finding them took. `branches` are the pairs of buffers of the arena strategy `pingpong`.
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
    lower_bound: int
    proven: bool
    memories: Mapping[str, MemoryUse]
    branches: tuple[tuple[BranchBuffer, BranchBuffer], ...]

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

    def constant_bytes(self, kind: TableKind) -> int:
        """Flash taken by one kind of constants."""
        return sum(c.nbytes for c in self.constants if c.table.kind is kind)


def kernel_steps(steps: tuple[Step, ...]) -> Iterator[KernelStep]:
    """Every kernel step, loops entered once."""
    for step in steps:
        if isinstance(step, Loop):
            yield from kernel_steps(step.body)
        else:
            yield step
