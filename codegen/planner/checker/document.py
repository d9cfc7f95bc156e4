"""The schema of plan.json as the checker reads it; docs/plan_format.md says what fields mean.

Whatever the schema does not know is refused: a field that the checker ignored could change what
the plan means.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    StrictBool,
    StrictInt,
    StrictStr,
    Tag,
    ValidationError,
)

FORMAT = "codegen-plan"
VERSION = 1

# Offsets and strides are int32_t in the C code.
Signed = Annotated[StrictInt, Field(ge=-(2**31), lt=2**31)]
Count = Annotated[StrictInt, Field(ge=0, lt=2**31)]
Positive = Annotated[StrictInt, Field(ge=1, lt=2**31)]
Bytes = Annotated[StrictInt, Field(ge=0, lt=2**40)]
Name = Annotated[StrictStr, Field(min_length=1)]
Map = tuple[Positive, Positive, Positive, Positive]
Start = tuple[Count, Count, Count, Count]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Memory(_Model):
    """A memory of the board with the arena and the state in it, in bytes."""

    name: Name
    kind: Literal["ram", "flash"]
    usable: Bytes
    alignment: Positive
    arena_bytes: Count
    state_bytes: Count
    used: Bytes


class Tensor(_Model):
    """A tensor that has a place, or that the caller gives or gets."""

    id: Count
    name: StrictStr
    type: Name
    shape: tuple[Count, ...]
    bytes: Count
    buffer: Name | None
    offset: Count


class Buffer(_Model):
    """Bytes with one address, live in layers first..last inclusive."""

    name: Name
    home: Literal["arena", "constant", "state", "caller_input", "caller_output"]
    memory: StrictStr
    offset: Count
    size: Positive
    first: Annotated[StrictInt, Field(ge=-1, lt=2**31)]
    last: Annotated[StrictInt, Field(ge=-1, lt=2**31)]
    tensors: tuple[Count, ...]


class Affine(_Model):
    """constant + sum of coefficient * loop variable, and of factor * ((variable + shift) mod m)."""

    constant: Signed
    terms: tuple[tuple[Name, Signed], ...]
    cycles: tuple[tuple[Name, Count, Positive, Signed], ...] = ()

    def at(self, env: Mapping[str, int]) -> int:
        """The value for these loop variables."""
        turns = (factor * ((env[name] + s) % m) for name, s, m, factor in self.cycles)
        moved = (factor * env[name] for name, factor in self.terms)
        return self.constant + sum(moved) + sum(turns)


class Part(_Model):
    """The whole map of a tensor as (n, h, w, c), and the part of it that is meant."""

    map: Map
    start: Start
    size: Map


class Box(Part):
    """The part that a kernel touches.

    A shared one serves every image of the batch; of a dense one the kernel takes rows and pixels
    to follow each other without gaps; a whole one is written whole, whatever the range.
    """

    shared: StrictBool
    dense: StrictBool
    whole: StrictBool


class TensorPart(Part):
    """A part of a tensor, independent of where it lies."""

    tensor: Count


class Share(_Model):
    """`result` is, byte after byte, the same memory as `source`."""

    source: TensorPart
    result: TensorPart


class View(_Model):
    """Where a kernel finds a box of a tensor."""

    tensor: Count
    buffer: Name
    offset: Affine
    row: Count
    pixel: Count
    height: Positive
    width: Positive
    pixel_bytes: Positive
    ring: Count
    row0: Count
    col0: Count
    box: Box


class RowFormula(_Model):
    """Output row y needs input rows [y * stride + offset, ... + span), clamped to the map."""

    stride: Count
    offset: Signed
    span: Positive


class RowTable(_Model):
    """Output row y needs input rows [first, end) = table[y]."""

    table: Annotated[tuple[tuple[Count, Count], ...], Field(min_length=1)]


def _rows_tag(value: Any) -> str:
    tabled = "table" in value if isinstance(value, dict) else isinstance(value, RowTable)
    return "#table" if tabled else "#formula"


RowMap = Annotated[
    Annotated[RowFormula, Tag("#formula")] | Annotated[RowTable, Tag("#table")],
    Discriminator(_rows_tag),
]


class Read(View):
    """An input of a kernel, with what the kernel promises about it."""

    alias: Literal["none", "row", "pixel", "element"]
    rows: RowMap


class Kernel(_Model):
    """One kernel call over the range (y0, y1, x0, x1, c0, c1) of its outputs."""

    kernel: Name
    range: tuple[Count, Count, Count, Count, Count, Count]
    image: Affine
    row: Affine
    rows_per_step: Positive
    scratch: Name | None
    scratch_bytes: Count
    reads: tuple[Read, ...]
    writes: Annotated[tuple[View, ...], Field(min_length=1)]


class Copy(_Model):
    """planes x rows runs of length bytes, with strides on both sides."""

    length: Positive
    rows: Positive
    planes: Positive
    memory_row: Count
    memory_plane: Count
    scratch_row: Count
    scratch_plane: Count


class DmaStart(_Model):
    """Start of transfer number `dma_start`, between a buffer and the scratchpad."""

    dma_start: Affine
    store: StrictBool
    buffer: Name
    memory: Affine
    scratch: Affine
    copy_: Annotated[Copy, Field(alias="copy")]


class DmaWait(_Model):
    """Wait for the transfer of this number."""

    dma_wait: Affine


class Window(_Model):
    """A sliding window along one direction."""

    kernel: Positive
    stride: Positive
    dilation: Positive
    pad: Signed


class ScratchView(_Model):
    """A map in the scratchpad, from the first channel that the command touches."""

    tensor: Count
    offset: Affine
    row: Count
    pixel: Count
    ring: Count
    row0: Affine
    col0: Affine
    map: tuple[Positive, Positive, Positive]


class NpuStart(_Model):
    """Start of a command of operator `npu_start`."""

    npu_start: Count
    kind: Name
    first_output: tuple[Affine, Affine, Affine]
    size: tuple[Positive, Positive, Positive]
    first_depth: Affine
    depth: Positive
    first: StrictBool
    last: StrictBool
    rows: Window
    columns: Window
    multiplier: Positive
    reads: Annotated[tuple[ScratchView, ...], Field(min_length=1)]
    writes: ScratchView
    weights: Affine | None
    weights_at: Affine | None
    weights_bytes: Count
    weights_buffer: Name | None
    sums: Affine | None


class NpuWait(_Model):
    """Wait for the command under way."""

    npu_wait: Literal[True]


class CacheStep(_Model):
    """Maintenance of a whole buffer."""

    cache: Literal["clean", "invalidate"]
    buffer: Name


class DataCache(_Model):
    """The cache between the CPU and these memories, and the caller's buffers if `caller`."""

    line: Positive
    memories: tuple[Name, ...]
    caller: StrictBool


