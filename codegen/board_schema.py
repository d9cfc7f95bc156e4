"""What a board profile may say: frozen pydantic models, one per TOML table.

The models check values and how the tables fit together; they read no files. `codegen.boards` loads
profiles and turns what pydantic reports into lines for the user.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    model_validator,
)
from pydantic_core import PydanticCustomError

from codegen.sizes import parse_size

SCRATCHPAD = "scratchpad"
"""How DMA paths name the scratchpad; no memory may be called so."""

Core = Literal[
    "cortex-m0plus",
    "cortex-m4",
    "cortex-m7",
    "cortex-m33",
    "cortex-m55",
    "xtensa-lx7",
    "riscv32",
    "host",
]
MemoryKind = Literal["ram", "flash"]
ElementType = Literal["int8", "uint8", "int16", "int32", "float32"]
Activation = Literal["NONE", "RELU", "RELU6", "RELU_N1_TO_1", "TANH"]


@dataclass(frozen=True)
class Isa:
    """What the emitted kernels may assume of a core beyond plain C."""

    dsp: bool = False
    mve: bool = False
    fpu: bool = False


_ISA: dict[str, Isa] = {
    "cortex-m0plus": Isa(),
    "cortex-m4": Isa(dsp=True, fpu=True),
    "cortex-m7": Isa(dsp=True, fpu=True),
    "cortex-m33": Isa(dsp=True, fpu=True),
    "cortex-m55": Isa(dsp=True, mve=True, fpu=True),
    "xtensa-lx7": Isa(fpu=True),
    "riscv32": Isa(),
    "host": Isa(fpu=True),
}


def _power_of_two(value: int) -> int:
    if value.bit_count() != 1:
        raise PydanticCustomError("board", "must be a power of two, not {value}", {"value": value})
    return value


def _size(value: Any) -> int:
    try:
        return parse_size(value)
    except ValueError as error:
        raise PydanticCustomError("board", "{reason}", {"reason": str(error)}) from None


def _matching(pattern: str, what: str) -> AfterValidator:
    """Accepts text that the whole pattern matches; `what` completes "must be ..."."""

    def check(value: str) -> str:
        if not re.fullmatch(pattern, value):
            raise PydanticCustomError("board", "must be {what}", {"what": f"{what}, not {value!r}"})
        return value

    return AfterValidator(check)


Count = Annotated[StrictInt, Field(ge=1, le=1 << 40)]
Cycles = Annotated[StrictInt, Field(ge=0, le=1 << 40)]
Rate = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Bytes = Annotated[int, BeforeValidator(_size), Field(le=1 << 40)]
Size = Annotated[int, BeforeValidator(_size), Field(ge=1, le=1 << 40)]
Address = Annotated[StrictInt, Field(ge=0, lt=1 << 32)]
Alignment = Annotated[StrictInt, Field(ge=1, le=4096), AfterValidator(_power_of_two)]
Text = Annotated[str, _matching(r"[^\n]*\S[^\n]*", "one line of text")]
Name = Annotated[
    str, _matching(r"[a-z0-9][a-z0-9._-]{0,62}", "lower-case letters, digits, '.', '_' and '-'")
]
Identifier = Annotated[
    str, _matching(r"[a-z][a-z0-9_]{0,30}", "a lower-case letter, then letters, digits and '_'")
]
Section = Annotated[str, _matching(r"[A-Za-z0-9._$]{1,64}", "a linker section such as '.dtcm_bss'")]
Command = Annotated[str, _matching(r"[^\s-]\S*", "one program's name, without arguments")]
OperatorName = Annotated[
    str, _matching(r"[A-Z][A-Z0-9_]{0,62}", "an operator's TFLite name such as 'CONV_2D'")
]


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", serialize_by_alias=True)


class Memory(_Table):
    """One memory. Sizes in bytes; a profile may write them as "320KiB"."""

    name: Identifier
    kind: MemoryKind
    size: Size
    address: Address | None = None
    cycles_per_word: Rate
    """CPU cycles to read a 32-bit word of a sequential run, averaged over cache or buffer hits."""
    section: Section | None = None
    """Linker section for objects placed here; None where the compiler's default lands here."""
    cacheable: StrictBool = False
    """The CPU sees it through the data cache that [cache] describes."""
    alignment: Alignment = 16
    """Every buffer placed here starts at a multiple of this many bytes."""
    reserved: Bytes = 0
    """Bytes kept for the rest of the firmware."""

    @property
    def usable(self) -> int:
        """Bytes that a model may take."""
        return self.size - self.reserved

    @property
    def end(self) -> int:
        """First address after it; 0 without an address."""
        return 0 if self.address is None else self.address + self.size


