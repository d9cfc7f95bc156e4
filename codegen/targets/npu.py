"""An NPU as an engine: what a lowered operator asks of it, whether it takes it, and its cycles.

`work_of` reads the geometry of an operator from the kernel call that it is lowered to. What there
is no work for, or what the board's profile excludes, runs on the CPU, with the reason in words.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from codegen.board_schema import Npu, NpuOperator
from codegen.graph import Graph, Node
from codegen.ops.base import Call, Lowered, Table


class Kind(enum.Enum):
    """Classes of operators with one way to be tiled and one formula of cost.

    DENSE mixes all input channels of a window (convolution, fully connected), DEPTHWISE and POOL
    keep channels apart, ELEMENT goes through equal maps in step, SOFTMAX needs whole pixels.
    """

    DENSE = "dense"
    DEPTHWISE = "depthwise"
    POOL = "pool"
    ELEMENT = "element"
    SOFTMAX = "softmax"


_KINDS: Mapping[str, Kind] = {
    "cg_conv_2d_s8": Kind.DENSE,
    "cg_fully_connected_s8": Kind.DENSE,
    "cg_depthwise_conv_2d_s8": Kind.DEPTHWISE,
    "cg_average_pool_2d_s8": Kind.POOL,
    "cg_max_pool_2d_s8": Kind.POOL,
    "cg_add_s8": Kind.ELEMENT,
    "cg_mul_s8": Kind.ELEMENT,
    "cg_lookup_8": Kind.ELEMENT,
    "cg_softmax_s8": Kind.SOFTMAX,
}


@dataclass(frozen=True)
class Size:
    """Rows, columns and channels of a map of int8."""

    h: int
    w: int
    c: int

    @property
    def row(self) -> int:
        """Bytes of a row."""
        return self.w * self.c

    @property
    def bytes(self) -> int:
        return self.h * self.w * self.c


@dataclass(frozen=True)
class Axis:
    """A window along rows or columns: output i needs [i * stride - pad, ... + span)."""

    kernel: int = 1
    stride: int = 1
    dilation: int = 1
    pad: int = 0

    @property
    def span(self) -> int:
        return (self.kernel - 1) * self.dilation + 1

    def needs(self, first: int, end: int, size: int) -> tuple[int, int]:
        """[low, high) of the input for outputs [first, end), inside [0, size); never empty."""
        low = first * self.stride - self.pad
        high = (end - 1) * self.stride - self.pad + self.span
        return max(0, min(low, size - 1)), max(1, min(high, size))


@dataclass(frozen=True, eq=False)
class Work:
    """One operator as an engine sees it: one image, int8 maps, a window that slides over them.

    Attributes:
        node, call: where it comes from.
        kind: how it is tiled.
        inputs, output: tensors of the maps that move.
        source, result: sizes of each input map and of the output map.
        rows, columns: the window.
    """

    node: Node
    call: Call
    kind: Kind
    inputs: tuple[int, ...]
    output: int
    source: Size
    result: Size
    rows: Axis
    columns: Axis

    @property
    def taps(self) -> int:
        return self.rows.kernel * self.columns.kernel

    @property
    def multiplier(self) -> int:
        """Output channels per input channel of a DEPTHWISE; 1 for the others."""
        return self.result.c // self.source.c if self.kind is Kind.DEPTHWISE else 1

    def param(self, name: str, default: int = 0) -> int:
        """An integer constant of the kernel call."""
        value = dict(self.call.params).get(name, default)
        return value if isinstance(value, int) else default

    def table(self, name: str) -> Table | None:
        value = dict(self.call.params).get(name)
        return value if isinstance(value, Table) else None


def work_of(graph: Graph, node: Node, lowered: Lowered) -> Work | str:
    """The work of a lowered operator, or why no NPU command describes it."""
    if len(lowered.calls) != 1:
        return "it is several kernel calls"
    call = lowered.calls[0]
    kind = _KINDS.get(call.kernel)
    if kind is None:
        return "no NPU command computes it"
    if reason := _beyond_command(graph, call, kind):
        return reason
    source, result = (a.extent for a in (call.inputs[0], call.outputs[0]))
    rows, columns = _window(call)
    return Work(
        node,
        call,
        kind,
        tuple(a.tensor for a in call.inputs),
        call.outputs[0].tensor,
        Size(*source[1:]),
        Size(*result[1:]),
        rows,
        columns,
    )


def _beyond_command(graph: Graph, call: Call, kind: Kind) -> str:
    """Why a call of a known kernel is beyond the commands; nothing if it is not."""
    accesses = (*call.inputs, *call.outputs)
    tensors = [graph.tensors[a.tensor] for a in accesses]
    params = dict(call.params)
    if any(a.box is not None for a in accesses):
        return "it works on parts of tensors"
    if any(t.is_constant for t in tensors):
        return "one of its operands is a constant"
    if kind in (Kind.ELEMENT, Kind.SOFTMAX) and len({a.map for a in accesses}) > 1:
        return "it broadcasts an operand"
    if any(a.map[0] > 1 for a in accesses):
        return "it has a batch of several images"
    if call.kernel == "cg_conv_2d_s8" and params["group_in"] != call.inputs[0].map[3]:
        return "its channels form groups"
    return ""


def _window(call: Call) -> tuple[Axis, Axis]:
    params = {name: value for name, value in call.params if isinstance(value, int)}

    def axis(letter: str, before: str) -> Axis:
        return Axis(
            params.get(f"filter_{letter}", 1),
            params.get(f"stride_{letter}", 1),
            params.get(f"dilation_{letter}", 1),
            params.get(before, 0),
        )

    return axis("h", "pad_top"), axis("w", "pad_left")


@dataclass(frozen=True, eq=False)
class Assignment:
    """Which engine runs an operator: its work on the NPU, or why the CPU; neither for a view."""

    node: Node
    work: Work | None
    reason: str

    @property
    def engine(self) -> str:
        return "NPU" if self.work else "CPU" if self.reason else "view"


def partition(graph: Graph, npu: Npu, lowered: Mapping[int, Lowered]) -> tuple[Assignment, ...]:
    """Give every operator to an engine, in the order of the graph."""
    return tuple(_assign(graph, npu, node, lowered[node.index]) for node in graph.nodes)


def is_view(graph: Graph, node: Node, lowered: Lowered) -> bool:
    """Whether the operator's output is its input under another shape, so that nothing is done."""
    t = lowered.view_of
    if t is None or graph.tensors[t].is_constant:
        return False
    if any(t == state.start for state in graph.states):
        return False  # the next run's value takes its place, perhaps before it is read
    return node.outputs[0] not in graph.outputs or t not in (*graph.inputs, *graph.outputs)


