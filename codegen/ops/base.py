"""What every operator file is made of.

An operator file checks one node of the graph and lowers it to `Call`s of C kernels. A call is
independent of where its tensors lie: it says which maps it reads and writes, which input rows an
output row needs, and how far a writer that shares memory with a reader must stay behind it. The
planner turns calls into steps over views; the emitter prints them.

Maps are NHWC: a tensor of any rank is seen as (n, h, w, c) by `nhwc`.
"""

from __future__ import annotations

import enum
import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from codegen.errors import InvalidModel, Unsupported
from codegen.fixed_point import integer_range
from codegen.graph import Attribute, DType, Graph, Node, Quantization, Tensor
from codegen.target import PORTABLE, Target

Map = tuple[int, int, int, int]


def nhwc(shape: tuple[int, ...]) -> Map:
    """Any shape as (n, h, w, c): short shapes get leading ones, long ones fold into n."""
    if len(shape) <= 4:
        n, h, w, c = (1,) * (4 - len(shape)) + shape
    else:
        n, (h, w, c) = math.prod(shape[:-3]), shape[-3:]
    return n, h, w, c


@dataclass(frozen=True)
class RowMap:
    """The input rows that output row y needs: [y * stride + offset, ... + span), clamped.

    `table` lists [first, end) per output row where no such formula holds (resizing).
    """

    stride: int = 1
    offset: int = 0
    span: int = 1
    table: tuple[tuple[int, int], ...] = ()

    def rows(self, y: int, height: int) -> tuple[int, int]:
        """[first, end) of the input rows for output row `y`, inside [0, height)."""
        if self.table:
            return self.table[y]
        first = y * self.stride + self.offset
        return max(0, min(first, height)), max(0, min(first + self.span, height))


SAME_ROW = RowMap()


def all_rows(height: int) -> RowMap:
    """Every output row needs the whole input."""
    return RowMap(stride=0, offset=0, span=height)


class Alias(enum.Enum):
    """What a kernel promises about an input whose memory its output overwrites.

    NONE: nothing; they must not overlap.
    ROW: while block k of `rows_per_step` output rows is written, the input rows which blocks
         k, k+1, ... need are still read; earlier rows are not.
    PIXEL: the pixels of a range are one sequence; pixel i is read whole before pixel i is written.
    ELEMENT: as PIXEL with single elements.
    """

    NONE = "none"
    ROW = "row"
    PIXEL = "pixel"
    ELEMENT = "element"


@dataclass(frozen=True)
class Box:
    """A part of a map: where it starts and how large it is."""

    start: Map
    size: Map


@dataclass(frozen=True)
class Access:
    """One tensor as a kernel sees it.

    `map` is the whole tensor as (n, h, w, c); `box` the part that the call touches (None: all).
    `shared` inputs serve every image of the batch (a broadcast operand with n = 1).
    `dense`: the kernel wants rows and pixels without gaps.
    `whole`: an output that the call writes whole, whatever range it is given (a new state).
    """

    tensor: int
    map: Map
    rows: RowMap = SAME_ROW
    box: Box | None = None
    alias: Alias = Alias.NONE
    shared: bool = False
    dense: bool = False
    whole: bool = False

    @property
    def extent(self) -> Map:
        return self.box.size if self.box else self.map


class TableKind(enum.Enum):
    """What a constant table is accounted as: the model's own bytes, or what they imply."""

    WEIGHTS = "weights"
    TABLES = "tables"


@dataclass(frozen=True, eq=False)
class Table:
    """A constant array in flash; `values` of any shape, printed flat with its numpy type.

    `derived` bytes of it are accounted as tables, whatever its kind: what the quantisation implies
    may stand among the weights, in the order in which a kernel reads both.
    """

    values: NDArray[np.generic]
    kind: TableKind
    derived: int = 0

    def bytes_of(self, kind: TableKind) -> int:
        """Bytes that are accounted as `kind`."""
        own = self.values.nbytes - self.derived if kind is self.kind else 0
        return own + (self.derived if kind is TableKind.TABLES else 0)

    @cached_property
    def key(self) -> tuple[str, str, str]:
        """What makes two tables the same: their kind, element type and bytes."""
        digest = hashlib.sha256(self.values.tobytes()).hexdigest()
        return self.kind.value, self.values.dtype.str, digest


Param = int | float | Table | None


@dataclass(frozen=True, eq=False)
class Gather:
    """An input of a call that is stored nowhere as a whole: the planner's own, no operator's.

    Before each block of output rows, the rows that the block is the first to need are copied from
    the parts of the tensor into a ring of rows.

    Attributes:
        position: of the input among those of the call.
        copies: part -> its box of the tensor; together they cover it.
        ring: rows that are kept.
        ring_bytes: what they take.
    """

    position: int
    copies: tuple[Call, ...]
    ring: int
    ring_bytes: int