class Cpu(_Table):
    """The core that runs the kernels. dsp, mve and fpu default to what the core has."""

    core: Core
    clock_hz: Count
    endianness: Literal["little"] = "little"
    dsp: StrictBool | None = None
    mve: StrictBool | None = None
    fpu: StrictBool | None = None

    @property
    def isa(self) -> Isa:
        """The features stated in the profile, and for the others those of the core."""
        core = _ISA[self.core]
        return Isa(
            dsp=core.dsp if self.dsp is None else self.dsp,
            mve=core.mve if self.mve is None else self.mve,
            fpu=core.fpu if self.fpu is None else self.fpu,
        )


class Compiler(_Table):
    """The C compiler and the flags that select core and ABI; optimisation is not among them."""

    command: Command
    flags: tuple[Text, ...] = ()


class Placement(_Table):
    """Memories by name, the preferred one first."""

    arena: Annotated[tuple[Identifier, ...], Field(min_length=1)]
    weights: Annotated[tuple[Identifier, ...], Field(min_length=1)]
    tables: Annotated[tuple[Identifier, ...], Field(min_length=1)]


class Emulator(_Table):
    """How `verify` runs the output without the board."""

    kind: Literal["qemu"]
    machine: Text
    port: Name
    """Directory in runtime_c/ports with start-up code and linker script."""
    command: Command


class DmaPath(_Table):
    """A direction in which the DMA moves bytes; each end is a memory's name or "scratchpad"."""

    source: Identifier = Field(alias="from")
    destination: Identifier = Field(alias="to")
    bytes_per_cycle: Rate


class Dma(_Table):
    """A DMA controller; lengths, strides and alignments in bytes."""

    channels: Count
    paths: Annotated[tuple[DmaPath, ...], Field(alias="path", min_length=1)]
    setup_cycles: Cycles
    """Cycles from the start of a transfer to its first byte."""
    bytes_per_cycle: Rate | None = None
    """What all channels share at most; None: each channel has its path's full rate."""
    ranks: Annotated[StrictInt, Field(ge=1, le=3)] = 1
    max_length: Size | None = None
    """Most bytes of one contiguous row of a transfer."""
    max_stride: Size | None = None
    alignment: Alignment = 1
    """Of addresses, lengths and strides."""
    queue: Annotated[StrictInt, Field(ge=2, le=256)] = 16
    """Transfers that may be started before the first of them is waited for."""
    port: Name = "cpu"
    """File in runtime_c/hal/ports that drives DMA and NPU; cpu: plain C for any board."""


class NpuOperator(_Table):
    """One operator that the NPU runs, by its TFLite name, and the limits it has there.

    Limits that are left out do not exist. Kernel, stride and dilation limits are [height, width].
    """

    name: OperatorName
    types: Annotated[tuple[ElementType, ...], Field(min_length=1)] = ("int8",)
    activations: tuple[Activation, ...] = ("NONE", "RELU", "RELU6", "RELU_N1_TO_1")
    max_kernel: tuple[Count, Count] | None = None
    max_stride: tuple[Count, Count] | None = None
    max_dilation: tuple[Count, Count] | None = None
    max_input_channels: Count | None = None
    max_output_channels: Count | None = None