def _assign(graph: Graph, npu: Npu, node: Node, lowered: Lowered) -> Assignment:
    if is_view(graph, node, lowered):
        return Assignment(node, None, "")
    limits = next((o for o in npu.operators if o.name == node.op), None)
    if limits is None:
        return Assignment(node, None, f"the NPU has no {node.op}")
    work = work_of(graph, node, lowered)
    if isinstance(work, str):
        return Assignment(node, None, work)
    reason = next(_exceeded(graph, work, limits), "")
    return Assignment(node, None if reason else work, reason)


def _exceeded(graph: Graph, work: Work, limits: NpuOperator) -> Iterator[str]:
    """The profile's limits that an operator is beyond."""
    for t in (*work.inputs, work.output):
        dtype = graph.tensors[t].dtype.value
        if dtype not in limits.types:
            yield f"{dtype} where the NPU takes {' and '.join(limits.types)}"
    activation = str(work.node.options.get("fused_activation_function", "NONE"))
    if activation not in limits.activations:
        yield f"activation {activation} where the NPU takes {', '.join(limits.activations)}"
    both = (work.rows, work.columns)
    for word, limit, values in (
        ("kernel", limits.max_kernel, [a.kernel for a in both]),
        ("stride", limits.max_stride, [a.stride for a in both]),
        ("dilation", limits.max_dilation, [a.dilation for a in both]),
    ):
        if limit and (values[0] > limit[0] or values[1] > limit[1]):
            yield f"{word} {values[0]}x{values[1]} where the NPU takes {limit[0]}x{limit[1]}"
    for word, most, channels in (
        ("input", limits.max_input_channels, work.source.c),
        ("output", limits.max_output_channels, work.result.c),
    ):
        if most and channels > most:
            yield f"{channels} {word} channels where the NPU takes {most}"


def _up(value: int, multiple: int) -> int:
    return -(-value // multiple) * multiple


def compute_cycles(npu: Npu, work: Work, pixels: int, channels: int, depth: int) -> int:
    """Cycles of a command without its start, as the `sim` port counts them too.

    Args:
        pixels: of the output.
        channels: of the output.
        depth: input channels that a DENSE one sums over.
    """
    if work.kind is Kind.DENSE:
        rounded = _up(channels, npu.output_channel_multiple) * _up(
            depth, npu.input_channel_multiple
        )
        return -(-pixels * work.taps * rounded // npu.macs_per_cycle)
    if work.kind in (Kind.DEPTHWISE, Kind.POOL):
        taps = _up(work.taps, npu.depthwise_tap_multiple)
        return math.ceil(pixels * channels * taps / npu.depthwise_macs_per_cycle)
    return math.ceil(pixels * channels / npu.elements_per_cycle)


def whole_cycles(npu: Npu, work: Work) -> int:
    """Cycles of the whole operator as one command, without its start."""
    pixels = work.result.h * work.result.w
    return compute_cycles(npu, work, pixels, work.result.c, work.source.c)
