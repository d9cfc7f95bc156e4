"""The harness's binary protocol; `runtime_c/ports/common/harness.h` describes it."""

import struct
from collections.abc import Callable
from dataclasses import dataclass, field

from codegen.errors import ToolError
from codegen.verify.sources import GeneratedSources, Request, RunResult

ReadExactly = Callable[[int], bytes]
"""Returns that many bytes or raises ToolError."""

_REQUEST = struct.Struct("<3I")
_RECORD = struct.Struct("<6I")
_RESET, _LAYERS = 1, 2
_WARM_UP_BIT = 8


@dataclass(frozen=True)
class Calibration:
    """Instructions that the clock counted for a loop of known length; both 0 without a clock."""

    expected: int
    counted: int


@dataclass
class _Rows:
    """The rows of one tensor as they arrive, by image and row."""

    rows: dict[tuple[int, int], bytes] = field(default_factory=dict)

    def add(self, image: int, y0: int, y1: int, data: bytes) -> None:
        size = len(data) // (y1 - y0)
        for index, y in enumerate(range(y0, y1)):
            self.rows[image, y] = data[index * size : (index + 1) * size]

    def join(self, tensor: int) -> bytes:
        """All rows in order; ToolError if one is missing."""
        images = 1 + max(image for image, _ in self.rows)
        height = 1 + max(y for _, y in self.rows)
        for key in ((image, y) for image in range(images) for y in range(height)):
            if key not in self.rows:
                raise ToolError(
                    f"tensor {tensor}: row {key[1]} of image {key[0]} was never computed; "
                    "the plan leaves rows out"
                )
        return b"".join(self.rows[key] for key in sorted(self.rows))


def encode_request(request: Request, model: GeneratedSources) -> bytes:
    """The bytes of a request. Raises ValueError if the inputs do not have the model's sizes."""
    sizes = tuple(len(data) for data in request.inputs)
    if sizes != model.input_bytes:
        raise ValueError(f"{model.name}: inputs of {sizes} bytes, expected {model.input_bytes}")
    flags = _RESET * request.reset | _LAYERS * request.layers
    flags |= request.warm_ups << _WARM_UP_BIT
    return _REQUEST.pack(request.model, flags, sum(sizes)) + b"".join(request.inputs)


def read_calibration(read: ReadExactly) -> Calibration:
    """The record that every program sends first."""
    tag, expected, counted, *_ = _RECORD.unpack(read(_RECORD.size))
    if tag != ord("C"):
        raise ToolError("the test program sent something that is not its protocol; rebuild it")
    return Calibration(expected, counted)


def read_result(read: ReadExactly, model: GeneratedSources, *, emulated: bool) -> RunResult:
    """The answer to one request. Raises ToolError if it is malformed or a tensor incomplete."""
    outputs: list[bytes] = []
    tensors: dict[int, _Rows] = {}
    tiles: dict[int, bytes] = {}
    layers: list[int] = []
    while True:
        tag, a, b, c, d, length = _RECORD.unpack(read(_RECORD.size))
        data = read(length)
        match chr(tag):
            case "T":
                tensors.setdefault(a, _Rows()).add(b, c, d, data)
            case "N":
                tiles[a] = data
            case "L":
                layers.append(c | d << 32)
            case "O":
                outputs.append(data)
            case "E":
                break
            case _:
                raise ToolError(f"{model.name}: unreadable answer of the test program; rebuild it")
    status = a - (1 << 32) if a >> 31 else a
    sizes = tuple(len(data) for data in outputs)
    if status == 0 and sizes != model.output_bytes:
        raise ToolError(f"{model.name}: outputs of {sizes} bytes, expected {model.output_bytes}")
    return RunResult(
        status,
        tuple(outputs),
        {tensor: rows.join(tensor) for tensor, rows in sorted(tensors.items())},
        stack_bytes=b if emulated else None,
        ticks=c | d << 32,
        layer_ticks=tuple(layers),
        tiles=tiles,
    )