@dataclass(frozen=True, eq=False)
class Call:
    """One kernel call over the whole of its output box.

    Attributes:
        kernel: the C function; it takes ([args, ]inputs..., outputs..., range[, scratch]).
        header: its file in runtime_c/kernels.
        args: the C struct type of its constants, filled from `params` by field name; without
            params it is empty and the kernel has no such argument.
        params: integers, floats, tables (pointers to constant arrays) or None (null pointer).
        scratch: bytes of working memory, planned like any buffer; 0 means no such argument.
        rows_per_step: output rows that the kernel makes in one go (see Alias.ROW).
        pointwise: over dense maps of equal size the call may run on one flat row of elements;
            an input of one element serves all of them.
        cost: modelled cycles of the whole call on the target; 0 where nothing is chosen by it.
        gathers: inputs whose rows are brought together while the call runs.
    """

    kernel: str
    header: str
    args: str
    params: tuple[tuple[str, Param], ...]
    inputs: tuple[Access, ...]
    outputs: tuple[Access, ...]
    scratch: int = 0
    rows_per_step: int = 1
    pointwise: bool = False
    cost: int = 0
    gathers: tuple[Gather, ...] = ()

    @property
    def sources(self) -> tuple[Access, ...]:
        """The accesses to everything read that lies somewhere before the call."""
        gathered = {gather.position for gather in self.gathers}
        stored = (access for k, access in enumerate(self.inputs) if k not in gathered)
        return (*stored, *(copy.inputs[0] for g in self.gathers for copy in g.copies))


@dataclass(frozen=True, eq=False)
class Lowered:
    """What an operator becomes.

    Attributes:
        calls: run in this order; together they write every output element exactly once.
        summary: attributes in a few words, for comments and tables ("3x3 s2x1 SAME RELU6").
        macs: multiply-accumulates of the mathematical operator, padding taps included.
        view_of: the input whose bytes the only output repeats unchanged; the planner lets both
            share memory and drops the calls wherever lifetimes allow.
        alternatives: other calls that write the same bytes, each way with its own scratch, steps
            and promises about overwritten inputs. `calls` is the one that needs the least memory;
            every way states its cost, by which the planner weighs time against memory.
        subgraphs: of a control operator: what the operators of each become, by index.
    """

    calls: tuple[Call, ...]
    summary: str = ""
    macs: int = 0
    view_of: int | None = None
    alternatives: tuple[tuple[Call, ...], ...] = ()
    subgraphs: tuple[Mapping[int, Lowered], ...] = ()

    def __post_init__(self) -> None:
        if self.alternatives and not all(map(form_cost, self.forms)):
            raise AssertionError(f"{self.summary}: forms without a cost cannot be chosen from")

    @property
    def forms(self) -> tuple[tuple[Call, ...], ...]:
        """Every way to compute the operator, the one of least memory first."""
        return (self.calls, *self.alternatives)

    def taking(self, form: int) -> Lowered:
        """The same operator with the calls of one form and nothing left to choose."""
        return replace(self, calls=self.forms[form], alternatives=())


def form_cost(calls: Sequence[Call]) -> int:
    """Modelled cycles of one way to compute an operator."""
    return sum(call.cost for call in calls)


