"""Mends a harmless flaw for which LiteRT refuses models that run everywhere else.

Some converters leave the quantised axis of the weights (3) on biases of rank 1, where only axis 0
can be meant. The interpreter rejects such files; with the axis set to 0 it computes what the file
means.
"""

from __future__ import annotations

from typing import Any

import tflite
from flatbuffers.number_types import Int32Flags

_AXIS_SLOT = 4 + 2 * 6
"""Vtable offset of QuantizationParameters.quantized_dimension, its seventh field."""


def repaired(data: bytes) -> bytes:
    """The same file with every quantised axis inside its tensor's rank."""
    patched = bytearray(data)
    model = tflite.Model.GetRootAsModel(data, 0)
    for s in range(model.SubgraphsLength()):
        graph = model.Subgraphs(s)
        for t in range(graph.TensorsLength()):
            _repair_tensor(graph.Tensors(t), patched)
    return bytes(patched)


def _repair_tensor(tensor: Any, patched: bytearray) -> None:
    quantization = tensor.Quantization()
    if quantization is None or quantization.QuantizedDimension() < max(1, tensor.ShapeLength()):
        return
    table = quantization._tab
    slot = table.Offset(_AXIS_SLOT)
    if slot:
        place = table.Pos + slot
        patched[place : place + Int32Flags.bytewidth] = bytes(Int32Flags.bytewidth)