class Npu(_Table):
    """An engine that computes on the scratchpad only; costs in cycles of [cpu] clock_hz."""

    operators: Annotated[tuple[NpuOperator, ...], Field(alias="operator", min_length=1)]
    start_cycles: Cycles
    """Cost of starting one command."""
    macs_per_cycle: Count
    """Dense: CONV_2D and FULLY_CONNECTED."""
    depthwise_macs_per_cycle: Rate
    """Depthwise convolution and pooling."""
    depthwise_tap_multiple: Count = 1
    """Kernel taps per channel are rounded up to this in depthwise and pooling."""
    elements_per_cycle: Rate
    """Element-wise operators and SOFTMAX."""
    input_channel_multiple: Count = 1
    """Input channels are rounded up to this in the cost of dense operators."""
    output_channel_multiple: Count = 1
    channel_alignment: Alignment = 1
    """Channel slices start and end at multiples of this, or at the tensor's last channel."""
    address_alignment: Alignment = 1
    """Bytes, of every operand in the scratchpad."""
    partial_sums: StrictBool = False
    """It accumulates int32 partial sums over slices of the input channels."""


class Scratchpad(_Table):
    """The memory an NPU computes from (or that kernels use as fast memory filled by DMA)."""

    size: Size
    banks: Annotated[Count, Field(le=64)] = 1
    """Equal parts, one after the other, each with a port of its own: see codegen/npu/banks.py."""
    address: Address | None = None
    section: Section | None = None
    alignment: Alignment = 16


class Cache(_Table):
    """The data cache between the CPU and memories with cacheable = true; sizes in bytes."""

    line: Alignment
    size: Size | None = None
    write_back: StrictBool = True


class Board(_Table):
    """A whole profile. Built by `codegen.boards.load_board`; every cross check has passed."""

    name: Name
    description: Text
    sources: Annotated[tuple[Text, ...], Field(min_length=1)]
    """Documents, with section or table, that the memory figures are from."""
    memories: Annotated[tuple[Memory, ...], Field(alias="memory", min_length=1)]
    cpu: Cpu
    compiler: Compiler
    placement: Placement
    emulator: Emulator | None = None
    dma: Dma | None = None
    npu: Npu | None = None
    scratchpad: Scratchpad | None = None
    cache: Cache | None = None

    def memory(self, name: str) -> Memory:
        """The memory called `name`; KeyError if there is none."""
        for memory in self.memories:
            if memory.name == name:
                return memory
        raise KeyError(name)

    @model_validator(mode="after")
    def _cross_check(self) -> Self:
        conflicts = tuple(_conflicts(self))
        if conflicts:
            raise PydanticCustomError("conflicts", "contradictions", {"conflicts": conflicts})
        return self


Conflict = tuple[str, str]
"""A field, and what is wrong with it and what to do."""


def _conflicts(board: Board) -> Iterator[Conflict]:
    """Every contradiction between tables that are each valid alone."""
    yield from _memory_conflicts(board)
    yield from _overlap_conflicts(board)
    yield from _placement_conflicts(board)
    yield from _compiler_conflicts(board)
    yield from _engine_conflicts(board)


def _memory_conflicts(board: Board) -> Iterator[Conflict]:
    seen: set[str] = set()
    for index, memory in enumerate(board.memories):
        field = f"memory[{index}]"
        if memory.name in seen:
            yield f"{field}.name", f"{memory.name!r} names two memories; rename one"
        seen.add(memory.name)
        if memory.name == SCRATCHPAD:
            yield f"{field}.name", "'scratchpad' is kept for the [scratchpad] table; rename it"
        if memory.reserved >= memory.size:
            yield (
                f"{field}.reserved",
                f"{memory.reserved} bytes leave nothing of the {memory.size} of {memory.name!r}; "
                "reserve less or remove the memory",
            )
        if memory.end > 1 << 32:
            yield f"{field}.size", "reaches beyond 32-bit addresses; lower size or address"
        if memory.cacheable and board.cache and memory.kind == "ram":
            yield from _line_conflicts(field, memory, board.cache)
        if memory.cacheable and board.cache is None:
            yield (
                f"{field}.cacheable",
                "is true but there is no [cache] table; add one with the line size",
            )