@dataclass(frozen=True)
class OpContext:
    """One node with its tensors, what it is lowered for, and the errors that name it."""

    graph: Graph
    node: Node
    target: Target = PORTABLE

    def input(self, position: int) -> Tensor:
        """The tensor at `position`.

        Raises:
            InvalidModel: if the operator lacks it.
        """
        index = self.node.input(position)
        if index < 0:
            raise self.invalid(f"input {position} is missing")
        return self.graph.tensors[index]

    def optional_input(self, position: int) -> Tensor | None:
        """The tensor at `position`, or None when it is absent in either spelling."""
        index = self.node.input(position)
        return None if index < 0 else self.graph.tensors[index]

    def output(self, position: int = 0) -> Tensor:
        """The tensor written at `position`.

        Raises:
            InvalidModel: if the operator lacks it.
        """
        if position >= len(self.node.outputs):
            raise self.invalid(f"output {position} is missing")
        return self.graph.tensors[self.node.outputs[position]]

    def option(self, name: str, default: Attribute = None) -> Attribute:
        return self.node.options.get(name, default)

    def int_option(self, name: str, default: int = 0) -> int:
        value = self.node.options.get(name, default)
        if not isinstance(value, int):
            raise self.invalid(f"option {name} is {value!r}, not an integer")
        return value

    def str_option(self, name: str, default: str) -> str:
        value = self.node.options.get(name, default)
        if not isinstance(value, str):
            raise self.invalid(f"option {name} is {value!r}, unknown to the schema")
        return value

    def unsupported(self, reason: str, what_to_do: str) -> Unsupported:
        """`operator 3 CONV_2D (tensor 7 "x" int16[1,4]): reason; what to do`."""
        shown = [self.graph.tensors[t] for t in (*self.node.inputs, *self.node.outputs) if t >= 0]
        tensors = ", ".join(f"{t.label} {t.describe()}" for t in shown[:3])
        return Unsupported(f"{self.node.label} ({tensors}): {reason}; {what_to_do}")

    def invalid(self, reason: str) -> InvalidModel:
        return InvalidModel(f"{self.node.label}: {reason}; convert the model again")

    def require_type(self, tensor: Tensor, *allowed: DType) -> None:
        """Refuse a tensor whose type is not among `allowed`.

        Raises:
            Unsupported: naming the tensor, its type and the types that work.
        """
        if tensor.dtype not in allowed:
            names = " or ".join(t.value for t in allowed)
            remedy = "quantise the model to int8, activations included (representative_dataset)"
            if DType.INT8 not in allowed:
                remedy = "convert the model again with that type"
            raise self.unsupported(
                f"{tensor.label} is {tensor.dtype.value}",
                f"only {names} is supported here, so {remedy}",
            )

    def require_quant(self, tensor: Tensor, *, zero_scale: bool = False) -> Quantization:
        """The per-tensor quantisation of `tensor`; `zero_scale` lets all of it mean 0.

        Raises:
            InvalidModel: if it has none, or one per channel, a scale that is not positive, or a
                zero point that is no value of its type, which has to be an integer type.
        """
        quant = tensor.quant
        if tensor.dtype.numpy is None or tensor.dtype.numpy.kind not in "iu":
            raise self.invalid(f"{tensor.label} is {tensor.dtype.value}, which has no codes")
        if quant is None or not quant.scales:
            raise self.invalid(f"{tensor.label} is {tensor.dtype.value} but has no scale")
        if quant.per_channel:
            raise self.invalid(f"{tensor.label} has a scale per channel where one is expected")
        if not ((quant.scale > 0 or zero_scale) and math.isfinite(quant.scale)):
            raise self.invalid(f"{tensor.label} has the scale {quant.scale}")
        low, high = integer_range(tensor.dtype)
        if not low <= quant.zero_point <= high:
            raise self.invalid(f"{tensor.label} has the zero point {quant.zero_point}")
        return quant

    def require_shape(self, tensor: Tensor, expected: tuple[int, ...]) -> None:
        """Hold the file's shape of an output against the one its operator implies.

        Raises:
            InvalidModel: if they differ.
        """
        if tensor.shape != expected:
            raise self.invalid(
                f"{tensor.label} has shape {list(tensor.shape)} "
                f"where the operator makes {list(expected)}"
            )

    def require_constant(self, tensor: Tensor) -> NDArray[np.generic]:
        """The constant's values.

        Raises:
            Unsupported: if the tensor is computed at run time.
        """
        if not tensor.is_constant:
            raise self.unsupported(
                f"{tensor.label} is computed at run time",
                "only a constant is supported here, so fix it in the model before converting",
            )
        return tensor.array


@dataclass(frozen=True)
class OpSpec:
    """The declaration of one operator.

    Attributes:
        name: the schema's name ("CONV_2D").
        max_version: the highest operator version whose semantics `lower` covers.
        lower: checks the node and returns its calls.
        types: of the data that it reads; indices, weights and biases have their own.
        notes: what else is supported and what is not, for docs/operators.md.
        custom: whether files name it as a custom operator.
    """

    name: str
    max_version: int
    lower: Callable[[OpContext], Lowered]
    types: tuple[DType, ...]
    notes: str
    custom: bool = False


def whole(tensor: Tensor, alias: Alias = Alias.NONE, rows: RowMap = SAME_ROW) -> Access:
    """The usual access: all of a tensor, in its own NHWC map."""
    return Access(tensor.index, nhwc(tensor.shape), rows=rows, alias=alias)


def flattened(call: Call) -> Call:
    """A pointwise call over dense maps as one row of elements, the whole batch at once."""

    def flat(access: Access) -> Access:
        return replace(access, map=(1, 1, 1, math.prod(access.map)))

    return replace(
        call, inputs=tuple(map(flat, call.inputs)), outputs=tuple(map(flat, call.outputs))
    )


def weights(values: NDArray[np.generic], derived: int = 0) -> Table:
    """A table that holds the model's own weights or biases, and `derived` bytes of other things."""
    return Table(values, TableKind.WEIGHTS, derived)


def table(values: NDArray[np.generic]) -> Table:
    """A table derived from the quantisation: multipliers, shifts, look-ups."""
    return Table(values, TableKind.TABLES)