class Scratchpad(_Model):
    """What the program uses of the scratchpad, what the DMA can do, and what it does not see."""

    size: Positive
    used: Count
    queue: Positive
    ranks: Positive
    max_length: Positive
    cache: DataCache | None


class Loop(_Model):
    """`body` with the variable `loop` = 0 .. count - 1."""

    loop: Name
    count: Positive
    body: Annotated[tuple[Step, ...], Field(min_length=1)]


_KINDS: dict[str, type[_Model]] = {
    "loop": Loop,
    "body": Loop,
    "dma_start": DmaStart,
    "dma_wait": DmaWait,
    "npu_start": NpuStart,
    "npu_wait": NpuWait,
    "cache": CacheStep,
}
"""A field that only one kind of step has -> that kind; without any it is a kernel."""


def _step_tag(value: Any) -> str:
    if isinstance(value, dict):
        kinds = (kind for key, kind in _KINDS.items() if key in value)
        return f"#{next(kinds, Kernel).__name__}"
    return f"#{type(value).__name__}"


Step = Annotated[
    Annotated[Kernel, Tag("#Kernel")]
    | Annotated[Loop, Tag("#Loop")]
    | Annotated[DmaStart, Tag("#DmaStart")]
    | Annotated[DmaWait, Tag("#DmaWait")]
    | Annotated[NpuStart, Tag("#NpuStart")]
    | Annotated[NpuWait, Tag("#NpuWait")]
    | Annotated[CacheStep, Tag("#CacheStep")],
    Discriminator(_step_tag),
]


