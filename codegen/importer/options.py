"""Operator options: every field of the schema's options tables, by name.

The tables are read by looking at the accessor classes of the `tflite` package, so that all
operators of the schema are covered without a list of their fields.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import tflite

from codegen.errors import InvalidModel
from codegen.graph import Attribute
from codegen.importer.flat import checked, numbers, text

# Operators whose options table is not called like the operator itself.
_SHARED_TABLES = {
    "AVERAGE_POOL_2D": "Pool2DOptions",
    "MAX_POOL_2D": "Pool2DOptions",
    "L2_POOL_2D": "Pool2DOptions",
    "CONV_3D_TRANSPOSE": "Conv3DOptions",
    "L2_NORMALIZATION": "L2NormOptions",
    "MAXIMUM": "MaximumMinimumOptions",
    "MINIMUM": "MaximumMinimumOptions",
    "MEAN": "ReducerOptions",
    "SUM": "ReducerOptions",
    "REDUCE_ALL": "ReducerOptions",
    "REDUCE_ANY": "ReducerOptions",
    "REDUCE_MAX": "ReducerOptions",
    "REDUCE_MIN": "ReducerOptions",
    "REDUCE_PROD": "ReducerOptions",
    "RANDOM_UNIFORM": "RandomOptions",
    "RANDOM_STANDARD_NORMAL": "RandomOptions",
    "MULTINOMIAL": "RandomOptions",
    "UNIDIRECTIONAL_SEQUENCE_RNN": "SequenceRNNOptions",
}

# A table of the second union that is newer than the `tflite` package; its fields are not read.
_NEWER_TABLES = {23: "StablehloCaseOptions"}


def _enum_names(enum: type) -> dict[int, str]:
    return {value: name for name, value in vars(enum).items() if isinstance(value, int)}


# The fields that the graph holds as the schema's names; other enumerations stay numbers.
_ENUMS: Mapping[str, Mapping[int, str]] = {
    "padding": _enum_names(tflite.Padding),
    "fused_activation_function": _enum_names(tflite.ActivationFunctionType),
    "mode": _enum_names(tflite.MirrorPadMode),
}

# A table without fields (its vtable first), which reads as the schema's defaults.
_EMPTY_TABLE = bytes([4, 0, 4, 0, 4, 0, 0, 0])
_EMPTY_TABLE_POSITION = 4


@dataclass(frozen=True)
class _Field:
    accessor: str
    name: str
    is_vector: bool


def options_table(op: str) -> str | None:
    """The options table that belongs to an operator, by the schema's name; None: it has none."""
    if op in _SHARED_TABLES:
        return _SHARED_TABLES[op]
    return _tables_by_lower_name().get(op.replace("_", "").lower() + "options")


def read_options(operator: Any, op: str) -> Mapping[str, Attribute]:
    """All options of an operator: field name in snake_case -> value.

    Fields that the file leaves out have the schema's defaults; so have all of them when it has
    no table, or another operator's (which the TensorFlow Lite runtime does not look at either).

    Raises:
        InvalidModel: for unknown tables and enumeration values, and for floats like NaN.
    """
    expected = options_table(op)
    name, union = _present_table(operator)
    table = expected or name
    if table is None or table in _NEWER_TABLES.values():
        return {}
    if union is None or name != table:
        return _defaults(table)
    accessor = getattr(tflite, table)()
    accessor._tab = union
    return _read_fields(checked(accessor, operator._tab.where), table)


def _present_table(operator: Any) -> tuple[str | None, Any]:
    """Name and table of the options that the file gives an operator; a union may be empty."""
    for kind, names, union in (
        (operator.BuiltinOptionsType(), _table_names(), operator.BuiltinOptions),
        (operator.BuiltinOptions2Type(), _table_names_2(), operator.BuiltinOptions2),
    ):
        if kind != 0:
            if kind not in names:
                raise InvalidModel(f"{operator._tab.where} has options of unknown type {kind}")
            return names[kind], union()
    return None, None


def _read_fields(accessor: Any, table: str) -> dict[str, Attribute]:
    return {
        field.name: _read_field(accessor, field, accessor._tab.where) for field in _fields(table)
    }


def _read_field(accessor: Any, field: _Field, where: str) -> Attribute:
    if field.is_vector:
        if getattr(accessor, f"{field.accessor}IsNone")():
            return ()
        array = getattr(accessor, f"{field.accessor}AsNumpy")()
        return array.tobytes() if array.dtype == "uint8" else numbers(accessor, field.accessor)
    value: Any = getattr(accessor, field.accessor)()
    if value is None or isinstance(value, bytes):
        return text(value)
    if field.name in _ENUMS:
        names = _ENUMS[field.name]
        if value not in names:
            raise InvalidModel(f"{where} has an unknown {field.name}: {value}")
        return names[value]
    if not math.isfinite(value):
        raise InvalidModel(f"{where} has a {field.name} that is not a finite number: {value}")
    result: bool | int | float = value
    return result


@cache
def _defaults(table: str) -> Mapping[str, Attribute]:
    accessor = getattr(tflite, table)()
    accessor.Init(_EMPTY_TABLE, _EMPTY_TABLE_POSITION)
    return _read_fields(checked(accessor, table), table)


@cache
def _fields(table: str) -> tuple[_Field, ...]:
    """The fields of a table, from the public methods of its accessor class."""
    methods = [name for name in vars(getattr(tflite, table)) if name[0].isupper()]
    helpers = re.compile(r"Init|GetRootAs.*|.*BufferHasIdentifier|.*(Length|AsNumpy|IsNone)")
    return tuple(
        _Field(name, re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower(), f"{name}Length" in methods)
        for name in methods
        if not helpers.fullmatch(name)
    )


@cache
def _table_names() -> Mapping[int, str]:
    return _enum_names(tflite.BuiltinOptions)


@cache
def _table_names_2() -> Mapping[int, str]:
    return _enum_names(tflite.BuiltinOptions2) | _NEWER_TABLES


@cache
def _tables_by_lower_name() -> Mapping[str, str]:
    names = {*_table_names().values(), *_table_names_2().values()} - {"NONE"}
    return {name.lower(): name for name in names}
