"""Operators: kinds, versions, operands and the order in which they can run."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import tflite
from flatbuffers.number_types import Int32Flags

from codegen.errors import InvalidModel
from codegen.graph import Node, Tensor
from codegen.importer.flat import numbers, text
from codegen.importer.options import read_options
from codegen.importer.tensors import outside_view

# Operators that the schema has and the `tflite` package does not know yet.
_NEWER_OPERATORS = {209: "STABLEHLO_CASE"}

_NAMES: dict[int, str] = {
    value: name for name, value in vars(tflite.BuiltinOperator).items() if isinstance(value, int)
} | _NEWER_OPERATORS

_ESCAPE = tflite.BuiltinOperator.PLACEHOLDER_FOR_GREATER_OP_CODES  # 127: see the wide field
_BUILTIN_CODE_SLOT = 10  # the fourth field of the schema's OperatorCode: 4 + 2 * 3


@dataclass(frozen=True)
class OperatorCode:
    """What kind of operator an entry of the model's operator_codes stands for."""

    op: str
    version: int
    custom_name: str


def read_code(table: Any) -> OperatorCode:
    """One entry of operator_codes.

    Raises:
        InvalidModel: for unknown codes, two fields that disagree, a version below 1, or a custom
            operator without a name.
    """
    where = table._tab.where
    narrow, wide = table.DeprecatedBuiltinCode(), _wide_code(table)
    # Files from before the wide field leave it 0; later ones repeat the code, or put 127 into
    # the narrow one when it does not fit.
    if narrow != wide and wide != 0 and narrow != 0 and not (narrow == _ESCAPE < wide):
        raise InvalidModel(f"{where} names two operators, {narrow} and {wide}")
    code = max(narrow, wide)
    if narrow < 0 or code not in _NAMES or code == _ESCAPE:
        raise InvalidModel(f"{where} is the unknown operator {code if narrow >= 0 else narrow}")
    op, custom_name = _NAMES[code], text(table.CustomCode())
    if table.Version() < 1:
        raise InvalidModel(f"{where} {op} has version {table.Version()}; versions start at 1")
    if custom_name and code == 0:  # compilers for NPUs leave the code at its default
        op = "CUSTOM"
    if op == "CUSTOM" and not custom_name:
        raise InvalidModel(f"{where} is a custom operator without a name")
    return OperatorCode(op, table.Version(), custom_name if op == "CUSTOM" else "")


def _wide_code(table: Any) -> int:
    """The field builtin_code itself: its accessor gives the other field when it is below 127."""
    return int(table._tab.GetSlot(_BUILTIN_CODE_SLOT, 0, Int32Flags))


def read_node(
    index: int, table: Any, codes: Sequence[OperatorCode], tensors: int, data: bytes
) -> Node:
    """One operator of a subgraph with `tensors` tensors.

    Raises:
        InvalidModel: for indices outside of the tables, or malformed options.
    """
    code_index = table.OpcodeIndex()
    if code_index >= len(codes):
        raise InvalidModel(f"{table._tab.where} names operator code {code_index} of {len(codes)}")
    code = codes[code_index]
    table._tab.where = where = f"{table._tab.where} {code.op}"
    inputs, outputs = numbers(table, "Inputs"), numbers(table, "Outputs")
    check_indices(inputs, tensors, f"{where} reads", lowest=-1)
    check_indices(outputs, tensors, f"{where} writes")
    intermediates = numbers(table, "Intermediates")
    check_indices(intermediates, tensors, f"{where} uses", lowest=-1)
    options = dict(read_options(table, code.op))
    custom = _custom_options(table, data)
    if code.op == "CUSTOM" or custom:
        options["custom_options"] = custom
    return Node(
        index=index,
        op=code.op,
        version=code.version,
        inputs=inputs,
        outputs=outputs,
        options=MappingProxyType(options),
        custom_name=code.custom_name,
        intermediates=intermediates,
    )