class Form(_Model):
    """One way to compute an operator: its kernels, their scratch in bytes, modelled cycles."""

    kernels: tuple[Name, ...]
    scratch: Count
    cost: Annotated[StrictInt, Field(ge=0)]
    taken: StrictBool


class ControlPart(_Model):
    """Layers [first, end) that run together; pairs of tensors that are the same bytes.

    (outer, inner) of `enter` while they run, (inner, outer) of `leave` when they are done.
    """

    first: Count
    end: Count
    enter: tuple[tuple[Count, Count], ...]
    leave: tuple[tuple[Count, Count], ...]


class Control(_Model):
    """What a layer does with the layers behind it.

    It repeats the first part, and then the second one if `condition` holds, until it does not; or
    runs the first part if `condition` holds and else the second one.
    """

    loops: StrictBool
    condition: Count
    parts: tuple[ControlPart, ControlPart]


class Layer(_Model):
    """What one operator became."""

    operator: Count
    kind: Name
    summary: StrictStr
    macs: Annotated[StrictInt, Field(ge=0)]
    inputs: tuple[Count, ...]
    outputs: tuple[Count, ...]
    note: StrictStr
    forms: tuple[Form, ...]
    views: tuple[Share, ...]
    steps: tuple[Step, ...]
    control: Control | None = None


class State(_Model):
    """What lives on: the tensor that a run begins with, and the one that the next begins with."""

    start: Count
    end: Count | None


class Document(_Model):
    """The whole plan."""

    format: StrictStr
    version: StrictInt
    model: StrictStr
    board: StrictStr
    order: StrictStr
    arena: StrictStr
    memory: StrictStr
    lower_bound_bytes: Bytes
    bound_by: Literal["count", "search"]
    memories: tuple[Memory, ...]
    scratchpad: Scratchpad | None = None
    inputs: tuple[Count, ...]
    outputs: tuple[Count, ...]
    keep_input: StrictBool
    states: tuple[State, ...]
    tensors: tuple[Tensor, ...]
    buffers: tuple[Buffer, ...]
    layers: tuple[Layer, ...]


def parse(document: object) -> tuple[Document | None, list[str]]:
    """The document and no faults, or None and one line for every wrong field."""
    if not isinstance(document, dict):
        return None, [f"plan: must be an object, not {_shown(document)}"]
    if document.get("format") != FORMAT:
        return None, [f"format: must be {FORMAT!r}, not {_shown(document.get('format'))}"]
    version = document.get("version")
    if type(version) is not int or version != VERSION:
        return None, [f"version: must be {VERSION}, not {_shown(version)}"]
    try:
        return Document.model_validate(document), []
    except ValidationError as error:
        return None, list(_lines(error))


_WITHOUT_VALUE = {
    "missing": "is missing",
    "extra_forbidden": f"is not a field of version {VERSION}",
    "recursion_loop": "is nested too deep",
}


def _lines(invalid: ValidationError) -> Iterator[str]:
    for error in invalid.errors(include_url=False):
        what = _WITHOUT_VALUE.get(error["type"])
        if what is None:
            what = f"{error['msg'].removeprefix('Input ')}, not {_shown(error['input'])}"
        yield _printable(f"{_field(error['loc'])}: {what}")


def _field(loc: tuple[int | str, ...]) -> str:
    text = ""
    for part in loc:
        if isinstance(part, int):
            text += f"[{part}]"
        elif not part.startswith("#"):
            text += f".{part}"
    return text.removeprefix(".") or "plan"


def _shown(value: object) -> str:
    text = type(value).__name__ if isinstance(value, dict | list) else repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


def _printable(line: str) -> str:
    return "".join(char if char.isprintable() else "?" for char in line)
