"""Models that the importer's tests share."""

from __future__ import annotations

import json
from typing import Any

import flatbuffers
import numpy as np
import tflite

from tests import paths
from tests.tflite_builder import ModelBuilder


def conv_model(**changes: Any) -> bytes:
    """One convolution with an open batch, per-channel weights and a signature."""
    builder = ModelBuilder("a convolution", name="main")
    x = builder.tensor((1, 4, 4, 3), "int8", 0.5, -3, name="image", signature=(-1, 4, 4, 3))
    w = builder.tensor((2, 1, 1, 3), "int8", [0.25, 0.125], data=np.arange(6), name="weights")
    b = builder.tensor((2,), "int32", [0.125, 0.0625], data=[7, -7], name="bias")
    y = builder.tensor((1, 2, 2, 2), "int8", 0.75, 4, name="result", signature=(-1, 2, 2, 2))
    options: dict[str, Any] = {"padding": "VALID", "stride_h": 2, "stride_w": 2}
    builder.op("CONV_2D", [x, w, b], [y], 3, **options | changes)
    builder.signature(["camera"], ["scores"])
    return builder.build([x], [y])


def chain(count: int, order: list[int] | None = None) -> bytes:
    """NEG after NEG; `order` is the sequence in which the file lists them."""
    builder = ModelBuilder()
    t = [builder.tensor((1, 3), "float32") for _ in range(count + 1)]
    for i in order or range(count):
        builder.op("NEG", [t[i]], [t[i + 1]])
    return builder.build([t[0]], [t[count]])


def raw_model(
    *,
    version: int = 3,
    codes: list[tuple[int, int, str]] | None = None,
    external: tuple[int, int] | None = None,
    custom_options: tuple[int, int] = (0, 0),
) -> bytes:
    """A model that the test builder is too well-behaved to write: NEG of a tensor.

    Args:
        version: of the schema.
        codes: deprecated_builtin_code, builtin_code and custom_code of each operator code.
        external: offset and size of tensor 0's data behind the flatbuffer.
        custom_options: offset and size of the operator's options behind the flatbuffer.
    """
    fb = flatbuffers.Builder(256)

    def table(name: str, **fields: Any) -> Any:
        getattr(tflite, f"{name}Start")(fb)
        for field, value in fields.items():
            getattr(tflite, f"{name}Add{field}")(fb, value)
        return getattr(tflite, f"{name}End")(fb)

    def vector(offsets: list[int]) -> Any:
        fb.StartVector(4, len(offsets), 4)
        for offset in reversed(offsets):
            fb.PrependUOffsetTRelative(offset)
        return fb.EndVector()

    def ints(*values: int) -> Any:
        return fb.CreateNumpyVector(np.array(values, np.int32))

    entries = []
    for narrow, wide, name in codes or [(59, 59, "")]:
        custom = {"CustomCode": fb.CreateString(name)} if name else {}
        entries.append(
            table("OperatorCode", DeprecatedBuiltinCode=narrow, BuiltinCode=wide, **custom)
        )
    shape = ints(2)
    tensors = [table("Tensor", Shape=shape, Type=9, Buffer=b) for b in (1, 0)]
    inputs, outputs = ints(0), ints(1)
    node = table(
        "Operator",
        OpcodeIndex=0,
        Inputs=inputs,
        Outputs=outputs,
        LargeCustomOptionsOffset=custom_options[0],
        LargeCustomOptionsSize=custom_options[1],
    )
    tensors_at, operators_at = vector(tensors), vector([node])
    given = inputs if external is None else ints()
    graph = table(
        "SubGraph", Tensors=tensors_at, Inputs=given, Outputs=outputs, Operators=operators_at
    )
    place = {} if external is None else {"Offset": external[0], "Size": external[1]}
    buffers = vector([table("Buffer"), table("Buffer", **place)])
    codes_at, graphs_at = vector(entries), vector([graph])
    model = table(
        "Model", Version=version, OperatorCodes=codes_at, Subgraphs=graphs_at, Buffers=buffers
    )
    fb.Finish(model, file_identifier=b"TFL3")
    return bytes(fb.Output())


def manifest() -> list[dict[str, Any]]:
    """What others have counted in the shared models; empty without them."""
    if paths.MODELS is None:
        return []
    entries: list[dict[str, Any]] = json.loads((paths.MODELS / "manifest.json").read_text())
    return entries
