"""Mends harmless flaws for which LiteRT refuses models that run everywhere else.

Some converters leave the quantised axis of the weights (3) on biases of rank 1, where only axis 0
can be meant. The interpreter rejects such files; with the axis set to 0 it computes what the file
means. Its reference kernels of some operators compute more than the version they are listed with
says; a later one is lowered to that.
"""

from __future__ import annotations

from typing import Any

import tflite
from flatbuffers.number_types import Int32Flags

_AXIS_SLOT = 4 + 2 * 6
"""Vtable offset of QuantizationParameters.quantized_dimension, its seventh field."""
_VERSION_SLOT = 4 + 2 * 2
"""Vtable offset of OperatorCode.version, its third field."""
_LISTED_VERSIONS = {tflite.BuiltinOperator.TILE: 2}


def repaired(data: bytes) -> bytes:
    """The same file with every quantised axis inside its tensor's rank, and listed versions."""
    patched = bytearray(data)
    model = tflite.Model.GetRootAsModel(data, 0)
    for i in range(model.OperatorCodesLength()):
        _lower_version(model.OperatorCodes(i), patched)
    for s in range(model.SubgraphsLength()):
        graph = model.Subgraphs(s)
        for t in range(graph.TensorsLength()):
            _repair_tensor(graph.Tensors(t), patched)
    return bytes(patched)


def _lower_version(code: Any, patched: bytearray) -> None:
    listed = _LISTED_VERSIONS.get(code.BuiltinCode())
    if listed is not None and code.Version() > listed:
        place = code._tab.Pos + code._tab.Offset(_VERSION_SLOT)
        patched[place : place + Int32Flags.bytewidth] = listed.to_bytes(
            Int32Flags.bytewidth, "little"
        )


def _repair_tensor(tensor: Any, patched: bytearray) -> None:
    quantization = tensor.Quantization()
    if quantization is None or quantization.QuantizedDimension() < max(1, tensor.ShapeLength()):
        return
    table = quantization._tab
    slot = table.Offset(_AXIS_SLOT)
    if slot:
        place = table.Pos + slot
        patched[place : place + Int32Flags.bytewidth] = bytes(Int32Flags.bytewidth)