def _line_conflicts(field: str, memory: Memory, cache: Cache) -> Iterator[Conflict]:
    """Cache maintenance works on whole lines: two buffers in one would spoil each other."""
    if memory.alignment < cache.line:
        yield (
            f"{field}.alignment",
            f"{memory.alignment} lets buffers of {memory.name!r} share a cache line of "
            f"{cache.line} bytes; align to the line",
        )


def _overlap_conflicts(board: Board) -> Iterator[Conflict]:
    placed = [(i, m) for i, m in enumerate(board.memories) if m.address is not None]
    placed.sort(key=lambda item: (item[1].address or 0, item[0]))
    for (_, low), (index, high) in pairwise(placed):
        if (high.address or 0) < low.end:
            yield (
                f"memory[{index}].address",
                f"{high.name!r} overlaps {low.name!r}, which ends at {low.end:#x}; "
                "correct an address or a size",
            )


def _placement_conflicts(board: Board) -> Iterator[Conflict]:
    kinds = {memory.name: memory.kind for memory in board.memories}
    for field in ("arena", "weights", "tables"):
        names: tuple[str, ...] = getattr(board.placement, field)
        for name in names:
            if name not in kinds:
                known = ", ".join(kinds)
                yield f"placement.{field}", f"no memory is called {name!r}; the board has {known}"
            elif field == "arena" and kinds[name] != "ram":
                yield f"placement.{field}", f"{name!r} is not RAM; name memories of kind 'ram'"
        if len(set(names)) != len(names):
            yield f"placement.{field}", "names a memory twice; name each once"
        if field != "arena" and not any(kinds.get(name, "flash") == "flash" for name in names):
            yield f"placement.{field}", "names no flash; add a memory of kind 'flash'"


def _compiler_conflicts(board: Board) -> Iterator[Conflict]:
    for flag in board.compiler.flags:
        match = re.fullmatch(r"-mcpu=(cortex-m\w+)(\+\S+)?", flag)
        if match and match[1] != board.cpu.core:
            yield (
                "compiler.flags",
                f"{flag} contradicts cpu.core {board.cpu.core!r}; make them the same core",
            )


def _engine_conflicts(board: Board) -> Iterator[Conflict]:
    if board.npu and board.scratchpad is None:
        yield "npu", "computes from a scratchpad but there is none; add a [scratchpad] table"
    if board.scratchpad and board.dma is None:
        yield "scratchpad", "nothing fills it; add a [dma] table with paths to and from it"
    if board.scratchpad and board.scratchpad.size % board.scratchpad.banks:
        yield "scratchpad.banks", "do not divide the size evenly; correct banks or size"
    if board.npu:
        names = [operator.name for operator in board.npu.operators]
        for name in sorted({name for name in names if names.count(name) > 1}):
            yield "npu.operator", f"{name} stands there twice; keep one"
    if board.dma:
        yield from _path_conflicts(board, board.dma)


def _path_conflicts(board: Board, dma: Dma) -> Iterator[Conflict]:
    ends = [memory.name for memory in board.memories]
    if board.scratchpad:
        ends.append(SCRATCHPAD)
    for index, path in enumerate(dma.paths):
        for field, end in (("from", path.source), ("to", path.destination)):
            if end not in ends:
                yield (
                    f"dma.path[{index}].{field}",
                    f"nothing is called {end!r}; the board has {', '.join(ends)}",
                )
        if any(
            (p.source, p.destination) == (path.source, path.destination) for p in dma.paths[:index]
        ):
            yield f"dma.path[{index}]", "stands there twice; keep one"