def check_indices(indices: Sequence[int], count: int, what: str, lowest: int = 0) -> None:
    """Raise InvalidModel unless all tensor indices are below `count` and at least `lowest`."""
    for index in indices:
        if not lowest <= index < count:
            raise InvalidModel(f"{what} tensor {index}, but there are {count} tensors")


def subgraph_references(node: Node) -> Iterator[tuple[str, int]]:
    """Option name and index of every subgraph that an operator calls."""
    for name, value in node.options.items():
        if name == "called_computations" and isinstance(value, tuple):
            yield from ((name, int(v)) for v in value)
        elif isinstance(value, int) and (name.endswith("subgraph_index") or name == "subgraph"):
            yield name, value


def executable_order(
    nodes: Sequence[Node], tensors: Sequence[Tensor], inputs: Collection[int], place: str
) -> tuple[Node, ...]:
    """The operators in the file's order if that can run, else the nearest order that can.

    Raises:
        InvalidModel: if a tensor is written twice, is read but never written, or if operators
            wait for each other in a circle. `place` is put before the operator's name.
    """
    given = frozenset(inputs)
    producers = _producers(nodes, tensors, given, place)
    waiting = {
        position: _needed(node, tensors, given, producers, place)
        for position, node in enumerate(nodes)
    }
    readers: dict[int, list[int]] = {}
    for position, needed in waiting.items():
        for producer in needed:
            readers.setdefault(producer, []).append(position)
    ready = [position for position, needed in waiting.items() if not needed]
    order: list[Node] = []
    while ready:
        position = heapq.heappop(ready)
        order.append(nodes[position])
        for reader in readers.get(position, ()):
            waiting[reader].discard(position)
            if not waiting[reader]:
                heapq.heappush(ready, reader)
    if len(order) < len(nodes):
        stuck = next(nodes[position] for position, needed in waiting.items() if needed)
        raise InvalidModel(f"{place}{stuck.label} waits for its own result (a cycle of operators)")
    return tuple(order)


def _producers(
    nodes: Sequence[Node], tensors: Sequence[Tensor], given: Collection[int], place: str
) -> dict[int, int]:
    """Tensor index -> position of the operator that writes it."""
    producers: dict[int, int] = {}
    for position, node in enumerate(nodes):
        for index in node.outputs:
            tensor = tensors[index]
            if tensor.is_constant:
                raise InvalidModel(f"{place}{node.label} writes the constant {tensor.label}")
            if index in given:
                raise InvalidModel(f"{place}{node.label} writes the model's input {tensor.label}")
            if index in producers:
                raise InvalidModel(
                    f"{place}{node.label} writes {tensor.label}, "
                    f"which {nodes[producers[index]].label} has written already"
                )
            producers[index] = position
    return producers


def _needed(
    node: Node,
    tensors: Sequence[Tensor],
    given: Collection[int],
    producers: dict[int, int],
    place: str,
) -> set[int]:
    """Positions of the operators that have to run before `node`.

    Custom operators may read what nothing writes: compilers for NPUs list scratch memory there.
    """
    needed: set[int] = set()
    for index in node.inputs:
        if index < 0:
            continue
        if index in producers:
            needed.add(producers[index])
        elif node.op != "CUSTOM" and not has_value(tensors[index], given):
            raise InvalidModel(
                f"{place}{node.label} reads {tensors[index].label}, which nothing produces"
            )
    return needed


def has_value(tensor: Tensor, given: Collection[int]) -> bool:
    """Whether a tensor holds something before any operator has run; `given` are the inputs."""
    if tensor.is_constant or tensor.is_variable or tensor.index in given:
        return True
    return tensor.elements == 0 and tensor.dtype.bits > 0


def _custom_options(table: Any, data: bytes) -> bytes:
    if not table.CustomOptionsIsNone():
        return bytes(table.CustomOptionsAsNumpy())
    view = outside_view(
        data, table.LargeCustomOptionsOffset(), table.LargeCustomOptionsSize(), table._tab.where
    )
    return bytes(view)
